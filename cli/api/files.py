"""`/v1/files`: uploaded files of batches, and what came of them."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
