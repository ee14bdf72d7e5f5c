"""`/v1/jobs/{job}/files/…`: finished audio, with range requests."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
