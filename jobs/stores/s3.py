"""A store in an S3 bucket: `s3://bucket/prefix`. One key is one object; it appears whole or not at all.

Reads come whole into a temporary file, so that a reader keeps the object that it opened. Writers are refused when
somebody else wrote meanwhile (`If-Match`, `If-None-Match`); `docs/stores.md` says which servers heed that.
"""

from __future__ import annotations

import datetime as dt
import logging
import re
import secrets
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, cast
from urllib.parse import quote

from jobs import keys
from jobs.errors import BadOption, ObjectMissing, StoreError
from jobs.s3_options import S3Options
from jobs.stores.names import check_key
from jobs.stores.s3_calls import PATIENCE_S, ConditionFailed, MixedUp, S3Calls, is_not_done, make_client
from jobs.stores.s3_upload import DIGEST, Uploads, hex_md5

log = logging.getLogger(__name__)

SPOOLED_BYTES = 8 * 1024 * 1024
"""Objects up to this size are kept in memory while they are open, larger ones in a temporary file."""
BLOCK_BYTES = 1 << 20
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
"""Names of buckets (Amazon S3 user guide, bucket naming rules)."""


class S3Store:
    """Objects under a prefix of a bucket. Safe for many processes, machines and threads at once."""

    def __init__(self, bucket: str, prefix: str, options: S3Options, *, patience_s: float = PATIENCE_S) -> None:
        """`prefix` is '' or a path without slashes at its ends. Raises MissingExtra: boto3 is not installed."""
        self.url = f"s3://{bucket}/{prefix}".rstrip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._options = options
        self._calls = S3Calls(bucket, options, patience_s=patience_s)
        self._lock = threading.Lock()
        self._heeds_conditions: bool | None = None
        self.uploads = Uploads(self._calls, extra=_encryption(options), conditional=self.heeds_conditions)

    def put(self, key: str, data: bytes) -> None:
        """See `Store.put`."""
        self.uploads.put(self._name(key), data)

    @contextmanager
    def writer(self, key: str) -> Iterator[Path]:
        """See `Store.writer`."""
        name = self._name(key)
        seen = self.uploads.seen(name)
        try:
            with tempfile.TemporaryDirectory(prefix="tts-batch-") as folder:
                path = Path(folder) / "object"
                path.touch()
                yield path
                self.uploads.file(name, path, seen)
        except OSError as error:
            msg = (
                f"cannot write {self.url}/{key}: {error.strerror or error} in {tempfile.gettempdir()}, where it is "
                "made before it is sent; free some space there or set TMPDIR, then repeat the step"
            )
            raise StoreError(msg) from error

    def get(self, key: str) -> bytes:
        """See `Store.get`."""
        name, calls = self._name(key), self._calls

        def read() -> bytes:
            reply = calls.client.get_object(Bucket=calls.bucket, Key=name)
            data = reply["Body"].read()
            if reply.get("Metadata", {}).get(DIGEST, "") not in ("", hex_md5(data)):
                raise MixedUp(name)
            return data

        return calls.do("read", name, read)

    @contextmanager
    def open(self, key: str) -> Iterator[BinaryIO]:
        """See `Store.open`. All of it is read at once."""
        name = self._name(key)
        with tempfile.SpooledTemporaryFile(max_size=SPOOLED_BYTES, prefix="tts-batch-") as file:
            _Download(self._calls, name).into(file)
            file.seek(0)
            yield cast("BinaryIO", file)

    def exists(self, key: str) -> bool:
        """See `Store.exists`."""
        try:
            self.size_bytes(key)
        except ObjectMissing:
            return False
        return True

    def size_bytes(self, key: str) -> int:
        """See `Store.size_bytes`."""
        name, calls = self._name(key), self._calls
        found = calls.do("look at", name, lambda: calls.client.head_object(Bucket=calls.bucket, Key=name))
        return found["ContentLength"]

    def list(self, prefix: str) -> Iterator[str]:
        """See `Store.list`. Objects of others, whose keys none of ours could have, are passed over."""
        folder = prefix.rpartition("/")[0]
        if folder:
            check_key(folder)
        calls = self._calls
        about: dict[str, Any] = {"Bucket": calls.bucket, "Prefix": self._prefix + prefix}
        more: dict[str, Any] = {}
        while True:
            page = calls.do("list", about["Prefix"], partial(calls.client.list_objects_v2, **about, **more))
            for entry in page.get("Contents", []):
                key = entry["Key"].removeprefix(self._prefix)
                with suppress(StoreError):
                    yield check_key(key)
            if not page.get("IsTruncated"):
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def delete(self, key: str) -> None:
        """See `Store.delete`."""
        name, calls = self._name(key), self._calls
        with suppress(ObjectMissing):  # some servers say so
            calls.do("delete", name, lambda: calls.client.delete_object(Bucket=calls.bucket, Key=name))

    def sweep_unfinished(self, *, older_than_s: float) -> int:
        """See `Store.sweep_unfinished`: uploads in parts that nobody ended. 0 where the server cannot list them."""
        oldest = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=older_than_s)
        try:
            return self.uploads.sweep(self._prefix, lambda began: began <= oldest)
        except StoreError as error:
            if isinstance(error.__cause__, Exception) and is_not_done(error.__cause__):
                log.debug("unfinished uploads of %s cannot be listed there: %s", self.url, error)
                return 0
            raise

    def presigned_url(self, key: str, ttl_s: int, *, filename: str, media_type: str) -> str:
        """See `Presigns.presigned_url`. Made here, without a call; temporary credentials end it sooner."""
        name, options = self._name(key), self._options
        client = self._calls.client
        if options.public_endpoint != options.endpoint:
            client = make_client(options, options.public_endpoint)
        about = {
            "Bucket": self._calls.bucket,
            "Key": name,
            "ResponseContentType": media_type,
            "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(filename, safe='')}",
        }
        return str(self._calls.do("sign", name, lambda: client.generate_presigned_url("get_object", about, ttl_s)))

    def heeds_conditions(self) -> bool:
        """Whether the server heeds conditions of writes; found out once, with a small object of its own."""
        with self._lock:
            if self._heeds_conditions is None:
                self._heeds_conditions = self._probe()
                if not self._heeds_conditions:
                    log.info("S3 at %s does not heed conditions of writes; looked at before instead", self._calls.where)
            return self._heeds_conditions

    def _probe(self) -> bool:
        """Write twice what may not be there, and once over what is another one: both must be refused."""
        calls, name = self._calls, self._prefix + keys.probe(f"conditions-{secrets.token_hex(8)}")
        about: dict[str, Any] = {"Bucket": calls.bucket, "Key": name, "Body": b"", **_encryption(self._options)}

        def refused(condition: dict[str, Any]) -> bool:
            try:
                calls.do("write", name, lambda: calls.client.put_object(**about, **condition))
            except StoreError as error:
                if isinstance(error.__cause__, Exception) and is_not_done(error.__cause__):
                    return False
                raise
            except ConditionFailed:
                return True
            return False

        calls.do("write", name, lambda: calls.client.put_object(**about))
        try:
            return refused({"IfNoneMatch": "*"}) and refused({"IfMatch": '"00000000000000000000000000000000"'})
        finally:
            calls.do("delete", name, lambda: calls.client.delete_object(Bucket=calls.bucket, Key=name))

    def _name(self, key: str) -> str:
        return self._prefix + check_key(key)


