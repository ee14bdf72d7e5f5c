"""What a job cost, for `submit`, `status` and the like: the sums over its results, with the price of today's tariff."""

from __future__ import annotations

from collections.abc import Mapping

from cli.output import JsonValue
from cli.session import Session
from jobs.benchmarks import Measurements
from jobs.cost import RunReport, cost_lines, run_report
from jobs.errors import StoreError, UnknownJob
from jobs.plan_store import load_plan
from jobs.settings import Settings
from jobs.spec import JobRecord, SegmentResult
from jobs.state import JobState

OF_RUN = ("device_s", "audio_s_per_device_s", "energy_j", "energy_wh_per_audio_hour", "price", "currency", "devices")
"""What commands show of the report's section `run`."""


def cost_of(results: Mapping[int, SegmentResult], settings: Settings) -> RunReport:
    """The sums, priced."""
    return run_report(results.values()).priced(settings.tariff)


def cost_document(run: RunReport) -> JsonValue:
    """The JSON form."""
    return run.model_dump(mode="json", include=set(OF_RUN))


def cost_text(run: RunReport, settings: Settings) -> list[str]:
    """For people: one line, none where nothing was spoken."""
    return [f"cost: {line}" for line in cost_lines(run, settings.tariff)]


def end_cost(session: Session, record: JobRecord) -> RunReport:
    """What a job that ended cost. Its speed is noted here too if other machines did its steps."""
    try:
        results = session.broker.truth.results(record.job)
    except UnknownJob:
        return cost_of({}, session.settings)
    if not session.embedded and record.state in {JobState.DONE, JobState.DONE_WITH_FAILURES}:
        _note(session, record, results)
    return cost_of(results, session.settings)


def _note(session: Session, record: JobRecord, results: Mapping[int, SegmentResult]) -> None:
    """The machines that did the steps noted it in their own data folders; estimates are made with ours."""
    try:
        plan = load_plan(session.store_of(record), record.job)
        Measurements(session.settings.measurements_dir).note_job(record, plan, results)
    except (OSError, StoreError):
        return  # the next estimate is worse for it, nothing else
