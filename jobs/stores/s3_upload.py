"""Writing objects to S3: small ones in one call, large ones in parts, and only where nobody else wrote meanwhile.

A part upload that fails is aborted, so that no parts stay behind; what a killed process leaves is swept by age.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.errors import ObjectChanged, ObjectMissing, StoreError
from jobs.stores.s3_calls import ConditionFailed, S3Calls, code_of

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

log = logging.getLogger(__name__)

PART_BYTES = 16 * 1024 * 1024
"""Larger files go in parts of this size. S3 takes parts from 5 MiB up."""
MAX_PARTS = 10_000
PARTS_AT_ONCE = 4
ABORT_PATIENCE_S = 5.0
"""An upload that cannot be aborted now is swept later."""
NONCE = "tts-nonce"
"""Metadata by which a writer knows its own object again when the answer to its write was lost."""
DIGEST = "tts-md5"
"""Metadata with the MD5, in hex, of objects that were written in one call: some servers mix two writes up when they are
read meanwhile. An ETag would not do: it is no MD5 everywhere."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was at a key when a writer began: the object's ETag, or None for no object."""

    etag: str | None

    def condition(self) -> dict[str, Any]:
        """The parameters that say: only if it is still so."""
        return {"IfNoneMatch": "*"} if self.etag is None else {"IfMatch": self.etag}


