"""The token engine: requests in, deltas of audio out. Every step: admit -> prefill -> decode -> read -> codec -> emit.

    engine = TokenEngine(program, EngineOptions(num_slots=256))
    engine.add(request)                 # Request.inputs is a TokenInputs
    while not engine.idle:
        for delta in engine.step():
            ...

The device is kept one step ahead: a step launches its passes first and then reads what the step before drew, so a
request that drew its stop id is found one step late, and what was drawn after it is dropped. Pages for the whole budget
are reserved before a request starts: one that runs is never put off. Who is prefilled when (`scheduler`), where KV lies
(`pages`) and when the codec runs (`windows`) are decided by code that knows no device.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import DuplicateRequest, SlotsFull, UnknownRequest
from engine.request import Delta, FinishReason, Request
from engine.stages import Stages
from engine.tokens.codec_lane import window_policy
from engine.tokens.delivery import Delivery
from engine.tokens.inputs import TokenInputs
from engine.tokens.ledger import Ledger
from engine.tokens.options import EngineOptions
from engine.tokens.pages import Lease, PagePool
from engine.tokens.program import Ids, TokenProgram
from engine.tokens.runner import Entry, Launch, Runner
from engine.tokens.scheduler import Policy, Scheduler, batch_classes, smallest_class
from engine.tokens.stats import TokenStats, WarmReport
from engine.tokens.windows import WindowPolicy

PATIENCE_STEPS = 12
"""How long a freed slot may wait for company of its prefill pass: half of it, on average, of some 1,150 steps."""
NOTHING_TO_DRAW = "the model scored no id that may be drawn: its logits are not numbers; the weights may be damaged"


@dataclass(slots=True)
class _Seat:
    """A request in its slot, from `add` until its last id was read. It has pages once it is prefilled."""

    request: Request
    inputs: TokenInputs
    slot: int
    added_step: int
    lease: Lease | None = None


@dataclass(frozen=True, slots=True)
class _Pending:
    """A launch whose ids were not read yet; `timings_ms` is where its device time goes if it is measured."""

    launch: Launch
    step: int
    generations: npt.NDArray[np.int64]
    rows: int
    timings_ms: list[tuple[int, float]]


class TokenEngine:
    """Runs one token program over `options.num_slots` slots. Not thread-safe: one thread owns it."""

    def __init__(self, program: TokenProgram, options: EngineOptions, windows: WindowPolicy | None = None) -> None:
        self.program = program
        self.options = options
        slots = options.num_slots
        self._windows = windows or window_policy(program.codec)
        self._delivery = Delivery(program, options, self._windows, self._running_ids)
        self._runner = Runner(program, options)
        self._classes = (slots,) if options.deterministic else batch_classes(slots)
        self._pool = PagePool(self._runner.num_pages, options.page_size)
        self._scheduler = Scheduler(
            Policy(num_slots=slots, max_rows=self._runner.prefill_rows[-1], patience_steps=PATIENCE_STEPS)
        )
        self._ledger = Ledger(
            slots, max_tokens=self._runner.max_rows, stop_ids=program.grammar.stop_ids, depth=program.depth
        )
        self._seats: dict[str, _Seat] = {}
        self._seat_of: list[_Seat | None] = [None] * slots
        self._free = list(reversed(range(slots)))
        self._rows: list[int] = []
        """Slots that decode, in the order of their prefill: long rows first, so that attention starts them first."""
        self._pending: deque[_Pending] = deque()
        self._cancelled: set[str] = set()
        self._step = 0
        self._stats = TokenStats(slots, weight_bytes=program.weight_bytes, kv_bytes=self._runner.kv_bytes)
        self._stages = Stages(prefill=self._prefill, decode=self._decode, read=self._read, codec=self._decode_audio)
        self.stage_s = self._stages.seconds

    @property
    def num_slots(self) -> int:
        """How many requests draw ids at most."""
        return self.options.num_slots

    @property
    def free_slots(self) -> int:
        """How many requests may be added now; those whose last audio is still being decoded have left their slot."""
        return min(len(self._free), self._delivery.room)

    @property
    def idle(self) -> bool:
        """True when no request is left, in a slot or on its way out."""
        return not len(self._delivery)

    def stats(self) -> TokenStats:
        """Totals so far."""
        self._delivery.count(self._stats)
        return self._stats

    def warm(self) -> WarmReport:
        """Compile every kernel and record every graph now instead of at first use."""
        started_s = time.perf_counter()
        for size in reversed(self._classes):
            self._runner.decode_shape(size)
        for rows in reversed(self._runner.prefill_rows):
            self._runner.prefill_shape(rows)
        codec_graphs = self._delivery.codec.warm(self._windows.sizes)
        graphs = len(self._classes) + len(self._runner.prefill_rows) + codec_graphs
        return WarmReport(graphs=graphs, capture_s=time.perf_counter() - started_s)

    def add(self, request: Request) -> None:
        """Give a request a slot; it is prefilled at one of the next steps. One that can never run ends with ERROR.

        Raises:
            SlotsFull: no slot is free.
            DuplicateRequest: a request of that id is being worked on.
        """
        if request.request_id in self._delivery:
            msg = f"request {request.request_id!r} is being worked on already; wait for its end or give it its own id"
            raise DuplicateRequest(msg)
        if not self.free_slots:
            msg = f"all {self.num_slots} slots are taken; call step() until free_slots > 0"
            raise SlotsFull(msg)
        assert isinstance(request.inputs, TokenInputs), "the token lane takes TokenInputs"  # noqa: S101  # our own bug
        refusal = self._refusal(request.inputs)
        if refusal is not None:
            self._delivery.refuse(request, refusal)
            return
        seat = _Seat(request, request.inputs, self._free.pop(), self._step)
        self._seats[request.request_id] = self._seat_of[seat.slot] = seat
        self._scheduler.add(request.request_id, prompt_rows=len(request.inputs.ids), live=request.live)
        self._delivery.add(request)

    def cancel(self, request_id: str) -> None:
        """Drop a request: its last delta comes from the next step, empty, with CANCELLED.

        Raises:
            UnknownRequest: the request was never added or has ended.
        """
        if request_id not in self._delivery:
            msg = f"request {request_id!r} is not being worked on; it was never added or has ended"
            raise UnknownRequest(msg)
        self._cancelled.add(request_id)

    def step(self) -> list[Delta]:
        """One turn: launch this step's passes, read those of the step before, run the codec, hand out audio."""
        self._step += 1
        self._stats.steps += 1
        self._drop_cancelled()
        self._stages.run()
        deltas = self._delivery.take()
        self._stats.finished_requests += sum(delta.last for delta in deltas)
        return deltas

    def _refusal(self, inputs: TokenInputs) -> str | None:
        """Why a request can never run here, or None."""
        rows, most = len(inputs.ids), self._runner.prefill_rows[-1]
        if rows > most:
            return f"the prompt has {rows} rows, more than the {most} of one prefill pass; shorten text or voice prompt"
        needed, room = (
            inputs.rows_needed,
            min(self._runner.max_rows, (self._pool.num_pages - 1) * self.options.page_size),
        )
        if needed > room:
            return f"prompt and budget need {needed} rows of KV memory, a slot can have {room}; split the text"
        return None

    def _drop_cancelled(self) -> None:
        for request_id in sorted(self._cancelled):
            if request_id in self._seats:
                self._leave(self._seats[request_id])
            self._delivery.drop(request_id, FinishReason.CANCELLED)
        self._cancelled.clear()

    def _prefill(self) -> None:
        """Launch one pass for the prompts that the scheduler chooses for this step."""
        chosen = self._scheduler.prefill(self._step, active=len(self._rows), fits=self._reserve)
        if not chosen:
            return
        entries = [self._entry(self._seats[one.request_id]) for one in chosen]
        rows = sum(len(entry.ids) for entry in entries)
        launch = self._runner.prefill(entries)
        self._rows += [entry.slot for entry in entries]
        self._sent(launch, rows, self._stats.prefill_ms)
        self._stats.prefill_passes += 1
        self._stats.prefilled_requests += len(entries)
        self._stats.prefill_rows += rows

    def _reserve(self, request_id: str) -> int | None:
        """Reserve the pages of a request; how many of its prompt's rows are to be computed, or None: not now."""
        seat = self._seats[request_id]
        if seat.lease is None:
            seat.lease = self._pool.reserve(seat.inputs.ids, seat.inputs.shared_rows, seat.inputs.rows_needed)
        return None if seat.lease is None else len(seat.inputs.ids) - seat.lease.shared_rows

    def _entry(self, seat: _Seat) -> Entry:
        """Put a request with its pages into the books of its slot."""
        inputs, lease = seat.inputs, seat.lease
        assert lease is not None, "chosen requests have pages"  # noqa: S101  # our own bug if not
        self._runner.pages[seat.slot] = 0
        self._runner.pages[seat.slot, : len(lease.pages)] = lease.pages
        self._ledger.open(seat.slot, inputs, due_tokens=self._delivery.due_tokens(seat.request.request_id))
        self._stats.refill_wait_steps += self._step - seat.added_step - 1
        self._stats.shared_rows += lease.shared_rows
        return Entry(
            slot=seat.slot,
            ids=inputs.ids[lease.shared_rows :],
            start=lease.shared_rows,
            sampling=inputs.sampling,
            min_tokens=inputs.min_tokens,
            seed=seat.request.seed,
            follow=inputs.follow,
        )

    def _decode(self) -> None:
        """Launch the next id of every slot that has not asked for its whole budget."""
        slots, lengths = self._ledger.to_decode(self._rows)
        if not len(slots):
            return
        launch = self._runner.decode(slots, lengths, size=smallest_class(self._classes, len(slots)))
        self._sent(launch, len(slots), self._stats.decode_ms)
        self._stats.decode_steps += 1
        self._stats.decode_rows += len(slots)
        self._stats.decode_slots += self.num_slots

    def _sent(self, launch: Launch, rows: int, timings_ms: list[tuple[int, float]]) -> None:
        generations = self._ledger.asked(launch.slots)
        self._pending.append(_Pending(launch, self._step, generations, rows, timings_ms))

    def _read(self) -> None:
        """Read the launches of the steps before this one; also this one's when the next has nothing to launch."""
        ahead = bool(self._pending) and self._pending[-1].step == self._step
        while self._pending and (self._pending[0].step < self._step or not ahead):
            pending = self._pending.popleft()
            ids = pending.launch.ids()
            self._note(pending.launch.slots, ids, pending.generations)
            if self.options.timed:
                pending.timings_ms.append((pending.rows, pending.launch.begin.ms_until(pending.launch.end)))

    def _note(self, slots: Ids, ids: Ids, generations: npt.NDArray[np.int64]) -> None:
        noted = self._ledger.note(slots, ids, generations)
        self._stats.tokens += noted.kept
        for slot, finish in noted.ended:
            self._end(slot, finish)
        for slot in noted.whole:
            request_id = self._seat(slot).request.request_id
            self._delivery.advance(request_id, self._ledger.drawn(slot))
            self._ledger.due(slot, self._delivery.due_tokens(request_id))

    def _end(self, slot: int, finish: FinishReason) -> None:
        """A request has drawn its last id: it leaves the slot, its frames go on through the codec."""
        seat = self._seat(slot)
        request_id = seat.request.request_id
        if finish is FinishReason.ERROR:
            self._delivery.drop(request_id, finish, NOTHING_TO_DRAW)
        else:
            finish = seat.inputs.budget_finish if finish is FinishReason.BUDGET else finish
            self._delivery.end(request_id, self._ledger.ids(slot)[: self._ledger.drawn(slot)], finish)
        self._leave(seat)

    def _leave(self, seat: _Seat) -> None:
        """Give slot and pages back. What the device still draws for them is written before anybody rewrites it."""
        if seat.lease is not None:
            self._pool.release(seat.lease)
        if seat.slot in self._rows:
            self._rows.remove(seat.slot)
        else:
            self._scheduler.remove(seat.request.request_id)
        self._ledger.close(seat.slot)
        self._free.append(seat.slot)
        self._seat_of[seat.slot] = None
        del self._seats[seat.request.request_id]

    def _decode_audio(self) -> None:
        for request_id in self._delivery.run(self._step, alone=not self._seats and not self._pending):
            self._leave(self._seats[request_id])

    def _seat(self, slot: int) -> _Seat:
        seat = self._seat_of[slot]
        assert seat is not None, "ids of a slot that changed hands are dropped before"  # noqa: S101  # our own bug
        return seat

    def _running_ids(self, request_id: str) -> Ids:
        return self._ledger.ids(self._seats[request_id].slot)
