"""The page: static files of `cli/page/`, served as they are."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
