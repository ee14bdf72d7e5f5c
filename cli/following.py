"""Follow jobs to their end, deliver what they made, and say how they ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from cli.acx_table import show_job
from cli.bad_takes import job_bad_takes, take_documents, take_lines
from cli.costs import cost_document, cost_text, end_cost
from cli.failures import failure_documents, failure_line, failure_reasons
from cli.output import Exit, JsonValue, Output
from cli.session import Session
from cli.watch import Follower
from jobs.deliver import deliver, finished_objects, worth_showing
from jobs.failures import Reasons
from jobs.progress import clock
from jobs.spec import JobRecord
from jobs.state import JobState


def follow_all(session: Session, output: Output, jobs: Sequence[tuple[JobRecord, Path | None]]) -> Exit:
    """Follow jobs to their end, one after the other, and deliver each into its folder (None: it stays in its store)."""
    summaries: list[JsonValue] = []
    good = True
    for record, out in jobs:
        started_s = time.monotonic()
        before_s = record.audio_s
        try:
            record = Follower(session, record, output).run()  # the same job, later
        except KeyboardInterrupt:
            _interrupted(session, output, record.job)
            raise
        good = good and record.state is JobState.DONE
        files = _deliver(session, record, out)
        elapsed_s = time.monotonic() - started_s
        reasons = failure_reasons(session, record)
        bad = job_bad_takes(session, record)
        summary = summarise(record, files, elapsed_s, record.audio_s - before_s)
        summary["bad_takes"] = take_documents(bad)
        for line in take_lines(record, bad):
            output.say(line)
        _tell(output, record, reasons, files, elapsed_s)
        cost = end_cost(session, record)
        for line in cost_text(cost, session.settings):
            output.say(line)
        checked = show_job(session, output, record) if files else None
        figures: dict[str, JsonValue] = {} if checked is None else {"acx": checked}
        summaries.append({**summary, "reasons": failure_documents(reasons), "cost": cost_document(cost), **figures})
    output.result({"jobs": summaries})
    return Exit.DONE if good else Exit.FAILED


def summarise(record: JobRecord, files: Sequence[str], elapsed_s: float, made_audio_s: float) -> dict[str, JsonValue]:
    """The JSON form of a finished job."""
    return {
        "job": record.job,
        "state": record.state.value,
        "segments": record.total,
        "failed": record.failed,
        "marked": record.marked,
        "retakes": record.retakes,
        "reused": record.reused,
        "audio_s": round(record.audio_s, 3),
        "elapsed_s": round(elapsed_s, 3),
        "times_real_time": round(made_audio_s / elapsed_s, 2) if elapsed_s > 0 else None,
        "reason": record.reason,
        "files": list(files),
    }


def default_out(name: str) -> Path:
    """`./<name of the source without its ending>`."""
    return Path.cwd() / (Path(name).stem or "speech")


def _deliver(session: Session, record: JobRecord, out: Path | None) -> list[str]:
    if record.state not in {JobState.DONE, JobState.DONE_WITH_FAILURES}:
        return []
    store = session.store_of(record)
    if out is None:
        return [f"{store.url}/{key}" for key in finished_objects(store, record.job)]
    return [str(path) for path in deliver(store, record.job, out)]


def _tell(output: Output, record: JobRecord, reasons: Reasons, files: Sequence[str], elapsed_s: float) -> None:
    spoken = f"{record.done} of {record.total} segments"
    output.say(f"{record.job}: {record.state}, {spoken}, {clock(record.audio_s)} audio in {clock(elapsed_s)}")
    if record.reason:
        output.say(f"reason: {record.reason}")
    if record.failed:
        output.say(failure_line(record, reasons))
        output.say(f"report.json names them; `tts-batch retry --failed {record.job}` speaks them again")
    for voice, licence in record.spec.licences.items():
        output.say(f"voice {voice}, licence: {licence or 'unknown'}; see `tts-batch voices`")
    if not output.as_json:
        for file in worth_showing(files):
            output.result(None, file)


def _interrupted(session: Session, output: Output, job: str) -> None:
    """What becomes of the job when the user leaves."""
    if session.owns_node:
        output.say(f"interrupted: what is in work is given back; `tts-batch resume {job}` goes on where it stopped")
    else:
        output.say(f"left: job {job} goes on; `tts-batch watch {job}` follows it, `tts-batch cancel {job}` ends it")
