"""`/v1/jobs/{id}/files`: what a job hands out and nothing else, whole, in ranges, as a zip."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from jobs.deliver import finished_objects
from jobs.state import JobState
from tests.helpers_api import Door, api

BOOK = '# One\n\nHello there. It is late.\n\n# Zwölf "Uhr"\n\nGood night.\n'


@contextmanager
def finished(**fields: Any) -> Iterator[tuple[Door, str]]:
    """A job that is done, with its files."""
    with api() as door:
        body = {"text": BOOK, "name": "book.md", "model": "fake", "formats": ["wav", "mp3", "m4b"], **fields}
        job = door.client.post("/v1/jobs", json=body).json()["id"]
        assert door.wait(job).state is JobState.DONE
        yield door, job


def test_every_finished_file_is_listed_and_sent_whole():
    with finished(subtitles="srt") as (door, job):
        listed = door.client.get(f"/v1/jobs/{job}/files").json()
        keys = finished_objects(door.store, job)
        assert [f"jobs/{job}/{file['name']}" for file in listed["data"]] == keys
        assert listed["has_more"] is False
        assert door.client.get(f"/v1/jobs/{job}").json()["files"] == listed["data"]
        for file, key in zip(listed["data"], keys, strict=True):
            answer = door.client.get(file["url"])
            assert (answer.status_code, answer.content) == (200, door.store.get(key))
            assert answer.headers["content-type"] == file["media_type"]
            assert int(answer.headers["content-length"]) == file["size_bytes"]
            head = door.client.head(file["url"])
            assert (head.status_code, head.content) == (200, b"")
            for name in ("content-length", "etag", "content-disposition", "accept-ranges", "content-type"):
                assert head.headers[name] == answer.headers[name]
        types = {file["name"]: file["media_type"] for file in listed["data"]}
        assert (types["book.m4b"], types["book.wav"], types["book.mp3"]) == ("audio/mp4", "audio/wav", "audio/mpeg")
        assert (types["book.srt"], types["report.json"]) == ("application/x-subrip", "application/json")
        assert door.client.head(f"/v1/jobs/{job}/files").status_code == 200


def test_names_of_any_script_are_told():
    with finished() as (door, job):
        (named,) = [f for f in door.client.get(f"/v1/jobs/{job}/files").json()["data"] if "002" in f["name"]][:1]
        disposition = door.client.get(named["url"]).headers["content-disposition"]
    assert "zw%C3%B6lf" in named["url"]
    assert disposition.isascii()
    assert "filename*=UTF-8''002-zw%C3%B6lf-uhr" in disposition


@pytest.mark.parametrize(
    "name",
    [
        *("source", "plan.jsonl", "mastering/book.json", "../../takes", "%2e%2e/%2e%2e/takes", "/etc/passwd", ""),
        *("book.m4b/", "chapters", "book.m4b%00", ".%2fbook.m4b", "chapters%2f..%2fbook.m4b"),
    ],
)
def test_nothing_else_is_sent(name: str):
    with finished(formats=["m4b"]) as (door, job):
        assert door.client.get(f"/v1/jobs/{job}/files/book.m4b").status_code == 200
        answer = door.client.get(f"/v1/jobs/{job}/files/{name}")
        assert answer.status_code == (400 if "%00" in name else 404)
        assert answer.headers["content-type"] == "application/json"


def test_ranges_are_parts_of_the_whole():
    with finished() as (door, job):
        url = f"/v1/jobs/{job}/files/book.wav"
        whole = door.client.get(url)
        data, etag = whole.content, whole.headers["etag"]
        size = len(data)

        def ranged(text: str, **headers: str) -> tuple[int, bytes, str | None]:
            answer = door.client.get(url, headers={"Range": text, **headers})
            return answer.status_code, answer.content, answer.headers.get("content-range")

        assert ranged("bytes=0-0") == (206, data[:1], f"bytes 0-0/{size}")
        assert ranged("bytes=100-199") == (206, data[100:200], f"bytes 100-199/{size}")
        assert ranged(f"bytes={size - 5}-") == (206, data[-5:], f"bytes {size - 5}-{size - 1}/{size}")
        assert ranged("bytes=-7") == (206, data[-7:], f"bytes {size - 7}-{size - 1}/{size}")
        assert ranged(f"bytes=0-{size * 9}") == (206, data, f"bytes 0-{size - 1}/{size}")
        for text in ("bytes=1-2,5-6", "pages=1-2", "bytes=9-3", "bytes=", "bytes=-"):
            assert ranged(text) == (200, data, None)
        status, body, place = ranged(f"bytes={size}-")
        assert (status, place) == (416, f"bytes */{size}")
        assert b"range_not_satisfiable" in body
        assert ranged("bytes=5-9", **{"If-Range": etag}) == (206, data[5:10], f"bytes 5-9/{size}")
        assert ranged("bytes=5-9", **{"If-Range": '"other"'}) == (200, data, None)
        pieces = [ranged(f"bytes={start}-{start + 65_535}")[1] for start in range(0, size, 65_536)]
        assert b"".join(pieces) == data


def test_what_the_caller_has_is_not_sent_again():
    with finished() as (door, job):
        url = f"/v1/jobs/{job}/files/book.mp3"
        etag = door.client.get(url).headers["etag"]
        same = door.client.get(url, headers={"If-None-Match": f'"x", {etag}'})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", etag)
        assert door.client.get(url, headers={"If-None-Match": '"x"'}).status_code == 200
        other = door.client.get(f"/v1/jobs/{job}/files/book.wav").headers["etag"]
    assert other != etag


def test_a_dataset_is_one_row_unless_all_is_asked_for():
    with finished(exports=["ljspeech"], formats=["flac"]) as (door, job):
        shown = [file["name"] for file in door.client.get(f"/v1/jobs/{job}/files").json()["data"]]
        every = [file["name"] for file in door.client.get(f"/v1/jobs/{job}/files?all=true").json()["data"]]
        rest = door.client.get(f"/v1/jobs/{job}/files", params={"all": True, "after": every[2]}).json()["data"]
        lost = door.client.get(f"/v1/jobs/{job}/files", params={"all": True, "after": "gone"})
        assert door.client.get(f"/v1/jobs/{job}/files/{every[-1]}").status_code == 200
    assert [name for name in shown if name.startswith("datasets/")] == ["datasets/ljspeech/dataset.json"]
    assert set(shown) < set(every)
    assert [file["name"] for file in rest] == every[3:]
    assert lost.status_code == 404


def test_all_files_in_one_zip():
    with finished() as (door, job):
        answer = door.client.get(f"/v1/jobs/{job}/files.zip")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            assert archive.testzip() is None
            for name in archive.namelist():
                assert archive.read(name) == door.store.get(f"jobs/{job}/{name}")
            listed = door.client.get(f"/v1/jobs/{job}/files").json()["data"]
            assert archive.namelist() == [file["name"] for file in listed]


def test_before_there_are_files():
    with api(idle=True) as door:
        job = door.client.post("/v1/jobs", json={"text": BOOK, "model": "fake"}).json()["id"]
        assert door.client.get(f"/v1/jobs/{job}/files").json() == {"object": "list", "data": [], "has_more": False}
        answer = door.client.get(f"/v1/jobs/{job}/files.zip")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_files")


def test_files_are_there_as_soon_as_the_list_says_so():
    with api() as door:
        job = door.client.post("/v1/jobs", json={"text": BOOK, "name": "b.md", "model": "fake"}).json()["id"]
        seen: set[str] = set()
        while (record := door.truth.job(job)).state is not JobState.DONE:
            files = door.client.get(f"/v1/jobs/{job}/files").json()["data"]
            seen |= {file["name"] for file in files}
            for file in files:
                assert door.client.get(file["url"]).status_code == 200
        assert record.state is JobState.DONE
        assert seen <= {file["name"] for file in door.client.get(f"/v1/jobs/{job}/files").json()["data"]}
