"""Runs the steps of one token program on its device: prefill passes and decode steps of fixed shapes.

A `Launch` is work that the device does by itself; its ids are read later (`Launch.ids`). The runner knows slots and
rows, no requests: who sits in a slot and what is run when is the engine's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from engine.attention.base import HostBatch, PagedKv, Rows
from engine.attention.choose import make_attention
from engine.tokens.arena import Arena
from engine.tokens.drawing import Drawing
from engine.tokens.graphs import Mark, Replay, Track
from engine.tokens.inputs import Sampling
from engine.tokens.options import EngineOptions
from engine.tokens.program import TokenProgram, row_columns
from engine.tokens.scheduler import bucket_for, entries_of, row_buckets
from engine.tokens.state import FLOATS, INTS, SlotState

Ints = npt.NDArray[np.int32]

NEUTRAL = [{"top_p": 1.0, "penalty": 1.0}.get(name, 0.0) for name in FLOATS]
"""`SlotState.floats` of padding entries: greedy, nothing filtered."""
FIXED_ROWS = 512
"""The one row bucket of deterministic engines, and so their longest prompt: a pass takes twice as long as 64 rows."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One pass that was sent to the device: the slot of each row that draws, and where the drawn ids will lie.

    With a depth they are frames of ids.
    """

    slots: Ints
    drawn: Ints
    begin: Mark
    end: Mark

    def ids(self) -> Ints:
        """The ids drawn, one for each of `slots`; waits until the device has made them."""
        self.end.wait()
        return self.drawn[: len(self.slots)]


@dataclass(frozen=True, slots=True)
class Entry:
    """One prompt of a prefill pass: rows `ids` from position `start` on (what stands before is shared KV)."""

    slot: int
    ids: Sequence[int] | Sequence[Sequence[int]]
    start: int
    sampling: Sampling
    min_tokens: int
    seed: int
    follow: Sequence[int] = ()


class Runner:
    """Device state and step shapes of one program.

    Made after whatever else needs memory, as a codec that remembers: KV takes a share of what is free then.
    """

    def __init__(self, program: TokenProgram, options: EngineOptions) -> None:
        self.program = program
        self.options = options
        self.track = Track.make(program.device, eager=options.eager, priority=-1)
        self.max_rows = min(options.max_tokens, program.max_positions)
        pages_per_slot = -(-self.max_rows // options.page_size)
        self.num_pages = _affordable_pages(program, options, most=options.num_slots * pages_per_slot)
        self.pages = np.zeros((options.num_slots + 1, pages_per_slot), np.int32)
        """Page tables as the host knows them; the engine fills a row before the prefill of its slot."""
        with self.track.current():
            self.kv = PagedKv.zeros(
                program.kv, num_pages=self.num_pages, page_size=options.page_size, device=program.device
            )
            self.state = SlotState.zeros(
                slots=options.num_slots,
                max_tokens=self.max_rows,
                vocab=program.grammar.vocab,
                max_pages=pages_per_slot,
                device=program.device,
                depth=program.depth,
            )
            self.attention = make_attention(
                options.attention, self.kv, self.state.pages, deterministic=options.deterministic
            )
            self.drawing = Drawing(program, self.state)
        self._decodes: dict[int, DecodeShape] = {}
        self._prefills: dict[int, PrefillShape] = {}
        most_rows = min(options.max_rows, self.max_rows)
        self.prefill_rows = (min(FIXED_ROWS, most_rows),) if options.deterministic else row_buckets(most_rows)
        """Row buckets of prefill passes; a prompt fits into the last."""

    @property
    def kv_bytes(self) -> int:
        """Bytes of KV memory."""
        return self.kv.data.numel() * self.kv.data.element_size()

    def decode(self, slots: Ints, lengths: Ints, *, size: int) -> Launch:
        """Draw the next id of each slot, padded to `size` rows. `lengths`: rows in each KV once this row is kept."""
        shape = self.decode_shape(size)
        with self.track.current():
            return shape.launch(slots, lengths)

    def prefill(self, entries: Sequence[Entry]) -> Launch:
        """Keep the prompts' rows and draw the first id of each, padded to the smallest row bucket they fit into."""
        rows = sum(len(entry.ids) for entry in entries)
        shape = self.prefill_shape(bucket_for(self.prefill_rows, rows=rows, entries=len(entries)))
        with self.track.current():
            return shape.launch(entries)

    def decode_shape(self, size: int) -> DecodeShape:
        """The decode step of that many rows; captured when it is made."""
        if size not in self._decodes:
            with self.track.current():
                self._decodes[size] = DecodeShape(self, size)
        return self._decodes[size]

    def prefill_shape(self, rows: int) -> PrefillShape:
        """The prefill pass of that many rows; captured when it is made."""
        if rows not in self._prefills:
            with self.track.current():
                self._prefills[rows] = PrefillShape(self, rows)
        return self._prefills[rows]


