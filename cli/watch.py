"""Following a job: one live progress line from its events, until it is over or the user leaves."""

from __future__ import annotations

import time

from cli.live_line import LiveLine
from cli.output import Output
from cli.session import Session
from jobs.errors import BrokerUnavailable
from jobs.events import Event, EventKind
from jobs.progress import Counters, clock, progress
from jobs.spec import JobRecord
from jobs.state import FINAL_JOB_STATES, JobState

EVENT_WAIT_S = 0.5
BROKER_PATIENCE_S = 120.0
ALONE_AFTER_S = 8.0
"""A node that was just started needs this long until its workers are there."""
WAITING = frozenset({JobState.QUEUED, JobState.RUNNING})


class Follower:
    """Reads a job's events and keeps its line up to date."""

    def __init__(self, session: Session, record: JobRecord, output: Output) -> None:
        self._session = session
        self._job = record.job
        self._output = output
        self._start = self._now = Counters.of(record)
        self._chapters = record.chapters
        self._assembled: set[int] = set()
        self._started_s = time.monotonic()
        self._warm = False
        self._warned = False
        self._quiet_since_s = time.monotonic()
        self._last = "0"
        self._trouble_since_s: float | None = None

    def run(self, *, as_events: bool = False) -> JobRecord:
        """Follow until the job is over; returns its record. `as_events`: print every event as a JSON line instead.

        Raises:
            BrokerUnavailable: the broker stays away.
        """
        with LiveLine(self._output) as live:
            while as_events or self._now.state not in FINAL_JOB_STATES:
                over = self._now.state in FINAL_JOB_STATES
                events = self._events()
                for event in events if as_events else ():
                    self._output.result(event.model_dump(mode="json", exclude_none=True))
                live.show(self._line())
                if over and not events:
                    break
        return self._session.broker.truth.job(self._job)

    def _events(self) -> list[Event]:
        """The next events; while the broker is away, wait for it (and bring the embedded node back).

        Raises:
            UnknownJob: the job was deleted; nothing more will come.
        """
        try:
            entries = self._session.broker.streams.events(self._job, after=self._last, timeout_s=EVENT_WAIT_S)
        except BrokerUnavailable:
            self._bear_outage()
            return []
        self._trouble_since_s = None
        if entries:
            self._last = entries[-1][0]
            self._quiet_since_s = time.monotonic()
        elif self._now.state not in FINAL_JOB_STATES:
            self._session.broker.truth.job(self._job)
            self._warn_if_alone()
        events = [event for _, event in entries]
        for event in events:
            self._note(event)
        return events

    def _note(self, event: Event) -> None:
        if event.kind is EventKind.CHAPTER_ASSEMBLED and event.chapter is not None:
            self._assembled.add(event.chapter)
        elif event.chapter is not None:  # nothing of a finished chapter changes, unless it is begun anew
            self._assembled.discard(event.chapter)
        if event.total < self._now.total and event.kind is not EventKind.JOB:
            return
        now = Counters(event.state, event.total, event.done, event.failed, event.audio_s)
        if now.finished >= self._start.finished and (event.reused or not self._warm):
            # The speed counts from the first segment that was spoken: what was in the store took no time, and loading
            # the model says nothing about the segments to come. (Events of long ago only bring the counters.)
            self._warm = event.kind is EventKind.SEGMENT_DONE and not event.reused
            self._start, self._started_s = now, time.monotonic()
        back = event.kind is EventKind.SEGMENT_AGAIN and now.finished == self._now.finished - 1
        if now.finished >= self._now.finished or event.kind is EventKind.JOB or back:
            self._now = now

    def _warn_if_alone(self) -> None:
        """Say once when nobody is there who could speak the job."""
        if self._warned or time.monotonic() - self._quiet_since_s < ALONE_AFTER_S or self._now.state not in WAITING:
            return
        self._warned = True
        truth = self._session.broker.truth
        engine = truth.job(self._job).spec.engine
        served = sorted({name for status in truth.workers() for name in status.info.models})
        if engine not in served:
            others = f"those alive speak {', '.join(served)}" if served else "none is alive"
            self._output.say(f"job {self._job} waits for a worker that speaks {engine}: {others} (`tts-batch workers`)")

    def _bear_outage(self) -> None:
        if self._trouble_since_s is None:
            self._trouble_since_s = time.monotonic()
        if time.monotonic() - self._trouble_since_s > BROKER_PATIENCE_S:
            msg = f"the broker has been away for {BROKER_PATIENCE_S:.0f} s; job {self._job} goes on when it is back"
            raise BrokerUnavailable(msg)
        self._session.revive()
        time.sleep(EVENT_WAIT_S)

    def _line(self) -> str:
        elapsed_s = time.monotonic() - self._started_s
        chapters = f"{len(self._assembled)}/{self._chapters}"
        return progress_line(self._job, self._start, self._now, elapsed_s, chapters=chapters)


def progress_line(job: str, start: Counters, now: Counters, elapsed_s: float, *, chapters: str = "") -> str:
    """One line: state, segments, audio made, times real time, time to go; of a job that is assembled, its chapters.

    `chapters`: how many are made, of how many. When all is spoken there is no speed to tell: no more audio is made.
    """
    seen = progress(start, now, elapsed_s)
    parts = [f"{job}  {now.state}", f"{now.finished}/{now.total} segments", f"{clock(now.audio_s)} audio"]
    if now.failed:
        parts.append(f"{now.failed} failed")
    if now.finished < now.total:
        parts += [] if seen.times_real_time is None else [f"{seen.times_real_time:.1f} × real time"]
        parts += [] if seen.eta_s is None else [f"ETA {clock(seen.eta_s)}"]
    elif now.state is JobState.ASSEMBLING and chapters:
        parts.append(f"{chapters} chapters made")
    return "  ".join(parts)
