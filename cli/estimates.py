"""What a job is expected to cost, for `submit`: from what was measured here, the store, and the broker if one runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from cli.session import connect
from jobs import keys
from jobs.benchmarks import Measurements
from jobs.connect import Broker
from jobs.drafts import Draft
from jobs.errors import BrokerUnavailable
from jobs.estimate import (
    Estimate,
    Queue,
    SpeakingRate,
    estimate,
    find_queue,
    of_record,
    with_measured_rate,
    without_takes,
)
from jobs.settings import Settings
from jobs.spec import JobRecord, ModelOffer
from jobs.stores import open_store
from jobs.stores.ahead import side_by_side
from jobs.tasks import tasks_of


@dataclass(frozen=True, slots=True)
class Expecting:
    """What is known of one model: `offer` speaks at the rate that was measured, if one was (`rate_measured`)."""

    settings: Settings
    measurements: Measurements
    offer: ModelOffer
    rate_measured: bool

    @classmethod
    def of(cls, settings: Settings, offer: ModelOffer, voice: str | None) -> Expecting:
        """For a model and the voice that was asked for (None: its own)."""
        measurements = Measurements(settings.measurements_dir)
        known, measured = with_measured_rate(offer, voice or offer.default_voice, measurements)
        return cls(settings, measurements, known, measured)

    def dry(self, draft: Draft, broker: Broker | None) -> Estimate:
        """Of a draft that is only looked at: takes that are in the store already are not spoken again."""
        store = open_store(draft.spec.store_url, self.settings.s3)
        tasks = tasks_of(draft.plan, draft.spec, draft.job)
        there = side_by_side(lambda task: store.exists(keys.take_info(task.take)), tasks)
        stored = [task.segment for task, is_there in zip(tasks, there, strict=True) if is_there]
        return without_takes(self._whole(draft, broker), draft, stored)

    def accepted(self, draft: Draft, record: JobRecord, broker: Broker) -> Estimate:
        """Of a job that is queued."""
        return of_record(self._whole(draft, broker), record)

    def _whole(self, draft: Draft, broker: Broker | None) -> Estimate:
        device = "cuda" if "cuda" in draft.spec.numerics else "cpu"
        basis = self.measurements.of(draft.spec.engine).speed(slots=self.settings.slots_on(device))
        rate = SpeakingRate(self.offer.chars_per_s * draft.spec.speed, self.rate_measured)
        return estimate(draft, rate, basis, self.settings.tariff, self._queue(draft, broker))

    def _queue(self, draft: Draft, broker: Broker | None) -> Queue | None:
        if broker is None:
            return None
        return find_queue(broker.truth, draft.spec, draft.job, self.measurements)


@contextlib.contextmanager
def running_broker(settings: Settings) -> Iterator[Broker | None]:
    """The broker of the embedded node if one runs; none is started to look at a plan."""
    with contextlib.ExitStack() as stack:
        session = None
        with contextlib.suppress(BrokerUnavailable):
            session = stack.enter_context(connect(settings.broker))
        yield None if session is None else session.broker
