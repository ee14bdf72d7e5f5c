"""The plan of a job as it is kept in the store."""

from __future__ import annotations

from jobs import keys
from jobs.errors import ObjectDamaged
from jobs.plan import Plan
from jobs.protocols import Store


def load_plan(store: Store, job: str) -> Plan:
    """The plan that was stored with a job.

    Raises:
        ObjectMissing: it is not there.
        ObjectDamaged: what is there is not a plan.
    """
    key = keys.job_object(job, "plan.jsonl")
    try:
        return Plan.parse(store.get(key))
    except (ValueError, LookupError) as error:  # pydantic's and json's errors are ValueErrors
        msg = f"{key} in {store.url} is not a plan ({error}); cancel the job and submit its source again"
        raise ObjectDamaged(msg) from error


def save_plan(store: Store, job: str, plan: Plan) -> None:
    """Store a job's plan. Raises StoreError."""
    store.put(keys.job_object(job, "plan.jsonl"), plan.dump())
