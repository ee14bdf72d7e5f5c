"""`/v1/audio/voices`: the voices of the models, and reference clips of people who agreed."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
