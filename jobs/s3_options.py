"""How S3 servers are reached: what a deployment sets, without any credential."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class S3Options:
    """The settings `TTS_BATCH_S3_*`. Credentials come only from boto3's own chain (environment, files, roles)."""

    endpoint: str | None = None
    public_endpoint: str | None = None
    region: str | None = None
    addressing: str = "auto"
    encryption: str = "default"
    kms_key: str | None = None
