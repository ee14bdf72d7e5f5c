"""A reader from outside: runs the example of docs/streams.md, which knows only redis-py and that page.

Ours is used only to write.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jobs.events import AudioChunk
from jobs.kinds import Grade
from jobs.state import JobState, SegmentState
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_streams import RedisStreams
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import record, result, tasks, worker
from tests.helpers_valkey import shared_server

PAGE = Path(__file__).parents[2] / "docs" / "streams.md"
MAIN = """
import sys
state, pcm = follow(sys.argv[1], sys.argv[2])
print(json.dumps({"state": state, "pcm": {segment: data.hex() for segment, data in sorted(pcm.items())}}))
"""


def example() -> str:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return code


def chunk(segment: int, number: int, data: bytes, *, take: str = "one", **flags: bool) -> AudioChunk:
    return AudioChunk(
        segment=segment,
        take=take,
        chunk=number,
        start_sample=4 * number,
        samples=len(data) // 2,
        sample_rate_hz=24_000,
        data=data,
        **flags,
    )


@pytest.fixture
def house() -> tuple[str, RedisTruth, RedisStreams]:
    server = shared_server()
    server.flush()
    calls = Calls(make_client(server.url))
    return server.url, RedisTruth(calls), RedisStreams(calls, max_audio_bytes=10_000)


@pytest.mark.services
def test_the_example_of_the_page_follows_a_job(house: tuple[str, RedisTruth, RedisStreams], tmp_path: Path) -> None:
    url, truth, streams = house
    truth.create_job(record("a"))
    truth.enqueue("a", tasks("a", 3), [])
    truth.register(worker("w"))
    held = truth.lease("w", 3)
    streams.write_audio("a", chunk(1, 0, b"\x00\xff\x01\x02\r\n\x00\x80"))
    streams.write_audio("a", chunk(0, 0, b"\x11" * 8))
    streams.write_audio("a", chunk(0, 1, b"", discard=True))
    streams.write_audio("a", chunk(2, 0, b"\x22" * 8))  # its worker died: the take begins anew below

    def speak_on() -> None:
        time.sleep(0.3)
        streams.write_audio("a", chunk(1, 1, b"\x03\x04", last=True))
        streams.write_audio("a", chunk(2, 0, b"\x33" * 8))
        streams.write_audio("a", chunk(2, 1, b"\x34" * 2, last=True))
        streams.write_audio("a", chunk(0, 0, b"\x55" * 2, take="two", last=True))
        states = [SegmentState.DONE, SegmentState.DONE, SegmentState.FAILED]
        truth.finish("w", [result(task, state=state) for task, state in zip(held, states, strict=True)])
        truth.chapter_assembled("a", 0)
        truth.move_job("a", JobState.DONE_WITH_FAILURES)

    script = tmp_path / "reader.py"
    script.write_text(example() + MAIN, encoding="utf-8")
    speaker = threading.Thread(target=speak_on)
    speaker.start()
    done = subprocess.run(
        [sys.executable, "-I", script, url, "a"], capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path
    )
    speaker.join()
    assert json.loads(done.stdout) == {
        "state": "done_with_failures",
        "pcm": {"0": "55" * 2, "1": "00ff01020d0a0080" + "0304", "2": "33" * 8 + "34" * 2},
    }


@pytest.mark.services
def test_entries_have_exactly_the_fields_of_the_page(house: tuple[str, RedisTruth, RedisStreams]) -> None:
    _url, truth, streams = house
    page = PAGE.read_text(encoding="utf-8")
    truth.create_job(record("a"))
    truth.enqueue("a", tasks("a", 4), [])
    truth.register(worker("w"))
    good, bad, again, settled = truth.lease("w", 4)
    truth.finish("w", [result(good), result(bad, state=SegmentState.FAILED), result(again), result(settled)])
    worse = {"grade": Grade.BAD, "reason": "too long", "settled": True}
    truth.rule("a", 0, [result(settled).model_copy(update=worse)], [again])
    truth.finish("w", [result(task) for task in truth.lease("w", 1)])
    truth.chapter_assembled("a", 0)
    streams.write_audio("a", chunk(0, 0, b"\x01\x02", last=True))
    client = truth._calls.client

    events = [fields for _id, fields in client.xrange("tts:events:a")]
    assert all(set(fields) == {b"v", b"kind", b"data"} and fields[b"v"] == b"1" for fields in events)
    common = {"v", "kind", "job", "at_s", "state", "total", "done", "failed", "audio_s"}
    more = {fields[b"kind"].decode(): set(json.loads(fields[b"data"])) - common for fields in events}
    assert more == {
        "job": set(),
        "segment_done": {"segment", "chapter", "take", "samples", "sample_rate_hz", "reused", "takes", "grade"},
        "segment_failed": {"segment", "chapter", "reason"},
        "segment_again": {"segment", "chapter"},
        "segment_settled": {
            *("segment", "chapter", "take", "samples", "sample_rate_hz", "reused", "takes", "grade", "reason")
        },
        "chapter_assembled": {"chapter"},
    }
    for kind, names in more.items():
        (row,) = re.findall(rf"^\| `{kind}` \|(.*)$", page, flags=re.MULTILINE)
        assert all(f"`{name}`" in row for name in names)
    assert {state for state in JobState if f"`{state}`" not in page} == set()

    ((_id, fields),) = client.xrange("tts:audio:a")
    table = page.partition("## 2.")[2].partition("* **Order")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {name.decode() for name in fields} == {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert (fields[b"last"], fields[b"discard"], fields[b"encoding"]) == (b"1", b"0", b"pcm_s16le")
    client.close()