class DecodeShape:
    """One row for each slot: the id drawn last goes in, the next one comes out, all of it on the device."""

    def __init__(self, runner: Runner, size: int) -> None:
        self._runner = runner
        device, self._dummy = runner.program.device, runner.options.num_slots
        self._inputs = Arena({"slots": ((size,), np.int32)}, device)
        self._outputs = Arena({"ids": (runner.drawing.shape(size), np.int32)}, device)
        self._rows = Rows(self._inputs.fields["slots"], torch.zeros(size, dtype=torch.int32, device=device))
        self._attention = runner.attention.for_step(self._rows, entries=size)
        self._row_counts = np.ones(size, np.int32)
        self._send(np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._replay = Replay(self._body, runner.track)

    def launch(self, slots: Ints, lengths: Ints) -> Launch:
        """One step on the current stream; the other rows do harmless work on the dummy slot."""
        track, timed = self._runner.track, self._runner.options.timed
        self._send(slots, lengths)
        begin = Mark(track, timed=timed)
        self._replay.run()
        drawn = self._outputs.download()["ids"]
        return Launch(slots, drawn, begin, Mark(track, timed=timed))

    def _send(self, slots: Ints, lengths: Ints) -> None:
        staged = self._inputs.stage()["slots"]
        staged[: len(slots)] = slots
        staged[len(slots) :] = self._dummy
        all_lengths = np.ones(len(staged), np.int32)
        all_lengths[: len(slots)] = lengths
        self._attention.plan(HostBatch(staged, self._row_counts, all_lengths, self._runner.pages))
        self._inputs.upload()

    def _body(self) -> None:
        program, state, slots = self._runner.program, self._runner.state, self._rows.slots
        index = slots.long()
        self._rows.positions.copy_(state.length.index_select(0, index))
        rows = program.embed(self._runner.drawing.last_rows(index))
        hidden = program.backbone(rows, self._rows.positions, self._attention)
        self._outputs.fields["ids"].copy_(self._runner.drawing.draw(hidden, slots))
        state.length.index_copy_(0, index, self._rows.positions + 1)
        _reset_dummy(state)


class PrefillShape:
    """Packed rows of several prompts; the head looks only at the last row of each."""

    def __init__(self, runner: Runner, rows: int) -> None:
        self._runner = runner
        device, self._dummy = runner.program.device, runner.options.num_slots
        self._entries = entries_of(rows)
        entries, pages, columns = self._entries, runner.pages.shape[1], row_columns(runner.program)
        self._inputs = Arena(
            {
                "ids": ((rows,) if columns is None else (rows, columns), np.int64),
                "slots": ((rows,), np.int32),
                "positions": ((rows,), np.int32),
                "last_rows": ((entries,), np.int64),
                "entry_slots": ((entries,), np.int32),
                "lengths": ((entries,), np.int32),
                "floats": ((entries, len(FLOATS)), np.float32),
                "ints": ((entries, len(INTS)), np.int32),
                "pages": ((entries, pages), np.int32),
                "follow": ((entries, runner.state.follow.shape[1]), np.int32),
            },
            device,
        )
        self._outputs = Arena({"ids": (runner.drawing.shape(entries), np.int32)}, device)
        fields = self._inputs.fields
        self._attention = runner.attention.for_step(Rows(fields["slots"], fields["positions"]), entries=entries + 1)
        self._send(())
        self._replay = Replay(self._body, runner.track)

    def launch(self, entries: Sequence[Entry]) -> Launch:
        """One pass on the current stream."""
        track, timed = self._runner.track, self._runner.options.timed
        self._send(entries)
        begin = Mark(track, timed=timed)
        self._replay.run()
        drawn = self._outputs.download()["ids"]
        slots = np.array([entry.slot for entry in entries], np.int32)
        return Launch(slots, drawn, begin, Mark(track, timed=timed))

    def _send(self, entries: Sequence[Entry]) -> None:
        staged = self._inputs.stage()
        for name, field in staged.items():
            field.fill(self._dummy if name in {"slots", "entry_slots"} else 0)
        row_counts = np.zeros(self._entries + 1, np.int32)
        stop = 0
        for place, entry in enumerate(entries):
            start, stop = stop, stop + len(entry.ids)
            row_counts[place] = len(entry.ids)
            staged["ids"][start:stop] = entry.ids
            staged["slots"][start:stop] = entry.slot
            staged["positions"][start:stop] = np.arange(entry.start, entry.start + len(entry.ids))
            staged["last_rows"][place] = stop - 1
            staged["entry_slots"][place] = entry.slot
            staged["lengths"][place] = entry.start + len(entry.ids)
            staged["floats"][place] = [getattr(entry.sampling, name) for name in FLOATS]
            staged["ints"][place] = _int_columns(entry)
            staged["pages"][place] = self._runner.pages[entry.slot]
            staged["follow"][place, : len(entry.follow)] = entry.follow
            staged["follow"][place, len(entry.follow) :] = entry.follow[-1] if entry.follow else -1
        staged["floats"][len(entries) :] = NEUTRAL
        self._plan(staged["entry_slots"], row_counts, staged["lengths"])
        self._inputs.upload()

    def _plan(self, entry_slots: Ints, row_counts: Ints, lengths: Ints) -> None:
        """What is left of the bucket is one more run of rows on the dummy slot, all at position 0."""
        rows = len(self._inputs.fields["ids"])
        slots = np.append(entry_slots, np.int32(self._dummy))
        row_counts[-1] = rows - row_counts.sum()
        kv_lengths = np.maximum(np.append(lengths, np.int32(1)), 1).astype(np.int32)
        self._attention.plan(HostBatch(slots, row_counts, kv_lengths, self._runner.pages))

    def _body(self) -> None:
        program, state, fields = self._runner.program, self._runner.state, self._inputs.fields
        index = fields["entry_slots"].long()
        state.pages.index_copy_(0, index, fields["pages"])
        state.floats.index_copy_(0, index, fields["floats"])
        state.ints.index_copy_(0, index, fields["ints"])
        state.length.index_copy_(0, index, fields["lengths"])
        if program.depth is not None:
            state.follow.index_copy_(0, index, fields["follow"])
        state.drawn.index_fill_(0, index, 0)
        state.counts.index_fill_(0, index, 0)
        hidden = program.backbone(program.embed(fields["ids"]), fields["positions"], self._attention)
        last = hidden.index_select(0, fields["last_rows"])
        self._outputs.fields["ids"].copy_(self._runner.drawing.draw(last, fields["entry_slots"]))
        _reset_dummy(state)


def _int_columns(entry: Entry) -> list[int]:
    low, high = (
        int(np.uint32(half).view(np.int32)) for half in (entry.seed & 0xFFFFFFFF, (entry.seed >> 32) & 0xFFFFFFFF)
    )
    own = {"min_tokens": entry.min_tokens, "seed_low": low, "seed_high": high}
    return [own[name] if name in own else getattr(entry.sampling, name) for name in INTS]


def _reset_dummy(state: SlotState) -> None:
    """Padding rows count on the dummy slot as well; without this its position would leave its page table."""
    for counter in (state.length, state.drawn):
        counter[-1:].zero_()


def _affordable_pages(program: TokenProgram, options: EngineOptions, *, most: int) -> int:
    """How many pages KV memory gets: `most` and the scratch page, or what the share of the free memory holds."""
    if program.device.type != "cuda":
        return most + 1
    free_bytes, _ = torch.cuda.mem_get_info(program.device)
    page_bytes = program.kv.bytes_per_row * options.page_size
    pages = min(most + 1, int(free_bytes * options.memory_share) // page_bytes)
    if pages < 2:  # the scratch page and one to work with
        msg = (
            f"{free_bytes / 1e9:.1f} GB of device memory are free and a KV page takes {page_bytes / 1e6:.1f} MB: "
            "free memory on the device or choose a smaller model"
        )
        raise MemoryError(msg)
    return pages