class Uploads:
    """Writes to one bucket. `extra` are parameters of every object (encryption)."""

    def __init__(self, calls: S3Calls, *, extra: dict[str, Any], conditional: Callable[[], bool]) -> None:
        """`conditional` tells whether the server heeds conditions; it is asked when one is needed."""
        self._calls = calls
        self._extra = extra
        self._conditional = conditional
        self.part_bytes = PART_BYTES

    def seen(self, key: str) -> Seen:
        """What is at a key now."""
        return Seen(self._head(key)[0])

    def put(self, key: str, data: bytes) -> None:
        """Write a small object, whatever is there."""
        calls = self._calls
        about: dict[str, Any] = {"Bucket": calls.bucket, "Key": key, "ContentMD5": _md5(data), **self._extra}
        about["Metadata"] = {DIGEST: hex_md5(data)}
        calls.do("write", key, lambda: calls.client.put_object(Body=data, **about))

    def file(self, key: str, path: Path, seen: Seen) -> None:
        """Write a file as an object, unless somebody else wrote or deleted it since it was `seen`.

        Raises:
            ObjectChanged: somebody did; theirs stays.
            StoreError: it cannot be written; nothing of it stays.
        """
        condition = self._condition(key, seen)
        nonce = uuid.uuid4().hex
        about: dict[str, Any] = {"Bucket": self._calls.bucket, "Key": key, "Metadata": {NONCE: nonce}, **self._extra}
        size_bytes = path.stat().st_size
        if size_bytes > self.part_bytes:
            self._in_parts(_Upload(key, path, size_bytes, nonce), about, condition)
            return
        data = path.read_bytes()
        about["ContentMD5"] = _md5(data)
        about["Metadata"][DIGEST] = hex_md5(data)
        client = self._calls.client
        self._last_word(key, nonce, lambda: client.put_object(Body=data, **about, **condition))

    def sweep(self, prefix: str, is_old: Callable[[Any], bool]) -> int:
        """Abort the uploads below a prefix that are old by the time they began; returns how many."""
        swept = 0
        for upload in self.unfinished(prefix):
            if is_old(upload["Initiated"]):
                self._abort(upload["Key"], upload["UploadId"])
                swept += 1
        return swept

    def unfinished(self, prefix: str) -> Iterator[Any]:
        """Uploads below a prefix that nobody ended: Key, UploadId, Initiated."""
        calls, markers = self._calls, dict[str, str]()
        while True:
            about: dict[str, Any] = {"Bucket": calls.bucket, "Prefix": prefix, **markers}
            page = calls.do("list uploads of", prefix, partial(calls.client.list_multipart_uploads, **about))
            yield from page.get("Uploads", [])
            if not page.get("IsTruncated"):
                return
            markers = {"KeyMarker": page["NextKeyMarker"], "UploadIdMarker": page.get("NextUploadIdMarker", "")}

    def _condition(self, key: str, seen: Seen) -> dict[str, Any]:
        if self._conditional():
            return seen.condition()
        if self.seen(key) != seen:  # a server without conditions: looked at right before, which leaves a moment
            raise _changed(key, self._calls.bucket)
        return {}

    def _last_word(self, key: str, nonce: str, write: Callable[[], object]) -> None:
        """The call that makes the object. Repeated after a lost answer it meets its own object: that is success."""
        try:
            self._calls.do("write", key, write)
        except (ConditionFailed, ObjectMissing) as error:  # missing: If-Match, and the object was deleted
            if self._head(key)[1] != nonce:
                raise _changed(key, self._calls.bucket) from error
        except StoreError as error:
            cause = error.__cause__
            if not (isinstance(cause, Exception) and code_of(cause) == "NoSuchUpload"):
                raise
            if self._head(key)[1] != nonce:
                raise

    def _head(self, key: str) -> tuple[str | None, str]:
        """ETag and nonce of what is at a key; None and '' for no object."""
        calls = self._calls
        try:
            found = calls.do("look at", key, lambda: calls.client.head_object(Bucket=calls.bucket, Key=key))
        except ObjectMissing:
            return None, ""
        return found["ETag"], found.get("Metadata", {}).get(NONCE, "")

    def _in_parts(self, upload: _Upload, about: dict[str, Any], condition: dict[str, Any]) -> None:
        calls, key = self._calls, upload.key
        begun = calls.do("write", key, lambda: calls.client.create_multipart_upload(**about))
        name: dict[str, Any] = {"Bucket": calls.bucket, "Key": key, "UploadId": begun["UploadId"]}
        whole = False
        try:
            parts = self._send_parts(upload, name)
            ending: dict[str, Any] = {**name, **condition, "MultipartUpload": {"Parts": parts}}
            self._last_word(key, upload.nonce, lambda: calls.client.complete_multipart_upload(**ending))
            whole = True
        finally:
            if not whole:
                self._abort(key, begun["UploadId"])

    def _send_parts(self, upload: _Upload, name: dict[str, Any]) -> list[CompletedPartTypeDef]:
        calls = self._calls
        part_bytes = max(self.part_bytes, -(-upload.size_bytes // MAX_PARTS))

        def send(number: int) -> CompletedPartTypeDef:
            data = upload.part((number - 1) * part_bytes, part_bytes)
            about: dict[str, Any] = {**name, "PartNumber": number, "ContentMD5": _md5(data)}
            sent = calls.do("write", upload.key, lambda: calls.client.upload_part(Body=data, **about))
            return {"PartNumber": number, "ETag": sent["ETag"]}

        pool = ThreadPoolExecutor(PARTS_AT_ONCE, thread_name_prefix="s3-part")
        try:
            return list(pool.map(send, range(1, 1 + -(-upload.size_bytes // part_bytes))))
        finally:
            pool.shutdown(cancel_futures=True)  # no part may come after an abort

    def _abort(self, key: str, upload_id: str) -> None:
        calls = self._calls
        about: dict[str, Any] = {"Bucket": calls.bucket, "Key": key, "UploadId": upload_id}
        with suppress(StoreError):
            calls.do("abort", key, lambda: calls.client.abort_multipart_upload(**about), patience_s=ABORT_PATIENCE_S)


@dataclass(frozen=True, slots=True)
class _Upload:
    """A large file on its way."""

    key: str
    path: Path
    size_bytes: int
    nonce: str

    def part(self, start: int, size: int) -> bytes:
        """One part of it."""
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(size)


def hex_md5(data: bytes) -> str:
    """The MD5 of some bytes as DIGEST holds it."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _md5(data: bytes) -> str:
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def _changed(key: str, bucket: str) -> ObjectChanged:
    return ObjectChanged(
        f"s3://{bucket}/{key} was written by somebody else while it was being written here; theirs is kept"
    )
