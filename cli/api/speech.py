"""`/v1/audio/speech`: text in, audio out at once, through the same queue in class live."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