class _Download:
    """One object on its way here: goes on where it broke off, from the start if the object was replaced meanwhile."""

    def __init__(self, calls: S3Calls, name: str) -> None:
        self._calls = calls
        self._name = name
        self._etag = ""
        self._at_bytes = 0

    def into(self, file: IO[bytes]) -> None:
        """Write it to a file. Raises ObjectMissing, StoreError."""
        while True:
            try:
                self._calls.do("read", self._name, lambda: self._go_on(file))
            except ConditionFailed:
                self._at_bytes = 0
            else:
                return

    def _go_on(self, file: IO[bytes]) -> None:
        from_here: dict[str, Any] = (
            {"Range": f"bytes={self._at_bytes}-", "IfMatch": self._etag} if self._at_bytes else {}
        )
        about: dict[str, Any] = {"Bucket": self._calls.bucket, "Key": self._name, **from_here}
        reply = self._calls.client.get_object(**about)
        self._etag = reply["ETag"]
        file.seek(self._at_bytes)
        file.truncate()
        for block in reply["Body"].iter_chunks(BLOCK_BYTES):  # raises if the body ends too soon
            file.write(block)
            self._at_bytes += len(block)


def open_s3(url: str, options: S3Options, *, patience_s: float = PATIENCE_S) -> S3Store:
    """The store of an `s3://bucket/prefix` URL.

    Raises:
        BadOption: it is not such a URL.
        MissingExtra: boto3 is not installed.
    """
    bucket, _, path = url.removeprefix("s3://").partition("/")
    if "@" in bucket or "?" in url or "#" in url:
        msg = (
            f"the store of bucket {bucket.rpartition('@')[2].partition('?')[0]!r} is written with more than a bucket "
            "and a prefix; credentials come from the AWS environment, files or roles, the rest from TTS_BATCH_S3_*"
        )
        raise BadOption(msg)
    if not _BUCKET.fullmatch(bucket):
        msg = f"store {url!r} does not name a bucket (3 to 63 of a-z, 0-9, dots and dashes); write s3://bucket/prefix"
        raise BadOption(msg)
    prefix = path.strip("/")
    try:
        if prefix:
            check_key(prefix)
    except StoreError as error:
        msg = f"store {url!r}: {error}"
        raise BadOption(msg) from error
    return S3Store(bucket, prefix, options, patience_s=patience_s)


def _encryption(options: S3Options) -> dict[str, Any]:
    """Parameters of every write for the encryption that is asked for."""
    if options.encryption == "default":
        return {}
    key = {"SSEKMSKeyId": options.kms_key} if options.encryption == "aws:kms" and options.kms_key else {}
    return {"ServerSideEncryption": options.encryption, **key}
