"""S3 that answers 503, resets, cuts bodies, loses answers, is full or away: every write is whole, or is no write."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.errors import ObjectChanged, StoreAway, StoreError
from jobs.s3_options import S3Options
from jobs.stores.s3 import S3Store, open_s3
from jobs.stores.s3_upload import Uploads
from tests.helpers_bad_s3 import BadS3, Fault, Plan
from tests.helpers_s3 import CREDENTIALS, S3Server, shared_s3

pytestmark = pytest.mark.services
PART = 5 * 1024 * 1024
BIG = os.urandom(3 * PART + 17)
BUSY = Fault("status")


@pytest.fixture
def bad(monkeypatch: pytest.MonkeyPatch) -> Iterator[BadS3]:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    made = BadS3(shared_s3("moto").endpoint)
    yield made
    made.close()


@pytest.fixture
def store(bad: BadS3) -> S3Store:
    bucket = shared_s3("moto").bucket()
    made = open_s3(f"s3://{bucket}/x", S3Options(endpoint=bad.endpoint, region="us-east-1"), patience_s=10.0)
    assert made.heeds_conditions()
    made.uploads.part_bytes = PART
    return made


def write(store: S3Store, key: str, data: bytes) -> None:
    with store.writer(key) as path:
        path.write_bytes(data)


def is_put(method: str, path: str) -> bool:
    return method == "PUT" and "/x/" in path


def is_part(method: str, path: str) -> bool:
    return method == "PUT" and "partNumber=" in path


def is_end(method: str, path: str) -> bool:
    return method == "POST" and "uploadId=" in path


def is_get(method: str, path: str) -> bool:
    return method == "GET" and "/x/" in path


def uploads_left(store: S3Store) -> int:
    return len([*store.uploads.unfinished("")])


@pytest.mark.parametrize("fault", [BUSY, Fault("reset"), Fault("status", 500, "InternalError"), Fault("lost")])
@pytest.mark.parametrize("wanted", [is_put, is_part, is_end])
def test_what_passes_is_waited_for_and_the_object_is_whole(store, bad, fault, wanted) -> None:
    bad.plan = Plan(wanted, [fault] * 3)
    data = BIG if wanted is not is_put else b"small"
    write(store, "object", data)
    assert bad.plan.faults == []
    assert store.get("object") == data
    assert uploads_left(store) == 0


@pytest.mark.parametrize("fault", [BUSY, Fault("reset"), Fault("cut"), Fault("lost")])
def test_a_body_that_breaks_off_is_read_again(store, bad, fault) -> None:
    store.put("object", BIG)
    bad.plan = Plan(is_get, [fault] * 3)
    assert store.get("object") == BIG
    bad.plan = Plan(is_get, [fault] * 3)
    with store.open("object") as file:
        assert file.read() == BIG
    assert bad.plan.faults == []


def test_an_object_that_is_replaced_while_it_is_read_is_read_from_its_start(store, bad) -> None:
    store.put("object", BIG)
    other = BIG[::-1]

    class Replacing(Plan):
        def next(self, method: str, path: str) -> Fault | None:
            fault = super().next(method, path)
            if fault is not None:
                shared_s3("moto").client().put_object(Bucket=store._calls.bucket, Key="x/object", Body=other)
            return fault

    bad.plan = Replacing(is_get, [Fault("cut")])
    with store.open("object") as file:
        assert file.read() == other


@pytest.mark.parametrize(("wanted", "data"), [(is_put, b"small"), (is_part, BIG), (is_end, BIG)])
def test_a_server_that_stays_away_is_told_so_and_leaves_nothing(store, bad, wanted, data) -> None:
    store._calls._patience_s = 0.5
    bad.plan = Plan(wanted, [BUSY] * 1000)
    with pytest.raises(StoreAway, match="SlowDown, status 503"):
        write(store, "object", data)
    bad.plan = Plan(lambda _method, _path: False, [])
    assert not store.exists("object")
    assert uploads_left(store) == 0


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault("status", 507, "InsufficientStorage"), "the store is full"),
        (Fault("status", 403, "AccessDenied"), "rights in docs/stores.md"),
        (Fault("status", 403, "SignatureDoesNotMatch"), "AWS_SECRET_ACCESS_KEY"),
        (Fault("status", 400, "ExpiredToken"), "temporary credentials"),
        (Fault("status", 404, "NoSuchBucket"), "make the bucket"),
    ],
)
def test_what_will_not_pass_is_told_at_once_with_what_to_do(store, bad, fault, told) -> None:
    bad.plan = Plan(is_put, [fault])
    with pytest.raises(StoreError, match=told) as caught:
        write(store, "object", b"data")
    assert not isinstance(caught.value, StoreAway)
    assert CREDENTIALS["AWS_SECRET_ACCESS_KEY"] not in str(caught.value)
    assert not store.exists("object")


def test_a_lost_answer_is_not_taken_for_somebody_elses_write(store, bad) -> None:
    """The write was done, its answer was lost; the repetition meets a condition that does not hold any more."""
    for data in (b"small", BIG):
        bad.plan = Plan(lambda method, path: is_end(method, path) or method == "PUT", [Fault("lost")])
        write(store, f"object{len(data)}", data)
        assert store.get(f"object{len(data)}") == data


def test_a_lost_answer_and_then_somebody_elses_write_is_told(store, bad) -> None:
    class Overtaken(Plan):
        def next(self, method: str, path: str) -> Fault | None:
            fault = super().next(method, path)
            if fault is not None and fault.kind == "reset":
                shared_s3("moto").client().put_object(Bucket=store._calls.bucket, Key="x/object", Body=b"theirs")
            return fault

    bad.plan = Overtaken(is_put, [Fault("reset")])
    with pytest.raises(ObjectChanged):
        write(store, "object", b"ours")
    assert store.get("object") == b"theirs"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_upload_that_is_broken_off_is_aborted(store, monkeypatch, error) -> None:
    sent: list[int] = []
    last_word = Uploads._last_word

    def broken(self: Uploads, *arguments: object) -> None:
        sent.append(1)
        raise error

    monkeypatch.setattr(Uploads, "_last_word", broken)
    with pytest.raises(error):
        write(store, "object", BIG)
    monkeypatch.setattr(Uploads, "_last_word", last_word)
    assert sent == [1]
    assert uploads_left(store) == 0
    assert not store.exists("object")


KILLED = """
import os, signal, sys
from jobs.s3_options import S3Options
from jobs.stores.s3 import open_s3
from jobs.stores.s3_upload import Uploads
Uploads._last_word = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
store = open_s3(sys.argv[1], S3Options(endpoint=sys.argv[2], region="us-east-1"))
store.uploads.part_bytes = 5 * 1024 * 1024
with store.writer("object") as path:
    path.write_bytes(bytes(11 * 1024 * 1024))
