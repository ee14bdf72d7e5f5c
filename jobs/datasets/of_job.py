"""What a job does about datasets when it is finished: its manifest, and the layouts it was submitted with.

Both are in its own folder of the store and determined by the job alone: what a retry changed is made anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from jobs import keys
from jobs.datasets.export import Export, Source
from jobs.datasets.manifest import build_manifest, read_manifest, write_manifest
from jobs.datasets.names import name_from
from jobs.datasets.selecting import Selection
from jobs.datasets.writing import Place, Terms
from jobs.plan import Plan
from jobs.protocols import Store
from jobs.spec import JobRecord, SegmentResult


def write_job_datasets(store: Store, record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]) -> None:
    """Write `manifest.jsonl` and `datasets/<layout>/…` of a job all of whose segments are finished.

    Raises:
        ObjectMissing, ObjectDamaged: a take is gone or broken.
        StoreError: the store refused.
        ValueError: a segment has no result.
    """
    write_manifest(store, record.job, build_manifest(store, record, plan, results))
    source = Source(store, record, partial(read_manifest, store, record.job))
    selection = Selection.of(record.spec.checks.on_bad)
    for layout in record.spec.exports:
        place = Place(store, keys.dataset_prefix(record.job, layout.value))
        export = Export(place, Terms(layout, name_from(record.job)), replace=True)
        export.add(source, selection, export.survey(source, selection))
        export.finish()
