"""`/v1/session`: a browser's token in a cookie that scripts cannot read."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
