"""The plan of a job as it is kept in the store."""

from __future__ import annotations

from jobs import keys
from jobs.plan import Plan
from jobs.protocols import Store


def load_plan(store: Store, job: str) -> Plan:
    """The plan that was stored with a job. Raises ObjectMissing."""
    return Plan.parse(store.get(keys.job_object(job, "plan.jsonl")))


def save_plan(store: Store, job: str, plan: Plan) -> None:
    """Store a job's plan. Raises StoreError."""
    store.put(keys.job_object(job, "plan.jsonl"), plan.dump())
