"""One S3 server and bucket: makes the client, repeats what may pass, and turns what is refused into our errors.

Knows no keys of ours and no objects. Credentials come only from boto3's own chain; no text shows any.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from jobs.errors import MissingExtra, ObjectMissing, StoreAway, StoreError
from jobs.s3_options import S3Options

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

log = logging.getLogger(__name__)

T = TypeVar("T")

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 60.0
CONNECTIONS = 64
"""Of one store: more threads than this wait for each other."""
PATIENCE_S = 30.0
"""How long a call is repeated while the server is away; then StoreAway."""
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
MISSING = frozenset({"404", "NoSuchKey", "NotFound"})
_CONFLICT = frozenset({"412", "PreconditionFailed"})
_BUSY = frozenset(
    {"ConditionalRequestConflict", "OperationAborted", "RequestTimeout", "SlowDown", "Throttling", "TooManyRequests"}
)
"""Refusals below 500 that say: later."""
_FULL = frozenset(
    {"507", "InsufficientStorage", "QuotaExceeded", "XMinioStorageFull", "EntityTooLarge", "InsufficientCapacity"}
)
_NOT_DONE = frozenset({"501", "405", "NotImplemented", "MethodNotAllowed"})
_NEXT_STEP = {
    "NoSuchBucket": "make the bucket, or check its name and TTS_BATCH_S3_ENDPOINT",
    "AccessDenied": "give this key the rights in docs/stores.md",
    "403": "give this key the rights in docs/stores.md, or use another one",
    "InvalidAccessKeyId": "check AWS_ACCESS_KEY_ID, or the profile in use",
    "SignatureDoesNotMatch": "check AWS_SECRET_ACCESS_KEY, or the profile in use",
    "ExpiredToken": "get new temporary credentials",
    "RequestTimeTooSkewed": "set this machine's clock",
    "AuthorizationHeaderMalformed": "set TTS_BATCH_S3_REGION to the bucket's region",
    "PermanentRedirect": "set TTS_BATCH_S3_REGION to the bucket's region",
    "301": "set TTS_BATCH_S3_REGION to the bucket's region",
    "400": "check TTS_BATCH_S3_ENDPOINT and TTS_BATCH_S3_REGION",
}


class ConditionFailed(Exception):
    """A condition of a call does not hold."""


class MixedUp(Exception):
    """What was read is not what was written: the server took parts of two writes. The same may be read well now."""


class S3Calls:
    """Calls to one bucket. May be used by many threads."""

    def __init__(self, bucket: str, options: S3Options, *, patience_s: float = PATIENCE_S) -> None:
        """Connects to nothing. Raises MissingExtra: boto3 is not installed."""
        self.bucket = bucket
        self.options = options
        self.client = make_client(options, options.endpoint)
        self._patience_s = patience_s
        self.where = options.endpoint or "Amazon S3"

    def do(self, verb: str, key: str, call: Callable[[], T], *, patience_s: float | None = None) -> T:
        """Do `call` until the server answers it; `verb` and `key` (of the bucket) are for texts.

        Raises:
            ObjectMissing: no object has that key.
            StoreAway: the server did not answer, or was busy, for as long as we wait (`patience_s`).
            StoreError: it refuses for a reason that will not pass.
            ConditionFailed: a condition of the call does not hold.
        """
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError
        from urllib3.exceptions import HTTPError

        deadline_s = time.monotonic() + (self._patience_s if patience_s is None else patience_s)
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                return call()
            except (BotoCoreError, Boto3Error, ClientError, HTTPError, MixedUp) as error:
                if code_of(error) in _CONFLICT:
                    raise ConditionFailed(key) from error
                if not _may_pass(error):
                    raise self._refusal(verb, key, error) from error
                wait_s = random.uniform(0, pause_s)  # full jitter: many workers come back at once
                if time.monotonic() + wait_s > deadline_s:
                    raise self._away(verb, key, error) from error
                log.info("S3 at %s: cannot %s %s now (%s), trying again", self.where, verb, key, _said(error))
            time.sleep(wait_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _refusal(self, verb: str, key: str, error: Exception) -> StoreError:
        code, said = code_of(error), _said(error)
        if code in MISSING:
            return ObjectMissing(f"no object {key!r} in s3://{self.bucket}")
        place = f"s3://{self.bucket}/{key} at {self.where}"
        if type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"):
            advice = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile in AWS_PROFILE, or give a role"
            return StoreError(f"cannot {verb} {place}: there are no whole credentials; {advice}")
        if code in _FULL:
            return StoreError(
                f"cannot {verb} {place}: the store is full ({said}); make room there, then repeat the step"
            )
        advice = _NEXT_STEP.get(code, "check TTS_BATCH_S3_ENDPOINT, the bucket and its rights")
        return StoreError(f"cannot {verb} {place}: {said}; {advice}, then repeat the step")

    def _away(self, verb: str, key: str, error: Exception) -> StoreAway:
        return StoreAway(
            f"cannot {verb} s3://{self.bucket}/{key}: {self.where} does not answer as it must ({_said(error)}); start "
            "it, or check the network and TTS_BATCH_S3_ENDPOINT"
        )


def make_client(options: S3Options, endpoint: str | None) -> S3Client:
    """A client of one server; opens no connection.

    Bodies carry their MD5, which every S3 server checks; the trailing checksums of newer boto3 are not known to all.

    Raises:
        MissingExtra: boto3 is not installed.
        StoreError: what AWS is configured with makes no sense: a profile that is not there, half a pair of keys.
    """
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ModuleNotFoundError as error:
        msg = "stores on S3 need boto3: pip install 'tts-batch[s3]'"
        raise MissingExtra(msg) from error
    addressing: Any = ("path" if endpoint else "auto") if options.addressing == "auto" else options.addressing
    config = Config(
        signature_version="s3v4",
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        max_pool_connections=CONNECTIONS,
        tcp_keepalive=True,
        retries={"mode": "standard", "total_max_attempts": 2},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        s3={"addressing_style": addressing},
    )
    # A session of its own: boto3's default one is not made for threads.
    try:
        session = boto3.session.Session()
        return session.client("s3", endpoint_url=endpoint, region_name=options.region, config=config)
    except (BotoCoreError, ValueError) as error:
        msg = (
            f"S3 cannot be used as AWS is configured here: {error}; check the credentials, AWS_PROFILE and the settings"
        )
        raise StoreError(msg) from error


def code_of(error: Exception) -> str:
    """S3's word for what is wrong, or the status where it gives none (HEAD has no body); '' for other errors."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def status_of(error: Exception) -> int:
    """The status of an answer; 0 when there was none."""
    response = getattr(error, "response", None)
    found = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) if isinstance(response, dict) else 0
    return int(found)


def is_not_done(error: Exception) -> bool:
    """Whether the server says that it has no such operation."""
    return code_of(error) in _NOT_DONE


def _may_pass(error: Exception) -> bool:
    from botocore.exceptions import ConnectionError as BotoConnectionError
    from botocore.exceptions import HTTPClientError, IncompleteReadError, ResponseStreamingError
    from botocore.parsers import ResponseParserError
    from urllib3.exceptions import HTTPError

    lost = (BotoConnectionError, HTTPClientError, IncompleteReadError, ResponseParserError, ResponseStreamingError)
    if isinstance(error, (*lost, HTTPError, MixedUp)):
        return True
    code, status = code_of(error), status_of(error)
    if code in _FULL or code in _NOT_DONE or code == "NoSuchBucket":
        return False
    return code in _BUSY or status == 429 or status >= 500


def _said(error: Exception) -> str:
    """What an error says, for people: S3's own word and status, never an address (it may be signed)."""
    code, status = code_of(error), status_of(error)
    if code or status:
        return f"{code or 'no code'}, status {status}" if code != str(status) else f"status {status}"
    return type(error).__name__
