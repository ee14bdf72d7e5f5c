"""From drawn ids to deltas: cuts codec windows, runs the codec lane, and hands out samples in order and without gaps.

A request is known here from `add` to its last delta, also after it has left its slot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from engine.request import Delta, FinishReason, Request, Samples
from engine.tokens.codec_lane import CodecLane
from engine.tokens.codec_shapes import CodecJob
from engine.tokens.options import EngineOptions
from engine.tokens.program import Ids, TokenProgram
from engine.tokens.stats import TokenStats
from engine.tokens.windows import Window, WindowPlanner, WindowPolicy

PLACES_PER_SLOT = 2
"""Requests on their way out, those in slots included, for each slot: beyond, new ones wait for the codec."""
NOT_FINITE = "the codec gave samples that are not finite numbers; run the model in fp32 if it happens again"


@dataclass(slots=True)
class _Speech:
    """One request on its way out. `ids` are set when it has left its slot; `decoded` holds windows by first frame.

    `key` is its name in the codec lane: windows of a cancelled request must not be taken for those of a later one that
    has the same id. `place` is where a codec that remembers keeps what it knows of it.
    """

    request: Request
    key: str
    place: int
    ids: Ids | None = None
    finish: FinishReason | None = None
    frames: int | None = None
    next_frame: int = 0
    next_sample: int = 0
    decoded: dict[int, Samples] = field(default_factory=dict)


class Delivery:
    """The way out of all requests of one engine."""

    def __init__(
        self, program: TokenProgram, options: EngineOptions, policy: WindowPolicy, running_ids: Callable[[str], Ids]
    ) -> None:
        """`running_ids` gives the ids of a request that still sits in a slot."""
        self._program = program
        self._per_frame = program.tokens_per_frame
        self._planner = WindowPlanner(policy)
        places = PLACES_PER_SLOT * options.num_slots
        self._places = list(reversed(range(places)))
        self.codec = CodecLane(
            program.codec,
            program.device,
            max_batch=policy.max_batch,
            eager=options.eager,
            timed=options.timed,
            places=places,
        )
        self._running_ids = running_ids
        self._speeches: dict[str, _Speech] = {}
        self._by_key: dict[str, _Speech] = {}
        self._refused: set[str] = set()
        self._serial = 0
        self._deltas: list[Delta] = []
        self.codec_frames = 0
        self.audio_samples = 0

    def __len__(self) -> int:
        return len(self._speeches) + len(self._deltas)

    @property
    def room(self) -> int:
        """How many requests may be added now: those whose audio is not decoded yet have left their slots, not this."""
        return len(self._places)

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._speeches or request_id in self._refused

    def add(self, request: Request) -> None:
        """Take in a request that is about to draw ids; there must be room."""
        self._serial += 1
        speech = _Speech(request, f"{self._serial}", self._places.pop())
        self._speeches[request.request_id] = self._by_key[speech.key] = speech
        self._planner.add(speech.key, live=request.live)

    def refuse(self, request: Request, reason: str) -> None:
        """End a request that can never run; its delta comes with the next ones."""
        self._refused.add(request.request_id)
        self._deltas.append(Delta(request.request_id, _silence(), 0, FinishReason.ERROR, reason))

    def drop(self, request_id: str, finish: FinishReason, error: str | None = None) -> None:
        """End a request before its time; its windows under way are dropped. A refused one ends anyway."""
        if request_id in self._speeches:
            self._last(self._speeches[request_id], _silence(), finish, error)

    def due_tokens(self, request_id: str) -> int:
        """How many ids make the request's next window whole."""
        return self._planner.ready_at(self._speeches[request_id].key) * self._per_frame

    def advance(self, request_id: str, tokens: int) -> None:
        """So many ids of a request are there."""
        self._planner.advance(self._speeches[request_id].key, tokens // self._per_frame, ended=False)

    def end(self, request_id: str, ids: Ids, finish: FinishReason) -> None:
        """All ids of a request are there (without the stop id); ids that make no whole frame are dropped."""
        speech = self._speeches[request_id]
        speech.frames = len(ids) // self._per_frame
        speech.ids = ids[: speech.frames * self._per_frame].copy()
        speech.finish = finish
        self._planner.advance(speech.key, speech.frames, ended=True)
        if speech.next_frame == speech.frames:
            self._last(speech, _silence(), finish)

    def run(self, step: int, *, alone: bool) -> list[str]:
        """Send the windows that are due and take in those that are done; returns requests that failed in their slot.

        `alone`: nothing else is left to do, so windows wait for no company and the codec is waited for.
        """
        for group in self._planner.due(step, hurry=alone):
            self.codec.submit([self._job(window) for window in group])
            self.codec_frames += sum(window.stop - window.start for window in group)
        failed: list[str] = []
        for window, samples in self.codec.collect(wait=alone and self.codec.busy):
            speech = self._by_key.get(window.request_id)
            if speech is None:  # it was cancelled, or failed at another window
                continue
            speech.decoded[window.start] = samples
            if not self._hand_out(speech) and speech.frames is None:
                failed.append(speech.request.request_id)
        return failed

    def take(self) -> list[Delta]:
        """The deltas since the last call."""
        deltas, self._deltas = self._deltas, []
        self._refused.clear()
        self.audio_samples += sum(len(delta.samples) for delta in deltas)
        return deltas

    def count(self, stats: TokenStats) -> None:
        """Write the totals so far into `stats`."""
        stats.codec_launches, stats.codec_ms = self.codec.launches, self.codec.timings_ms
        stats.codec_frames, stats.audio_samples = self.codec_frames, self.audio_samples

    def _job(self, window: Window) -> CodecJob:
        speech = self._by_key[window.request_id]
        ids = self._running_ids(speech.request.request_id) if speech.ids is None else speech.ids
        start, stop = (window.start - window.left) * self._per_frame, (window.stop + window.right) * self._per_frame
        return CodecJob(window, self._program.frames(ids[start:stop]), speech.request.seed, speech.place)

    def _hand_out(self, speech: _Speech) -> bool:
        """Hand out what follows without a gap; False when the request had to be ended with an error."""
        while speech.next_frame in speech.decoded:
            samples = speech.decoded.pop(speech.next_frame)
            speech.next_frame += len(samples) // self._program.codec.samples_per_frame
            if not np.isfinite(samples).all():
                self._last(speech, _silence(), FinishReason.ERROR, NOT_FINITE)
                return False
            if speech.next_frame == speech.frames:
                assert speech.finish is not None, "set together with frames"  # noqa: S101  # our own bug if not
                self._last(speech, samples, speech.finish)
                return True
            self._deltas.append(Delta(speech.request.request_id, samples, speech.next_sample))
            speech.next_sample += len(samples)
        return True

    def _last(self, speech: _Speech, samples: Samples, finish: FinishReason, error: str | None = None) -> None:
        request_id = speech.request.request_id
        self._deltas.append(Delta(request_id, samples, speech.next_sample, finish, error))
        self._planner.remove(speech.key)
        # What the codec still does for it comes before anything it will do for the next owner of the place.
        self._places.append(speech.place)
        del self._speeches[request_id], self._by_key[speech.key]


def _silence() -> Samples:
    return np.zeros(0, np.float32)
