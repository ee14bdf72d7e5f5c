"""`/v1/plans`: what would become of a source, before anything is queued."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
