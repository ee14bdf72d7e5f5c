"""The pump: pieces in order, places given back whatever happens, generators stopped with their reader."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator

import pytest

from cli.api.errors import ApiError
from cli.api.pump import AHEAD, Pump
from jobs.errors import JobsError


def counting(number: int):
    return lambda _stopped: iter(range(number))


async def until(condition) -> None:
    """Wait for a thread; fails by the test's own time limit."""
    while not condition():
        await asyncio.sleep(0.005)


@pytest.fixture
def pump() -> Iterator[Pump]:
    made = Pump(2)
    yield made
    made.close()


def test_all_pieces_come_in_order(pump: Pump):
    async def read() -> list[int]:
        return [piece async for piece in pump.run(counting(500))]

    assert asyncio.run(read()) == list(range(500))
    assert pump.running == 0


def test_an_error_comes_out_after_the_pieces_before_it(pump: Pump):
    def failing(_stopped) -> Iterator[int]:
        yield 1
        msg = "broke off"
        raise ValueError(msg)

    async def read() -> None:
        pieces = pump.run(failing)
        assert await anext(pieces) == 1
        with pytest.raises(ValueError, match="broke off"):
            await anext(pieces)

    asyncio.run(read())
    assert pump.running == 0


def test_over_the_limit_it_is_refused_and_a_place_that_is_free_again_is_taken(pump: Pump):
    async def read() -> None:
        free = threading.Event()

        def waiting(stopped) -> Iterator[int]:
            yield 0
            while not (stopped() or free.wait(0.01)):
                pass

        first, second = pump.run(waiting), pump.run(waiting)
        assert [await anext(first), await anext(second)] == [0, 0]
        with pytest.raises(ApiError) as refused:
            pump.run(counting(1))
        assert (refused.value.status, refused.value.body.code) == (503, "too_many_streams")
        assert refused.value.headers["Retry-After"].isdecimal()
        free.set()
        assert [piece async for piece in first] == []
        assert [piece async for piece in pump.run(counting(3))] == [0, 1, 2]
        await second.aclose()
        await until(lambda: pump.running == 0)

    asyncio.run(read())


def test_a_reader_that_goes_away_stops_the_generator(pump: Pump):
    async def read() -> None:
        ended = threading.Event()

        def endless(stopped) -> Iterator[int]:
            try:
                while not stopped():
                    yield 0
            finally:
                ended.set()

        pieces = pump.run(endless)
        await anext(pieces)
        await pieces.aclose()
        await until(ended.is_set)
        await until(lambda: pump.running == 0)

    asyncio.run(read())


def test_a_reader_that_is_cancelled_stops_a_generator_that_fails_afterwards(
    pump: Pump, caplog: pytest.LogCaptureFixture
):
    async def read() -> None:
        def endless(stopped) -> Iterator[int]:
            yield 0
            while not stopped():
                threading.Event().wait(0.001)
            msg = "nobody hears this"
            raise ValueError(msg)

        async def reader() -> None:
            async for _ in pump.run(endless):
                pass

        task = asyncio.create_task(reader())
        await until(lambda: pump.running == 1)
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: pump.running == 0)
        gc.collect()

    asyncio.run(read())
    assert caplog.records == []


def test_whoever_never_reads_keeps_no_place(pump: Pump):
    async def read() -> None:
        for _ in range(10):
            pump.run(counting(1))
        gc.collect()
        await until(lambda: pump.running == 0)
        assert [piece async for piece in pump.run(counting(2))] == [0, 1]

    asyncio.run(read())


def test_a_slow_reader_is_not_run_away_from(pump: Pump):
    async def read() -> None:
        made = []

        def eager(_stopped) -> Iterator[int]:
            for number in range(1000):
                made.append(number)
                yield number

        pieces = pump.run(eager)
        await anext(pieces)
        await until(lambda: len(made) >= AHEAD)
        await asyncio.sleep(0.05)
        assert len(made) <= AHEAD + 3
        assert [piece async for piece in pieces] == list(range(1, 1000))

    asyncio.run(read())


def test_a_reader_that_leaves_before_a_thread_was_free_leaves_its_place():
    async def read() -> None:
        pump, free = Pump(1), threading.Event()
        pump._threads.submit(free.wait)  # a thread that has left its place and has not ended yet
        try:
            task = asyncio.create_task(anext(pump.run(counting(1))))
            await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            gc.collect()
            await until(lambda: pump.running == 0)
        finally:
            free.set()
        assert [piece async for piece in pump.run(counting(2))] == [0, 1]
        pump.close()

    asyncio.run(read())


def test_a_reader_that_stands_still_gives_way_when_others_come(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("cli.api.pump.STALL_S", 0.1)

    async def read() -> None:
        pump, ended = Pump(2), threading.Event()

        def endless(_stopped) -> Iterator[int]:
            try:
                while True:
                    yield 0
            finally:
                ended.set()

        def waiting(stopped) -> Iterator[int]:
            yield 0
            while not (stopped() or ended.wait(0.01)):
                pass
            yield 1

        still, patient = pump.run(endless), pump.run(waiting)
        assert [await anext(still), await anext(patient)] == [0, 0]
        await asyncio.sleep(0.3)
        assert pump.running == 2, "as long as nobody else comes it may take its time"
        with pytest.raises(ApiError):
            pump.run(counting(1))
        await until(ended.is_set)
        await until(lambda: pump.running < 2)
        assert [piece async for piece in pump.run(counting(2))] == [0, 1]
        assert [piece async for piece in patient] == [1], "who waits for its generator does not stand still"
        with pytest.raises(JobsError, match="read nothing for"):
            [piece async for piece in still]
        pump.close()

    asyncio.run(read())
