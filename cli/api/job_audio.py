"""`/v1/jobs/{job}/audio`: a job's audio in reading order while it is being made."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
