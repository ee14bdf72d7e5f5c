"""The items of a JSONL job: one file for each, in each format. Knows no queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from jobs import keys
from jobs.assembly.encode import EncodeSpec, Tags, encode
from jobs.assembly.join import run_blocks
from jobs.assembly.mastered import encode_mastered, target_of
from jobs.assembly.naming import provenance
from jobs.assembly.timeline import ItemTimeline, place_items
from jobs.mastering.settle import Run, Settling
from jobs.plan import SegmentPlan
from jobs.protocols import Store
from jobs.spec import AudioFormat, JobRecord, SegmentResult
from jobs.takes import Pcm


@dataclass(frozen=True, slots=True)
class _Item:
    """One item and its joined audio."""

    placed: ItemTimeline
    run: Run


def write_items(
    store: Store, record: JobRecord, segments: Sequence[SegmentPlan], results: Mapping[int, SegmentResult]
) -> list[str]:
    """Write the items of a run of segments and return the keys. Under a mastering profile they all get the gain that
    all items of their sample rate need as one run: what is loud among them stays louder.

    Raises:
        BadInput: an item has takes of several sample rates, or a format cannot hold it (BadOutput).
        StoreError: a take is missing or damaged, or the store refused.
        EncodeMismatch: a file does not decode to what went in.
        ValueError: a segment has no item id or is not finished.
    """
    items = [_Item(placed, _run(store, placed)) for placed in place_items(segments, results)]
    settlings = _settlings(record, items)
    return [key for item in items for key in _write_item(store, record, item, settlings)]


def item_formats(record: JobRecord) -> tuple[AudioFormat, ...]:
    """Formats of the files of items. m4b is for books: where nothing else is asked for they are flac."""
    others = tuple(entry for entry in record.spec.formats if entry is not AudioFormat.M4B)
    return others or (AudioFormat.FLAC,)


def _run(store: Store, item: ItemTimeline) -> Run:
    def blocks() -> Iterator[Pcm]:
        return run_blocks(store, item.placed, item.samples, item.sample_rate_hz)

    return Run(blocks, item.samples, item.sample_rate_hz)


def _settlings(record: JobRecord, items: Sequence[_Item]) -> dict[int, Settling]:
    """By sample rate: the measure of all items that have it. Empty for profile raw."""
    target = target_of(record.spec)
    if target is None:
        return {}
    runs: dict[int, list[Run]] = {}
    for item in items:
        runs.setdefault(item.run.sample_rate_hz, []).append(item.run)
    return {rate_hz: Settling(_joined(same, rate_hz), target) for rate_hz, same in runs.items()}


def _joined(runs: Sequence[Run], rate_hz: int) -> Run:
    def blocks() -> Iterator[Pcm]:
        return chain.from_iterable(run.blocks() for run in runs)

    return Run(blocks, sum(run.samples for run in runs), rate_hz)


def _write_item(store: Store, record: JobRecord, item: _Item, settlings: Mapping[int, Settling]) -> list[str]:
    spec, run, first = record.spec, item.run, item.placed.parts[0]
    comment = provenance(spec.model, first.voice or spec.voice)
    tags = Tags(title=item.placed.item, album=record.title, genre="Speech", comment=comment)
    settling = settlings.get(run.sample_rate_hz)
    written = []
    for audio_format in item_formats(record):
        key = keys.item_object(record.job, first.segment, item.placed.item, audio_format.value)
        encoding = EncodeSpec(audio_format, run.sample_rate_hz, run.samples, tags, profile=spec.mastering.profile)
        with store.writer(key) as path:
            if settling is None:
                encode(path, run.blocks(), encoding)
            else:
                encode_mastered(path, run, encoding, settling, tone=spec.mastering.room_tone)
        written.append(key)
    return written
