"""Speech requests: a text that somebody waits for, spoken at once through the same queue in class live.

speech = begin(Wanted(text=…, offer=offer, voice="joe"), truth, store_url=url)
for sound in Listener(truth, streams, store, job=speech.job, plan=speech.plan).sounds(whole=True): ...
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass

from jobs.drafts import Source, Wishes, make_draft
from jobs.errors import BadSource, SourceProblem
from jobs.kinds import OnBad
from jobs.plan import Plan
from jobs.planning import PlanOptions
from jobs.protocols import Truth
from jobs.spec import DEFAULT_CHECKS, Checks, JobRecord, ModelOffer, Priority, SourceKind
from jobs.speech_body import check_instructions, unspeakable
from jobs.state import JobState
from jobs.tasks import tasks_of

PREFIX = "speech-"
ID_BYTES = 16
"""Random bytes of a request's id: who does not know it cannot guess it."""
HEARD_AT_ONCE = Checks(takes=1, on_bad=OnBad.KEEP)
"""What was heard cannot be taken back, so there is no second take."""
CHECKED = Checks(takes=DEFAULT_CHECKS.takes, on_bad=OnBad.KEEP)
"""The best of several takes is heard; what is not good is counted, not left out."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One request. None means: the model's own.

    `checked`: every segment is checked, and spoken again if it must be, before any of it is heard (the first sound
    comes later); else what is made is heard at once, whatever the checks say of it afterwards.
    """

    text: str
    offer: ModelOffer
    voice: str | None = None
    language: str | None = None
    seed: int = 0
    speed: float = 1.0
    instructions: str | None = None
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Speech:
    """A request that is queued. `engine` is the name that the workers lease by who can speak it."""

    job: str
    plan: Plan
    sample_rate_hz: int
    engine: str


def new_id() -> str:
    """An id for a request."""
    return PREFIX + secrets.token_hex(ID_BYTES)


def is_speech(job: str) -> bool:
    """Whether an id can be that of a speech request."""
    return job.startswith(PREFIX) and len(job) == len(PREFIX) + 2 * ID_BYTES


def begin(wanted: Wanted, truth: Truth, *, store_url: str, job: str | None = None) -> Speech:
    """Plan a text and queue it, under an id of `new_id` (None: a new one).

    Each call is a job of its own (two callers of one text must not cancel each other); takes that the store has are
    reused by the worker as ever. Nothing but takes is kept in the store.

    Raises:
        BadOption: an unknown voice or language, a speed out of range, instructions to a model that takes none.
        BadSource: nothing to speak.
        BrokerUnavailable: the queue does not answer.
    """
    check_instructions(wanted.offer, wanted.instructions)
    if told := unspeakable(wanted.text):
        raise BadSource(SourceProblem("empty_text", told))
    # As an item of JSONL a text is taken for what it is: no headings, notes or pages are looked for in it.
    item = json.dumps({"id": "speech", "text": wanted.text}).encode()
    draft = make_draft(Source("speech", item, SourceKind.JSONL), _wishes(wanted, store_url))
    job, now_s = job or new_id(), time.time()
    record = JobRecord(
        job=job,
        spec=draft.spec,
        state=JobState.QUEUED,
        title=draft.title,
        author="",
        created_at_s=now_s,
        updated_at_s=now_s,
        total=len(draft.plan.segments),
        total_chars=draft.plan.prompt_chars,
    )
    truth.speak(record, tasks_of(draft.plan, draft.spec, job))
    return Speech(job, draft.plan, draft.sample_rate_hz, draft.spec.engine)


def _wishes(wanted: Wanted, store_url: str) -> Wishes:
    return Wishes(
        offer=wanted.offer,
        store_url=store_url,
        voice=wanted.voice,
        language=wanted.language,
        seed=wanted.seed,
        speed=wanted.speed,
        formats=(),
        priority=Priority.LIVE,
        live=not wanted.checked,
        options=PlanOptions(whole_items=False),  # the first sentence is heard while the others are spoken
        checks=CHECKED if wanted.checked else HEARD_AT_ONCE,
    )
