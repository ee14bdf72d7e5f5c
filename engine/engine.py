"""The utterance engine: requests in, deltas of audio out, one step at a time.

    engine = UtteranceEngine(program, num_slots=16)
    engine.add(request)
    while not engine.idle:
        for delta in engine.step():
            ...

Every request that was added ends with exactly one delta that carries a finish reason; its deltas come in order and
without gaps. What is encoded and decoded when is decided by `engine.scheduler`. Knows no text, queue or model.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from engine.errors import ProgramFault, is_lost_device
from engine.program import Latent, RequestRejected, UtteranceProgram
from engine.request import Delta, FinishReason, Request, Samples
from engine.scheduler import Policy, Scheduler, Window
from engine.slots import SlotTable

REQUEST_FAULTS = (MemoryError, RuntimeError, ArithmeticError, ValueError, LookupError, ProgramFault)
"""What a program raises on inputs it cannot run (torch reports memory and shapes as RuntimeError). The batch is tried
again in halves until the guilty request stands alone and ends with ERROR. Any other exception is a bug and passes."""

GOOD_ENDS = (FinishReason.STOP, FinishReason.BUDGET)
"""What a latent may say of its end; the other reasons are the engine's to give."""


@dataclass(frozen=True, slots=True)
class StepStats:
    """Totals since the engine was made. `busy_slot_steps` sums the taken slots over all steps."""

    num_slots: int
    steps: int = 0
    busy_slot_steps: int = 0
    encode_batches: int = 0
    encoded_requests: int = 0
    finished_requests: int = 0
    audio_samples: int = 0
    encode_s: float = 0.0
    decode_s: float = 0.0

    @property
    def slot_share(self) -> float:
        """Share of the slots that were taken, over all steps; 0.0 before the first."""
        return self.busy_slot_steps / (self.num_slots * self.steps) if self.steps else 0.0


@dataclass(slots=True)
class _Row:
    """What a slot holds: the request, its latent once there is one, and how many samples were handed out."""

    request: Request
    latent: Latent | None = None
    next_sample: int = 0


