"""Intake of a synthesis process: leases segments ahead of the free slots and turns their text into prompts.

Runs in a thread of its own, so that the step loop never waits for the broker or for a text front end. Knows the
truth and the models' front ends, no engine.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from engine.errors import DeviceUnavailable
from engine.request import Request
from jobs.errors import BrokerUnavailable, Fenced
from jobs.kinds import Grade
from jobs.protocols import Truth
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import SegmentState
from jobs.takes import Pcm, TakeInfo
from jobs.verdict import Verdict
from models.base import Prompt, SpeechModel
from models.errors import ModelError
from workers.judging import Spoken, judge_stored
from workers.outlet import Outlet
from workers.voicing import Voicing

log = logging.getLogger(__name__)

IDLE_WAIT_S = 1.0
"""Longest time between two looks at the queue when nothing is known to have changed."""
LIVE_POLL_S = 0.02
"""Shortest time between two looks for urgent segments of a process that is full: many come at once, and every process
that listens looks at each."""
BROKER_WAIT_S = 0.5
LOOKUPS_AT_ONCE = 8
"""Takes are looked for side by side: a store on S3 takes some 30 ms for each, and a full GPU wants 40 a second."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A leased segment whose prompt is prepared; an urgent one goes before all that are not.

    `earlier_s` is how long attempts at it were in slots of this process before.
    """

    task: SegmentTask
    request: Request
    urgent: bool
    earlier_s: float = 0.0

    def voicing(self, model: SpeechModel, numerics: str) -> Voicing:
        """The segment in a slot of the model's engine, whose arithmetic is of that version."""
        return Voicing(
            task=self.task,
            request=self.request,
            card=model.card,
            numerics=numerics,
            sample_rate_hz=model.program.sample_rate_hz,
            earlier_s=self.earlier_s,
        )


