"""Put the utterances of finished jobs into a dataset: audio first, then the ledger, then the index files.

export = Export(place, terms)
export.add(source, selection, export.survey(source, selection))
info = export.finish()

Killed at any moment and run again, it ends with the same bytes: audio files and shards appear whole or not at all, a
part of the ledger is written when the audio it names is there, and everything else is made from the ledger. What a
dataset holds is never rewritten: a second job is appended, an utterance that is there already is passed over, one of
the same id with other audio is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from jobs import keys
from jobs.datasets.audio import clip_bytes
from jobs.datasets.card import card_text
from jobs.datasets.entries import Entry, Ledger
from jobs.datasets.indexes import write_indexes
from jobs.datasets.info import DatasetInfo, FileInfo, Tally, read_info, source_info, write_info
from jobs.datasets.layouts import LAYOUTS, View
from jobs.datasets.manifest import Utterance
from jobs.datasets.selecting import LeftOut, Selection
from jobs.datasets.writing import AudioWriter, Place, Terms
from jobs.errors import BadOutput
from jobs.protocols import Store
from jobs.spec import JobRecord

Progress = Callable[[int, int], None]
"""Told how many utterances are in the dataset, of how many that will be."""


@dataclass(frozen=True, slots=True)
class Source:
    """A finished job: its store, its record, and its manifest, to be read as often as needed."""

    store: Store
    record: JobRecord
    utterances: Callable[[], Iterable[Utterance]]


@dataclass(frozen=True, slots=True)
class Added:
    """What became of one job: utterances that were written now, that were there already, and that stayed out."""

    job: str
    written: int
    known: int
    left_out: tuple[LeftOut, ...]

    @property
    def left_out_counts(self) -> dict[str, int]:
        """How many stayed out for each reason."""
        return _counts(self.left_out)

    @property
    def left_out_file(self) -> str:
        """The file of the dataset that names them."""
        return keys.dataset_left_out(self.job)


@dataclass(frozen=True, slots=True)
class Survey:
    """What is to be done for a job. `fresh` utterances are not in the dataset; `fresh_bytes` is about their audio.

    `known` leads from the ids that the dataset holds of it, in `parts` parts, to what their audio is known by.
    """

    fresh: int
    fresh_bytes: int
    left_out: tuple[LeftOut, ...]
    known: Mapping[str, str]
    parts: int


def _counts(left_out: Iterable[LeftOut]) -> dict[str, int]:
    return dict(sorted(Counter(out.why.value for out in left_out).items()))


def _quiet(_done: int, _total: int) -> None:
    """No progress is shown."""


class Export:
    """One export into one dataset. `replace`: the dataset is this job's own, what no longer holds is made anew."""

    def __init__(self, place: Place, terms: Terms, *, replace: bool = False) -> None:
        """Open the dataset; the place of a new one is claimed by the first `add`.

        Raises:
            BadOutput: another dataset is there (name, layout, rate or prefix differ), or files that are no dataset.
            BadOption: the layout cannot hold another sample rate.
            StoreError: the store refused.
        """
        self._place = place
        self._terms = terms
        self._replace = replace
        self._layout = LAYOUTS[terms.layout]
        self._ledger = Ledger(place.store, place.prefix)
        self._audio = AudioWriter(place, terms, self._ledger)
        self.info = self._opened()
        self._sources = {source.job: source for source in self.info.sources}
        self._speakers = dict(self.info.speakers)

    def survey(self, source: Source, selection: Selection) -> Survey:
        """What `add` will do; writes nothing (of a job's own dataset it forgets what no longer holds).

        Raises:
            BadOutput: the dataset holds an utterance of the same id with other audio.
        """
        job = source.record.job
        if self._replace:
            self._drop_what_changed(source, selection)
        known: dict[str, str] = {}
        fresh = fresh_bytes = parts = 0
        for part in self._ledger.parts(job):
            parts += 1
            known |= {entry.id: entry.utterance.audio_sha256 for entry in part.entries}
        left_out = []
        for utterance in source.utterances():
            if utterance.id in known:
                self._check_same(utterance, known[utterance.id])
            elif (out := selection.judge(utterance)) is not None:
                left_out.append(out)
            else:
                fresh += 1
                fresh_bytes += clip_bytes(utterance, self._layout.codec, self._terms.rate_hz)
        return Survey(fresh, fresh_bytes, tuple(left_out), known, parts)

    def add(self, source: Source, selection: Selection, survey: Survey, progress: Progress = _quiet) -> Added:
        """Write the audio of a job and note it in the ledger; index files wait for `finish`.

        Raises:
            StoreError: a take is gone or damaged, or a store refused.
        """
        job, known = source.record.job, survey.known
        self._claim(source.record, survey)
        self._audio.mend(source.store, job)
        fresh = (row for row in source.utterances() if row.id not in known and selection.judge(row) is None)
        done, total = len(known), len(known) + survey.fresh
        progress(done, total)
        for part in self._audio.parts(source.store, job, fresh, survey.parts):
            self._ledger.put(part)
            done += len(part.entries)
            progress(done, total)
        self._ledger.put_left_out(job, survey.left_out)
        return Added(job, done - len(known), len(known), survey.left_out)

    def finish(self) -> DatasetInfo:
        """Write the index files and `dataset.json` for all that the dataset holds. Raises StoreError."""
        tallies = {job: Tally() for job in self._sources}
        shards: dict[str, FileInfo] = {}
        strangers = self._audio.present(self._sources)
        entries = self._counted(tallies, shards, strangers)
        view = View(self._speakers, self._terms.path_prefix)
        files = write_indexes(self._place.store, self._place.prefix, self._layout, view, entries)
        for name in sorted(strangers):  # a killed export left them, no part names them
            self._place.store.delete(self._place.prefix + name)
        whole = Tally.of(tallies.values())
        sources = tuple(tally.counted(self._sources[job]) for job, tally in tallies.items())
        facts = {
            "utterances": whole.utterances,
            "duration_s": whole.duration_s,
            "hours": round(whole.duration_s / 3600, 6),
            "audio_bytes": whole.audio_bytes,
            "sample_rates_hz": tuple(sorted(whole.samples)),
            "languages": tuple(sorted(whole.languages)),
            "licences": tuple(sorted({source.licence for source in sources if source.licence})),
            "speakers": self._speakers,
            "sources": sources,
            "files": files | shards,
        }
        self.info = self.info.model_copy(update=facts)
        if self._layout.card:
            self._place.put("README.md", card_text(self.info, self._layout.card).encode())
        write_info(self._place.store, self._place.prefix, self.info)
        return self.info

    def _claim(self, record: JobRecord, survey: Survey) -> None:
        """Name a job in `dataset.json` before its first audio: whatever comes of it, the next export counts it."""
        new = record.job not in self._sources
        self._sources[record.job] = source_info(record, _counts(survey.left_out))
        if new:
            self.info = self.info.model_copy(update={"sources": tuple(self._sources.values())})
            write_info(self._place.store, self._place.prefix, self.info)

    def _opened(self) -> DatasetInfo:
        store, prefix = self._place.store, self._place.prefix
        asked = DatasetInfo(
            name=self._terms.name,
            layout=self._terms.layout,
            sample_rate_hz=self._terms.rate_hz,
            path_prefix=self._terms.path_prefix,
        )
        info = read_info(store, prefix)
        if info is None:
            stranger = next(iter(store.list(prefix)), None)
            if stranger is not None and not self._replace:
                msg = f"{store.url} holds other files ({stranger}) and no dataset; choose an empty folder or a dataset"
                raise BadOutput(msg)
            return asked
        for field in ("layout", "name", "sample_rate_hz", "path_prefix"):
            was, wanted = getattr(info, field) or "none", getattr(asked, field) or "none"
            if was != wanted and not self._replace:
                msg = f"the dataset in {store.url} has {field} {was!s}, not {wanted!s}; choose another folder"
                raise BadOutput(msg)
        return asked if self._replace else info

    def _check_same(self, utterance: Utterance, held: str) -> None:
        if utterance.audio_sha256 == held:
            return
        now = utterance.audio_sha256 if utterance.spoken_whole else "no audio"
        msg = (
            f"the dataset in {self._place.store.url} holds utterance {utterance.id} with other audio ({held}) than job "
            f"{utterance.job} has now ({now}); what a dataset holds is never changed: export into another folder"
        )
        raise BadOutput(msg)

    def _drop_what_changed(self, source: Source, selection: Selection) -> None:
        """Keep the parts that a fresh export would write just so; forget the others."""
        wanted = (row for row in source.utterances() if selection.judge(row) is None)
        for part in self._ledger.parts(source.record.job):
            same = [*islice(wanted, len(part.entries))] == [entry.utterance for entry in part.entries]
            if not same or not (part.head.full or next(wanted, None) is None):
                self._ledger.drop(source.record.job, part.head.part)
                return

    def _counted(
        self, tallies: Mapping[str, Tally], shards: dict[str, FileInfo], strangers: set[str]
    ) -> Iterator[Entry]:
        """The entries of all jobs, counted on their way, and the shards that hold them.

        Who speaks gets a number when heard for the first time and keeps it; files that a part names are no strangers.
        """
        for job, tally in tallies.items():
            for part in self._ledger.parts(job):
                strangers.difference_update(part.files)
                if part.head.shard is not None:
                    shards[part.head.shard] = FileInfo(bytes=part.head.shard_bytes, sha256=part.head.shard_sha256)
                for entry in part.entries:
                    tally.add(entry)
                    self._speakers.setdefault(entry.utterance.speaker, len(self._speakers))
                    yield entry
