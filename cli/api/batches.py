"""`/v1/batches`: speech requests by the thousand, as OpenAI's clients send them."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