class Intake:
    """Keeps `slots + look_ahead` segments leased; the step loop takes them with `take()`.

    With many slots one call leases several: a broker that is far away is asked a few times a second, not for each one.
    Segments of class live are taken even while the buffer is full, as soon as they are queued, up to `slots` more.
    They and those of live jobs go before all others, in the order in which they were leased.
    """

    def __init__(
        self,
        truth: Truth,
        worker: str,
        *,
        slots: int,
        model: Callable[[str], SpeechModel],
        outlet: Outlet,
    ) -> None:
        self._truth = truth
        self._worker = worker
        self._slots = slots
        self._limit = slots + look_ahead(slots)
        self._batch = max(1, look_ahead(slots) // 8)
        self._model = model
        self._outlet = outlet
        self._urgent: deque[Ready] = deque()
        self._ready: deque[Ready] = deque()
        self._unprepared: list[str] = []
        self._busy = 0
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(LOOKUPS_AT_ONCE, thread_name_prefix="intake-look")
        self._wake = threading.Event()
        self.dry = True
        """Whether nothing waited at the last look: free slots have no work then."""
        self.stopping = threading.Event()
        self.fenced = threading.Event()
        self.thread = threading.Thread(target=self._run, name="intake", daemon=True)
        self._listener = threading.Thread(target=self._listen, name="wake", daemon=True)

    @property
    def holds_speech(self) -> bool:
        """Whether segments of speech requests wait here for a slot."""
        with self._lock:
            return any(ready.task.speech for ready in self._urgent)

    def take(self) -> Ready | None:
        """The next prepared segment, or None; from now on it counts as busy until `finished()`."""
        with self._lock:
            line = self._urgent or self._ready
            if not line:
                return None
            self._busy += 1
            return line.popleft()

    def finished(self) -> None:
        """One segment that was taken is through: stored and told, or dropped. A slow store slows the intake down."""
        with self._lock:
            self._busy -= 1
        self._wake.set()

    def put_back(self, ready: Ready) -> None:
        """Take a segment back that `take()` gave, to be first again among those that it came from."""
        with self._lock:
            self._busy -= 1
            self._line(ready).appendleft(ready)

    def again(self, task: SegmentTask, spoken: Spoken) -> bool:
        """Speak a segment at its next attempt, after the one that was `spoken`: it is the first of its line.

        It stays held; the attempt before counts as busy until `finished()`. False: this process winds down.
        """
        request = replace(spoken.voicing.request, seed=task.seed)
        ready = Ready(task, request, urgent=is_urgent(task), earlier_s=spoken.compute_s)
        with self._lock:
            if self.stopping.is_set():
                return False
            self._line(ready).appendleft(ready)
        return True

    def drop_jobs(self, jobs: frozenset[str]) -> list[str]:
        """Forget buffered segments of cancelled jobs; returns their refs."""
        with self._lock:
            dropped = [ready.task.ref for ready in self._buffered() if ready.task.job in jobs]
            self._urgent = deque(ready for ready in self._urgent if ready.task.job not in jobs)
            self._ready = deque(ready for ready in self._ready if ready.task.job not in jobs)
        return dropped

    def drain(self) -> list[str]:
        """Stop leasing and hand out the refs of all segments that never reached a slot.

        Of those that were just leased none is looked for or prepared any more: with a store that is away it takes long.
        """
        self.stopping.set()
        self._wake.set()
        self.thread.join()
        with self._lock:
            refs = [*(ready.task.ref for ready in self._buffered()), *self._unprepared]
            self._urgent.clear()
            self._ready.clear()
        return refs

    def leave(self) -> None:
        """The end: lease no more, listen no more. Takes up to IDLE_WAIT_S."""
        self.stopping.set()
        self._wake.set()
        if self._listener.is_alive():
            self._listener.join()

    def _line(self, ready: Ready) -> deque[Ready]:
        return self._urgent if ready.urgent else self._ready

    def _buffered(self) -> list[Ready]:
        return [*self._urgent, *self._ready]

    def _run(self) -> None:
        self._listener.start()
        while not self.stopping.is_set():
            try:
                self._turn()
            except Fenced:
                self.fenced.set()
                return
            except BrokerUnavailable as error:
                log.warning("broker away, nothing is leased until it is back: %s", error)
                self.stopping.wait(BROKER_WAIT_S)

    def _turn(self) -> None:
        with self._lock:
            buffered = len(self._urgent) + len(self._ready)
            want = self._limit - self._busy - buffered
        if 0 < want < self._batch and buffered:
            want = 0
        tasks: list[SegmentTask] = []
        if want > 0:
            tasks = self._truth.lease(self._worker, want)
            self.dry = not tasks and not buffered
        elif want > -self._slots:
            tasks = self._truth.lease(self._worker, min(self._batch, self._slots + want), live_only=True)
        self._outlet.hand.took(task.ref for task in tasks)
        known = self._pool.map(lambda task: self._known(task), tasks)  # in the order of the tasks
        for task, due in zip(tasks, known, strict=True):
            self._admit(due, urgent=is_urgent(task) or want <= 0)
        if tasks:
            return
        if want <= 0:
            self.stopping.wait(LIVE_POLL_S)
        self._wake.wait(IDLE_WAIT_S)
        self._wake.clear()

    def _listen(self) -> None:
        """Thread that wakes the intake when something was queued, by whomever."""
        while not self.stopping.is_set():
            try:
                if self._truth.wait_for_work(IDLE_WAIT_S):
                    self._wake.set()
            except BrokerUnavailable:  # the intake's own calls tell of it
                self.stopping.wait(BROKER_WAIT_S)

    def _known(self, task: SegmentTask) -> SegmentResult | SegmentTask:
        """What the store has of a segment: its result, or the attempt to speak; a failure if it cannot be judged."""
        if self.stopping.is_set():
            return task
        try:
            return self._outlet.reuse(task, self._judge_anew)
        except (ModelError, DeviceUnavailable) as error:
            return failed_result(task, str(error))

    def _admit(self, task: SegmentTask | SegmentResult, *, urgent: bool) -> None:
        """Prepare one segment at the attempt that is due.

        One that cannot be spoken is reported as failed, one that the store has a result for as that.
        """
        if isinstance(task, SegmentResult):
            self._outlet.report(task)
            return
        if self.stopping.is_set():
            self._unprepared.append(task.ref)  # read once this thread has ended
            return
        try:
            prepared = self._model(task.model).prepare(
                Prompt(spoken=task.spoken, voice=task.voice, language=task.language, speed=task.speed)
            )
        except (ModelError, DeviceUnavailable) as error:
            self._outlet.report(failed_result(task, str(error)))
            return
        request = Request(
            request_id=task.ref,
            inputs=prepared.inputs,
            seed=task.seed,
            length_hint=prepared.length_hint,
            group=prepared.group,
            live=is_urgent(task),
        )
        with self._lock:
            ready = Ready(task, request, urgent)
            self._line(ready).append(ready)

    def _judge_anew(self, info: TakeInfo, pcm: Pcm) -> Verdict:
        return judge_stored(info, pcm, self._model(info.origin.model).card)


def is_urgent(task: SegmentTask) -> bool:
    """Whether somebody listens, or waits for it."""
    return task.live or task.speech


def look_ahead(slots: int) -> int:
    """How many prompts wait prepared beside the slots: enough for a burst of equal lengths, a quarter of many slots.

    With few slots no more than those, so that at a job's end no process sits on work while another has none.
    """
    return max(slots // 4, min(slots, 8))


def failed_result(task: SegmentTask, reason: str) -> SegmentResult:
    """The result of a segment whose next attempt could not be made."""
    return SegmentResult(
        job=task.job,
        segment=task.segment,
        chapter=task.chapter,
        state=SegmentState.FAILED,
        take=task.take,
        reason=reason,
        attempt=task.attempt,
        takes=task.attempt,
        grade=Grade.UNUSABLE,
        device_s=task.device_s,
        energy_j=task.energy_j,
    )
