"""Export finished jobs into a folder of the user's: one export at a time, nothing half, whatever is there is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from jobs.datasets.export import Added, Export, Source
from jobs.datasets.info import DatasetInfo, read_info
from jobs.datasets.layouts import LAYOUTS
from jobs.datasets.lock import export_lock
from jobs.datasets.manifest import build_manifest, read_manifest
from jobs.datasets.names import checked_name, name_from
from jobs.datasets.selecting import Selection
from jobs.datasets.writing import Place, Terms
from jobs.errors import BadOption, BadOutput, ObjectDamaged, ObjectMissing, StoreError
from jobs.kinds import DatasetLayout
from jobs.plan_store import load_plan
from jobs.protocols import Store, Truth
from jobs.spec import JobRecord
from jobs.state import JobState
from jobs.stores import FolderStore
from jobs.submit import check_space

EXPORTED_STATES = (JobState.DONE, JobState.DONE_WITH_FAILURES)
RATES_HZ = range(4_000, 192_001)
"""What `--rate` may be: from less than a telephone has to the most that studios record with."""
JobProgress = Callable[[str, int, int], None]
"""Told of each job how many of its utterances are in the dataset, of how many that will be."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a user asked for. None: what the dataset has already, else the usual; a new one is named like its folder."""

    layout: DatasetLayout
    folder: Path
    name: str | None = None
    rate_hz: int | None = None
    path_prefix: str | None = None
    shard_bytes: int | None = None
    shard_entries: int | None = None
    include_bad: bool = False
    min_s: float | None = None
    max_s: float | None = None

    def selection(self, record: JobRecord) -> Selection:
        """What is taken of a job: bad takes too where the job keeps them. Raises BadOption."""
        usual = Selection.of(record.spec.checks.on_bad)
        return Selection(self.include_bad or usual.include_bad, self.min_s, self.max_s)


def source_of(truth: Truth, store_at: Callable[[str], Store], job: str) -> Source:
    """A finished job to be exported.

    Raises:
        UnknownJob: no job has that id.
        BadOption: it is not finished.
    """
    record = truth.job(job)
    if record.state not in EXPORTED_STATES:
        msg = (
            f"job {job} is {record.state}; only jobs that are done can be exported: wait for it with "
            f"`tts-batch watch {job}`, or let it go on with `tts-batch resume {job}`"
        )
        raise BadOption(msg)
    store = store_at(record.spec.store_url)
    try:
        next(iter(read_manifest(store, job)), None)
    except ObjectMissing:  # an older version finished it
        rows = [*build_manifest(store, record, load_plan(store, job), truth.results(job))]
        return Source(store, record, lambda: rows)
    return Source(store, record, lambda: read_manifest(store, job))


def export_jobs(
    sources: Sequence[Source], asked: Asked, progress: JobProgress
) -> tuple[DatasetInfo, tuple[Added, ...]]:
    """Put jobs into the dataset of a folder, in the order given; returns it and what became of each job.

    Everything that may be wrong is looked for before the first audio is written.

    Raises:
        BadOutput: another export is at work there, the folder holds something else, cannot be written or is full.
        BadOption: a name, rate or length that is not possible, or an option that the layout has no use for.
        ObjectMissing, ObjectDamaged: a take is gone or broken.
    """
    _check_options(asked)
    chosen = [(source, asked.selection(source.record)) for source in sources]
    store = FolderStore(asked.folder)
    with export_lock(asked.folder), _folder_errors():
        export = Export(Place(store), _terms(store, asked))
        store.sweep_unfinished(older_than_s=0)  # now that the folder is known to be ours
        surveys = [export.survey(source, selection) for source, selection in chosen]
        check_space(asked.folder, sum(survey.fresh_bytes for survey in surveys))
        added = []
        for (source, selection), survey in zip(chosen, surveys, strict=True):
            told = _for_job(progress, source.record.job)
            added.append(export.add(source, selection, survey, told))
        return export.finish(), tuple(added)


def _for_job(progress: JobProgress, job: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(job, done, total)


def _check_options(asked: Asked) -> None:
    """Refuse a rate that nothing plays, and what would do nothing. Raises BadOption."""
    if asked.rate_hz is not None and asked.rate_hz not in RATES_HZ:
        msg = f"--rate {asked.rate_hz} is not possible; use {RATES_HZ[0]} to {RATES_HZ[-1]} samples a second"
        raise BadOption(msg)
    sharded = [kind.value for kind, layout in LAYOUTS.items() if layout.sharded]
    with_paths = [kind.value for kind, layout in LAYOUTS.items() if layout.names_paths]
    for option, value, fitting in (
        ("--path-prefix", asked.path_prefix, with_paths),
        ("--shard-mb", asked.shard_bytes, sharded),
        ("--shard-count", asked.shard_entries, sharded),
    ):
        if value is not None and asked.layout.value not in fitting:
            msg = f"{option} does nothing in layout {asked.layout}; it is for {', '.join(fitting)}: leave it out"
            raise BadOption(msg)


def _terms(store: Store, asked: Asked) -> Terms:
    there = read_info(store, "")
    usual = Terms(asked.layout, name_from(asked.folder.name))
    if there is not None:
        usual = replace(usual, name=there.name, rate_hz=there.sample_rate_hz, path_prefix=there.path_prefix)
    wishes = {
        "name": None if asked.name is None else checked_name(asked.name),
        "rate_hz": asked.rate_hz,
        "path_prefix": asked.path_prefix,
        "shard_bytes": asked.shard_bytes,
        "shard_entries": asked.shard_entries,
    }
    given = {name: value for name, value in wishes.items() if value is not None}
    return replace(usual, **given)  # type: ignore[arg-type]  # each value has its field's type


@contextmanager
def _folder_errors() -> Iterator[None]:
    """A folder that refuses is a bad place for the output; a take that is gone stays what it is."""
    try:
        yield
    except (ObjectMissing, ObjectDamaged):
        raise
    except StoreError as error:
        msg = f"{error} (--out); what was written so far is kept and the same command goes on there"
        raise BadOutput(msg) from error
