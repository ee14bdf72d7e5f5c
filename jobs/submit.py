"""From a draft to a job: store, register, queue. Used by every door.

accept(make_draft(source, wishes), truth, store)
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from jobs import keys
from jobs.drafts import Draft
from jobs.errors import BadOutput, IllegalMove, UnknownJob
from jobs.marks.read_along_places import save_places
from jobs.plan_store import load_plan, save_plan
from jobs.protocols import Store, Truth
from jobs.retakes import standing
from jobs.spec import JobRecord, SegmentResult, SegmentTask
from jobs.state import JobState
from jobs.stores.ahead import side_by_side
from jobs.tasks import tasks_of


def accept(draft: Draft, truth: Truth, store: Store, *, check: Callable[[], None] = lambda: None) -> JobRecord:
    """Store a draft and register it; a job of the same source and options is gone on with instead.

    A cancelled or failed one is started anew (its takes are reused); a paused one is let go on. `check` is asked before
    work is begun that was not there before.

    Raises:
        StoreError: the store refuses; nothing is registered then.
        BadOutput: the store has too little space.
    """
    try:
        old = truth.job(draft.job)
    except UnknownJob:
        check()
        _check_store(draft)
        return _register(draft, truth, store)
    if old.state in {JobState.CANCELLED, JobState.FAILED}:
        check()
        _check_store(draft)
        with suppress(UnknownJob, IllegalMove):  # somebody else submits it again at this moment: theirs is as good
            truth.forget(draft.job)
        return _register(draft, truth, store)
    truth.unpause(draft.job)
    return truth.job(draft.job)


def queue_segments(truth: Truth, store: Store, record: JobRecord) -> None:
    """Queue the segments of a stored plan, each at the attempt that is due. May be repeated.

    Those that the store has a take for count as done.
    """
    tasks_now = tasks_of(load_plan(store, record.job), record.spec, record.job)
    due = list(side_by_side(partial(standing, store), tasks_now))
    tasks = [entry for entry in due if isinstance(entry, SegmentTask)]
    truth.enqueue(record.job, tasks, [entry for entry in due if isinstance(entry, SegmentResult)])


def check_space(path: Path, need_bytes: int) -> None:
    """Raise BadOutput when the file system of a path has less room than a job is expected to need."""
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    free_bytes = shutil.disk_usage(existing).free
    if free_bytes < need_bytes:
        msg = (
            f"{path} has {free_bytes / 1e6:.1f} MB free, this job is expected to need {need_bytes / 1e6:.1f} MB; "
            "free some space or choose another place (--out for finished audio, TTS_BATCH_DATA_DIR for takes)"
        )
        raise BadOutput(msg)


def _check_store(draft: Draft) -> None:
    scheme, _, path = draft.spec.store_url.partition("://")
    if scheme == "file":
        check_space(Path(path), draft.store_bytes)


def _register(draft: Draft, truth: Truth, store: Store) -> JobRecord:
    store.put(keys.job_object(draft.job, "source"), draft.source)
    if draft.cover is not None:
        store.put(keys.job_object(draft.job, "cover"), draft.cover)
    save_places(store, draft.job, draft.planned)
    save_plan(store, draft.job, draft.plan)
    now_s = time.time()
    record = JobRecord(
        job=draft.job,
        spec=draft.spec,
        state=JobState.PLANNING,
        title=draft.title,
        author=draft.plan.source.author,
        created_at_s=now_s,
        updated_at_s=now_s,
        total=len(draft.plan.segments),
        chapters=len(draft.plan.chapters),
        total_chars=draft.plan.prompt_chars,
    )
    truth.create_job(record)
    # The PLAN step in the outbox would do it too (and does, if we die here): this way no worker is waited for.
    queue_segments(truth, store, record)
    return truth.job(draft.job)
