"""How speech requests end when something is away: the reader, the broker, the workers, a segment."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from cli.api import speech_stream
from cli.api.live_answer import Head
from cli.api.speech_stream import Order, pieces
from jobs.access.gate import Caller
from jobs.errors import BrokerUnavailable, SpeechIncomplete
from jobs.live_formats import LiveFormat
from jobs.spec import SegmentResult, SegmentTask
from jobs.speech import Wanted, new_id
from jobs.state import JobState, SegmentState
from jobs.takes import TakeOrigin, write_take
from tests.cli.api.test_speech import LONG, PATH, RATE_HZ, body, broken, events_of, fail, joined, leased, takes_of
from tests.helpers_api import Door, api, running_server
from tests.workers.making import Gate, Outage, Tap, until


def order_of(door: Door, text: str = LONG, *, sse: bool = False, checked: bool = True) -> Order:
    wanted = Wanted(text=text, offer=door.service.offer("fake"), checked=checked)
    return Order(wanted, LiveFormat.PCM, sse, Caller(), new_id())


def speak(door: Door, task: SegmentTask) -> None:
    """What a worker does with a task, by hand."""
    noise = np.random.default_rng(task.segment).uniform(-0.5, 0.5, 3000).astype(np.float32)
    facts = {name: getattr(task, name) for name in ("model", "voice", "language", "spoken", "seed", "speed")}
    origin = TakeOrigin(**facts, numerics="n")
    write_take(door.store, task.take, noise, sample_rate_hz=RATE_HZ, origin=origin)
    told = {"job": task.job, "segment": task.segment, "chapter": task.chapter, "take": task.take}
    result = SegmentResult(**told, state=SegmentState.DONE, samples=noise.size, sample_rate_hz=RATE_HZ)
    assert door.truth.finish("idle-1", [result]) == [True]


@contextmanager
def away(door: Door) -> Iterator[Outage]:
    """The service's broker, which can go away."""
    outage = Outage()
    door.service.broker = replace(door.service.broker, truth=Tap(door.service.broker.truth, outage))
    yield outage


class Begun:
    """A request that is read as its reader likes; `got` is what came of it."""

    def __init__(self, door: Door, order: Order) -> None:
        self._stop = threading.Event()
        self.answer = pieces(door.service, order, self._stop.is_set)
        self.got = b""

    def read(self, count: int | None = None) -> None:
        for piece in islice(self.answer, count):
            self.got += b"" if isinstance(piece, Head) else piece

    @contextmanager
    def reading(self, count: int | None = None) -> Iterator[Future[None]]:
        """Read in a thread meanwhile: so many pieces, or all."""
        with ThreadPoolExecutor(1) as pool:
            try:
                yield pool.submit(self.read, count)
            except BaseException:
                self._stop.set()
                raise


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech_stream, "NOBODY_S", 0.2)
    monkeypatch.setattr(speech_stream, "LOOK_EVERY_S", 0.02)
    monkeypatch.setattr(speech_stream, "CANCEL_AGAIN_S", 0.02)


@pytest.mark.parametrize("sse", [False, True])
def test_of_a_request_that_cannot_be_completed_the_rest_is_not_spoken(sse):
    with api(idle=True) as door:
        order = order_of(door, sse=sse)
        begun = Begun(door, order)
        with begun.reading() as read:
            first, second = leased(door, 2)
            speak(door, first)
            fail(door, second)
            assert isinstance(read.exception(10), SpeechIncomplete) is not sse
        if sse:
            assert events_of(begun.got.decode())[-1]["type"] == "error"
        assert door.truth.job(order.request_id).state is JobState.CANCELLED
        assert door.truth.depth().segments == 0


def test_what_is_spoken_already_needs_no_worker_however_slowly_it_is_read(quick):
    with api(idle=True) as door:
        order = order_of(door)
        slow = Begun(door, order)
        with slow.reading(2) as first:
            for task in leased(door):
                speak(door, task)
            first.result(10)
        door.truth.retire("idle-1")
        for _ in range(6):
            time.sleep(0.1)
            slow.read(1)
        slow.read()
        assert np.array_equal(np.frombuffer(slow.got, "<i2"), joined(takes_of(door, order.request_id)))


def test_a_worker_that_is_away_for_a_moment_while_the_reader_is_slow_is_waited_for(quick):
    with api(idle=True) as door:
        slow = Begun(door, order_of(door))
        with slow.reading(2) as first:
            speak(door, leased(door, 1)[0])
            first.result(10)
        (worker,) = door.truth.workers()
        door.truth.retire("idle-1")
        time.sleep(0.4)  # nobody reads, so nobody looks for workers
        with slow.reading() as read:
            time.sleep(0.1)
            door.truth.register(worker.info)
            for task in leased(door):
                speak(door, task)
            read.result(10)


def test_a_cancel_is_not_lost_while_the_broker_is_away(quick):
    with api(idle=True) as door, away(door) as outage:
        order = order_of(door)
        begun = Begun(door, order)
        with begun.reading(2) as first:
            speak(door, leased(door, 1)[0])
            first.result(10)
        outage.away.set()
        begun.answer.close()
        until(lambda: outage.refused.count("cancel") > 1, "it is tried again")
        outage.away.clear()
        until(lambda: door.truth.job(order.request_id).state is JobState.CANCELLED, "it is cancelled")


def test_a_request_whose_queueing_was_not_confirmed_is_taken_back(quick, monkeypatch):
    with api(idle=True) as door:
        speak_truly = door.truth.speak

        def speak_unconfirmed(*arguments: Any) -> None:
            speak_truly(*arguments)
            msg = "no reply"
            raise BrokerUnavailable(msg)

        monkeypatch.setattr(door.truth, "speak", speak_unconfirmed)
        order = order_of(door)
        with pytest.raises(BrokerUnavailable):
            next(pieces(door.service, order, lambda: False))
        until(lambda: door.truth.job(order.request_id).state is JobState.CANCELLED, "it is cancelled")
        assert door.truth.depth().segments == 0


def test_an_answer_over_http_1_0_that_is_broken_off_is_reset(monkeypatch):
    """There only the connection's end tells the answer's end: a clean one would pass for the whole."""
    gate = Gate(monkeypatch)
    asked = json.dumps(body(LONG, response_format="pcm")).encode()
    with api(slots=1) as door, running_server(door.service) as url:
        where = urlsplit(url)
        gate.let(1)
        with socket.create_connection((where.hostname, where.port), timeout=20) as made:
            head = f"POST {PATH} HTTP/1.0\r\nHost: {where.netloc}\r\nContent-Length: {len(asked)}\r\n"
            made.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + asked)
            got = made.recv(65_536)
            assert b"200 OK" in got
            broken(monkeypatch)
            gate.free()
            with pytest.raises(ConnectionResetError):
                read_to_its_end(made)


def read_to_its_end(connection: socket.socket) -> None:
    while connection.recv(65_536):
        pass
