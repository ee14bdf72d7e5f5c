"""`/v1/jobs`: submit, list, look at, cancel, pause, resume and retry jobs."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
