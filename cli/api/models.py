"""`/v1/models`: what can be spoken here."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
