"""`/v1/jobs/{job}/events`: the job's events as server-sent events, from any of them on."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
