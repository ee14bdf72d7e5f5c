"""Speech requests: a text that somebody waits for, spoken at once through the same queue in class live.

speech = begin(Wanted(text=…, offer=offer, voice="joe"), truth, store_url=url)
for sound in Listener(truth, streams, store, job=speech.job, plan=speech.plan).sounds(): ...
"""

from __future__ import annotations

from dataclasses import dataclass

from jobs.plan import Plan
from jobs.protocols import Truth
from jobs.spec import ModelOffer


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
    """A request that is queued."""

    job: str
    plan: Plan
    sample_rate_hz: int


def begin(wanted: Wanted, truth: Truth, *, store_url: str) -> Speech:
    """Plan a text and queue it.

    Each call is a job of its own (two callers of one text must not cancel each other); takes that the store has are
    reused by the worker as ever.

    Raises:
        BadOption: an unknown voice or language, a speed out of range, instructions to a model that takes none.
        BadSource: nothing to speak.
        BrokerUnavailable: the queue does not answer.
    """
    raise NotImplementedError