"""


def test_what_a_killed_writer_leaves_is_swept_and_nothing_else(store, bad) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, store.url, bad.endpoint], env=os.environ | CREDENTIALS, timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert uploads_left(store) == 1
    assert not store.exists("object")
    assert store.uploads.sweep("x/", lambda _began: False) == 0  # moto does not say when an upload began
    assert store.uploads.sweep("elsewhere/", lambda _began: True) == 0
    assert store.sweep_unfinished(older_than_s=0) == 1
    assert uploads_left(store) == 0


def test_large_objects_go_in_parts(store) -> None:
    write(store, "object", BIG)
    found = shared_s3("moto").client().head_object(Bucket=store._calls.bucket, Key="x/object")
    assert found["ETag"].strip('"').endswith("-4")
    assert found["ContentLength"] == len(BIG)


def test_encryption_is_asked_for(bad: BadS3) -> None:
    bucket = shared_s3("moto").bucket()
    options = S3Options(endpoint=bad.endpoint, region="us-east-1", encryption="aws:kms", kms_key="alias/mine")
    store = open_s3(f"s3://{bucket}", options)
    store.uploads.part_bytes = PART
    store.put("small", b"1")
    write(store, "large", BIG)
    for key in ("small", "large"):
        found = shared_s3("moto").client().head_object(Bucket=bucket, Key=key)
        assert (found["ServerSideEncryption"], found["SSEKMSKeyId"]) == ("aws:kms", "alias/mine")


@pytest.fixture
def signed(monkeypatch: pytest.MonkeyPatch) -> S3Server:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    return shared_s3("nanio")


def test_an_address_that_is_signed_is_read_by_anybody_until_it_expires(signed: S3Server) -> None:
    import httpx

    store = open_s3(f"s3://{signed.bucket()}/a", signed.options)
    store.put("book.m4b", b"audio")
    url = store.presigned_url("book.m4b", 60, filename="Ein Buch – 1.m4b", media_type="audio/mp4")
    answer = httpx.get(url)
    assert (answer.status_code, answer.content) == (200, b"audio")
    assert CREDENTIALS["AWS_SECRET_ACCESS_KEY"] not in url
    assert httpx.get(url.replace("book", "other")).status_code in (403, 404)
    assert httpx.get(url[:-4] + "0000").status_code == 403


def test_wrong_credentials_are_refused_in_clear_words(signed: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    store = open_s3(f"s3://{signed.bucket()}/a", signed.options, patience_s=2.0)
    with pytest.raises(StoreError, match="cannot write"):
        store.put("a", b"1")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(StoreError, match="credentials"):
        open_s3(f"s3://{signed.bucket()}/a", signed.options, patience_s=2.0).put("a", b"1")


def test_objects_survive_a_killed_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    server = S3Server("nanio").start()
    try:
        store = open_s3(f"s3://{server.bucket()}/a", server.options, patience_s=20.0)
        write(store, "object", BIG)
        server.kill()
        server.start()
        assert store.get("object") == BIG
    finally:
        server.close()
