"""`/healthz` and `/metrics`: whether this works, and how much."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
