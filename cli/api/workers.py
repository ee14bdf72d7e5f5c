"""`/v1/workers`: the machines that speak, their slots and the queue over time."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