class UtteranceEngine:
    """Runs one utterance program over `num_slots` slots. Not thread-safe: one thread owns it."""

    def __init__(self, program: UtteranceProgram, *, num_slots: int = 16, max_encode_batch: int = 8) -> None:
        self.program = program
        self._slots: SlotTable[_Row] = SlotTable(num_slots)
        policy = Policy(program.first_chunk_frames, program.chunk_frames, max_encode_batch=max_encode_batch)
        self._scheduler = Scheduler(policy)
        self._cancelled: set[str] = set()
        self._stats = StepStats(num_slots)

    @property
    def num_slots(self) -> int:
        """How many requests the engine holds at most."""
        return self._slots.num_slots

    @property
    def free_slots(self) -> int:
        """How many requests may be added now."""
        return self._slots.num_free

    @property
    def idle(self) -> bool:
        """True when no slot is taken: `step` would do nothing."""
        return len(self._slots) == 0

    def stats(self) -> StepStats:
        """Totals so far."""
        return self._stats

    @property
    def stage_s(self) -> dict[str, float]:
        """Time in each stage since the engine was made, in s."""
        return {"encode": self._stats.encode_s, "decode": self._stats.decode_s}

    def add(self, request: Request) -> None:
        """Give a request a slot; the next step may already encode it.

        Raises:
            SlotsFull: no slot is free.
            DuplicateRequest: a request of that id sits in a slot.
        """
        self._slots.put(request.request_id, _Row(request))
        self._scheduler.add(request.request_id, group=request.group, length_hint=request.length_hint, live=request.live)

    def cancel(self, request_id: str) -> None:
        """Drop a request: its next and last delta comes from the next step, empty, with CANCELLED.

        Raises:
            UnknownRequest: the request was never added or has ended.
        """
        self._slots.get(request_id)
        self._cancelled.add(request_id)

    def step(self) -> list[Delta]:
        """Drop what was cancelled, encode at most one batch, decode at most one window, hand out what came of it."""
        busy_slots = self.num_slots - self.free_slots
        deltas = self._drop_cancelled()
        deltas += self._encode(self._scheduler.encode_batch())
        deltas += self._decode(self._scheduler.next_window())
        return self._emit(deltas, busy_slots)

    def _drop_cancelled(self) -> list[Delta]:
        dropped = [self._end(request_id, FinishReason.CANCELLED) for request_id in sorted(self._cancelled)]
        self._cancelled.clear()
        return dropped

    def _encode(self, batch: list[str]) -> list[Delta]:
        """Encode a batch; a request that fails ends, the others of its batch wait for the next step."""
        if not batch:
            return []
        started_s = time.perf_counter()
        try:
            latents = self._run_encode([self._slots.get(request_id).request for request_id in batch])
        except RequestRejected as rejection:
            return [self._end(batch[rejection.index], FinishReason.ERROR, rejection.reason)]
        except REQUEST_FAULTS as fault:
            if is_lost_device(fault):
                raise
            if len(batch) > 1:
                self._scheduler.encode_failed(len(batch))
                return []
            return [self._end(batch[0], FinishReason.ERROR, _reason(fault, "encoding it alone"))]
        finally:
            self._stats = replace(self._stats, encode_s=self._stats.encode_s + time.perf_counter() - started_s)
        self._keep(dict(zip(batch, latents, strict=True)))
        return []

    def _keep(self, latents: dict[str, Latent]) -> None:
        for request_id, latent in latents.items():
            self._slots.get(request_id).latent = latent
        self._scheduler.encoded({request_id: latent.num_frames for request_id, latent in latents.items()})
        self._stats = replace(
            self._stats,
            encode_batches=self._stats.encode_batches + 1,
            encoded_requests=self._stats.encoded_requests + len(latents),
        )

    def _run_encode(self, requests: list[Request]) -> list[Latent]:
        """One latent per request, checked. Raises what the program raises, and ProgramFault."""
        try:
            latents = self.program.encode(requests)
        except RequestRejected as rejection:
            if not 0 <= rejection.index < len(requests):
                msg = f"encode rejected request {rejection.index} of a batch of {len(requests)}: {rejection.reason}"
                raise ProgramFault(msg) from rejection
            raise
        if len(latents) != len(requests):
            msg = f"encode gave {len(latents)} latents for a batch of {len(requests)}; it must give one per request"
            raise ProgramFault(msg)
        for latent in latents:
            if latent.num_frames < 1 or latent.finish not in GOOD_ENDS:
                msg = f"encode gave num_frames={latent.num_frames}, finish={latent.finish}; want >= 1, stop or budget"
                raise ProgramFault(msg)
            places = [place for word in latent.words for place in word]
            if places != sorted(places) or not all(0 <= place <= latent.num_frames for place in places):
                msg = f"encode gave words that do not follow each other in {latent.num_frames} frames: {latent.words}"
                raise ProgramFault(msg)
        return latents

    def _decode(self, window: Window | None) -> list[Delta]:
        """Decode a window; the last one of a request ends it as its latent says."""
        if window is None:
            return []
        row = self._slots.get(window.request_id)
        assert row.latent is not None, "the scheduler decodes only what was encoded"  # noqa: S101  # our bug if not
        frames = f"decoding frames {window.start_frame} to {window.stop_frame}"
        started_s = time.perf_counter()
        try:
            samples = self._run_decode(row.latent, window)
        except RequestRejected as rejection:
            return [self._end(window.request_id, FinishReason.ERROR, rejection.reason)]
        except REQUEST_FAULTS as fault:
            if is_lost_device(fault):
                raise
            return [self._end(window.request_id, FinishReason.ERROR, _reason(fault, frames))]
        finally:
            self._stats = replace(self._stats, decode_s=self._stats.decode_s + time.perf_counter() - started_s)
        start_sample, row.next_sample = row.next_sample, row.next_sample + len(samples)
        if not self._scheduler.decoded(window):
            return [Delta(window.request_id, samples, start_sample)]
        hop = self.program.hop_samples
        words = tuple((start * hop, end * hop) for start, end in row.latent.words)
        return [Delta(window.request_id, samples, start_sample, row.latent.finish, words=words)]

    def _run_decode(self, latent: Latent, window: Window) -> Samples:
        """The samples of a window, checked and owned by nobody else. Raises what the program raises, ProgramFault."""
        samples = self.program.decode(latent, window.start_frame, window.stop_frame)
        want = ((window.stop_frame - window.start_frame) * self.program.hop_samples,)
        if samples.shape != want or samples.dtype != np.float32:
            msg = f"decode gave {samples.dtype} samples of shape {samples.shape}; it must give float32 of shape {want}"
            raise ProgramFault(msg)
        if not np.isfinite(samples).all():
            msg = f"decode gave {np.count_nonzero(~np.isfinite(samples))} samples that are not finite"
            raise ProgramFault(msg)
        return samples.copy()  # a program may hand out its own buffer; the receiver may keep what it gets

    def _end(self, request_id: str, finish: FinishReason, error: str | None = None) -> Delta:
        """The last, empty delta of a request that ends early; its slot is given back when the delta is emitted."""
        self._scheduler.remove(request_id)
        return Delta(request_id, np.zeros(0, np.float32), self._slots.get(request_id).next_sample, finish, error)

    def _emit(self, deltas: list[Delta], busy_slots: int) -> list[Delta]:
        """Give back the slots of those that ended and count."""
        ended = [delta.request_id for delta in deltas if delta.last]
        for request_id in ended:
            self._slots.free(request_id)
        self._stats = replace(
            self._stats,
            steps=self._stats.steps + 1,
            busy_slot_steps=self._stats.busy_slot_steps + busy_slots,
            finished_requests=self._stats.finished_requests + len(ended),
            audio_samples=self._stats.audio_samples + sum(len(delta.samples) for delta in deltas),
        )
        return deltas


def _reason(fault: Exception, doing: str) -> str:
    return f"{type(fault).__name__} while {doing}: {str(fault) or 'the program gave no text'}"
