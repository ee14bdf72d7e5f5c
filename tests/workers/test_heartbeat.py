"""The heartbeat alone: how often it beats, what it hears, when it is silent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from jobs.errors import BrokerUnavailable, Fenced
from jobs.figures import Figures
from jobs.protocols import Beat
from tests.workers.making import until
from workers import heartbeat as heartbeat_module
from workers.hand import Hand
from workers.heartbeat import BEAT_S, SPEECH_BEAT_S, Heartbeat

BEAT = Beat(slots_busy=1, segments_done=2, audio_s=3.0)


class Listening:
    """Stands for the truth: counts beats and says what it is told to say."""

    def __init__(self) -> None:
        self.beats: list[tuple[str, Beat]] = []
        self.over: frozenset[str] = frozenset()
        self.error: Exception | None = None
        self.held: frozenset[str] = frozenset()
        self.looks = 0
        self.returned: list[str] = []

    def holding(self, worker: str) -> frozenset[str]:
        assert worker == "w"
        self.looks += 1
        if self.error is not None:
            raise self.error
        return self.held - set(self.returned)

    def give_back(self, _worker: str, refs: list[str]) -> int:
        self.returned += refs
        return len(refs)

    def beat(self, worker: str, beat: Beat) -> frozenset[str]:
        self.beats.append((worker, beat))
        if self.error is not None:
            raise self.error
        return self.over


def told(truth: Listening) -> Any:
    """A context whose truth it is."""
    return SimpleNamespace(truth=truth, figures=Figures())


class Ticks:
    """Stands for the time between two looks: each wait ends at once and is counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 0.0
        self.waits: list[float] = []
        self._paused = threading.Event()
        monkeypatch.setattr(heartbeat_module.time, "monotonic", lambda: self.now_s)

    def wait(self, seconds: float) -> bool:
        """As `Event.wait`, on this clock; the thread is never told to stop."""
        self.waits.append(seconds)
        self.now_s += seconds
        return False


def beats_in(
    seconds: float, truth: Listening, monkeypatch: pytest.MonkeyPatch, *, speech_s: tuple[float, float] = (1e9, 1e9)
) -> list[float]:
    """When a heartbeat beats in so many seconds of a clock that runs by its waits alone."""
    ticks = Ticks(monkeypatch)
    times: list[float] = []

    class End(Exception):
        """The time is over."""

    def pulse() -> Beat:
        times.append(round(ticks.now_s, 6))
        return BEAT

    def holds_speech() -> bool:
        if ticks.now_s > seconds:
            raise End
        return speech_s[0] <= ticks.now_s < speech_s[1]

    made: Any = Heartbeat(told(truth), "w", Hand(), pulse=pulse, holds_speech=holds_speech)
    made._ended = ticks  # type: ignore[assignment]
    ticks.is_set = lambda: False  # type: ignore[attr-defined]
    with pytest.raises(End):
        made._run()
    return times


@contextmanager
def beating(truth: Any, **options: Any) -> Iterator[Heartbeat]:
    made = Heartbeat(told(truth), "w", Hand(), **{"pulse": lambda: BEAT, "holds_speech": lambda: True, **options})
    made.thread.start()
    yield made
    made.stop()
    assert not made.thread.is_alive()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat_module, "SPEECH_BEAT_S", 0.002)


def test_it_beats_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat_module, "SPEECH_BEAT_S", 0.25)  # a sum of these is exact
    truth = Listening()
    times = beats_in(10, truth, monkeypatch)
    assert times == [BEAT_S * count for count in range(1, 11)]
    assert truth.beats == [("w", BEAT)] * 10


def test_with_speech_it_beats_at_every_look(monkeypatch: pytest.MonkeyPatch) -> None:
    times = beats_in(3.9, Listening(), monkeypatch, speech_s=(1.3, 1e9))
    assert times == pytest.approx([1.0, *(1.4 + SPEECH_BEAT_S * count for count in range(13))])
    assert SPEECH_BEAT_S <= 0.25  # who hung up frees the slot within a second, whatever step is under way


def test_that_the_last_speech_is_gone_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    times = beats_in(2.9, Listening(), monkeypatch, speech_s=(1.1, 1.5))
    assert times == pytest.approx([1.0, 1.2, 1.4, 1.6, 2.6])


@pytest.mark.usefixtures("quick")
def test_what_is_over_is_heard_once() -> None:
    truth = Listening()
    truth.over = frozenset({"a", "b"})
    with beating(truth) as heart:
        until(lambda: len(truth.beats) > 2, "it beats")
        truth.over = frozenset()
        count = len(truth.beats)
        until(lambda: len(truth.beats) > count + 1, "it beats again")
        assert heart.heard() == {"a", "b"}
        assert heart.heard() == frozenset()


@pytest.mark.usefixtures("quick")
def test_it_is_silent_while_the_step_loop_stands_still() -> None:
    truth, asked = Listening(), list[int]()

    def pulse() -> None:
        asked.append(1)

    with beating(truth, pulse=pulse):
        until(lambda: len(asked) > 3, "it was asked")
    assert truth.beats == []


@pytest.mark.usefixtures("quick")
def test_a_lost_broker_delays_only() -> None:
    truth = Listening()
    truth.error = BrokerUnavailable("away")
    with beating(truth) as heart:
        until(lambda: len(truth.beats) > 2, "it tries")
        truth.error, truth.over = None, frozenset({"a"})
        until(heart.heard, "it hears again")
        assert not heart.fenced.is_set()


@pytest.mark.usefixtures("quick")
def test_a_fenced_one_says_so_and_ends() -> None:
    truth = Listening()
    truth.error = Fenced("gone")
    with beating(truth) as heart:
        until(heart.fenced.is_set, "it is told")
        until(lambda: not heart.thread.is_alive(), "it ends")
    assert len(truth.beats) == 1


def test_one_that_never_began_can_be_stopped() -> None:
    Heartbeat(told(Listening()), "w", Hand(), pulse=lambda: BEAT, holds_speech=lambda: False).stop()


@pytest.mark.usefixtures("quick")
def test_what_the_truth_says_is_here_and_is_not_is_given_back_at_the_second_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heartbeat_module, "COMPARE_S", 0.01)
    truth = Listening()
    truth.held = frozenset({"a|1", "a|2", "a|3"})
    context, hand = told(truth), Hand()
    hand.took(["a|1", "a|2", "a|3"])
    heart = Heartbeat(context, "w", hand, pulse=lambda: BEAT, holds_speech=lambda: True)
    heart.thread.start()
    until(lambda: truth.looks > 4, "it compares")
    assert truth.returned == []
    hand.left(["a|1", "a|3"])
    until(lambda: truth.returned, "what is not here is given back")
    looks = truth.looks
    until(lambda: truth.looks > looks + 3, "it goes on")
    heart.stop()
    assert truth.returned == ["a|1", "a|3"]
    assert context.figures.read()["errors:forgotten"] == 2


@pytest.mark.usefixtures("quick")
def test_while_the_broker_is_away_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat_module, "COMPARE_S", 0.01)
    truth = Listening()
    truth.error = BrokerUnavailable("away")
    with beating(truth) as heart:
        until(lambda: truth.looks > 3, "it tries")
        assert not heart.fenced.is_set()
    assert truth.returned == []
