"""The only file that knows Celery: the app, its one task and the worker process that runs steps of jobs.

Celery may lose or repeat a message; both are harmless: steps are idempotent, and the steward's reconciler sends lost
ones again. Run as `python -m workers.celery_app` by the steward; Flower and `celery inspect` see it as a normal worker.
"""

from __future__ import annotations

import functools
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote, urlsplit

from celery import Celery, Task
from kombu.exceptions import OperationalError

from jobs import keys
from jobs.errors import BrokerUnavailable, IllegalMove, JobsError, StoreAway, UnknownJob
from jobs.figures import Total, named
from jobs.protocols import Step, StepKind, Truth
from jobs.settings import Settings, load_settings
from workers.context import Context, open_context
from workers.process import configure_logging
from workers.steps import give_up, run_step

TASK = "tts_batch.step"
QUEUE = "steps"
VISIBILITY_TIMEOUT_S = 3600
"""Longer than the longest step: Redis gives an unconfirmed message to a second worker after this time."""
ANSWER_S = 3.0
MAX_TRIES = 4
RETRY_DELAY_S = 5
NO_END = 10**9
LONGEST_AWAY_S = 60
"""Longest time between two tries of a step whose store or broker is away."""
MAX_STARTS = 8
"""A step that was started this often without an end kills its process (memory, a broken library): no more of it."""
OUR_BUGS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a step can only raise by a fault of the program: tried again it fails again, so the job ends with the reason."""

log = logging.getLogger(__name__)


class StepDied(Exception):
    """A step was started again and again and never came to an end."""


def build_app(broker_url: str) -> Celery:
    """A Celery app on the broker of the jobs, under a key prefix of its own; results are not kept."""
    app = Celery("tts-batch", broker=celery_url(broker_url), set_as_current=False)
    app.conf.update(
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "global_keyprefix": keys.CELERY_PREFIX,
            "visibility_timeout": VISIBILITY_TIMEOUT_S,
        },
        task_acks_late=True,
        task_default_queue=QUEUE,
        task_ignore_result=True,
        task_reject_on_worker_lost=True,
        worker_hijack_root_logger=False,
        worker_prefetch_multiplier=1,
    )
    return app


def celery_url(broker_url: str) -> str:
    """Kombu's spelling of a Redis URL: a unix socket is `redis+socket://`, its database `virtual_host`; with TLS it
    must be said that certificates are checked, which redis-py does by itself."""
    parts = urlsplit(broker_url)
    if parts.scheme == "rediss" and "ssl_cert_reqs=" not in parts.query:
        return f"{broker_url}{'&' if parts.query else '?'}ssl_cert_reqs=required"
    if parts.scheme != "unix":
        return broker_url
    database = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair).get("db", "0")
    return f"redis+socket://{quote(parts.path)}?virtual_host={database}"


def answering_workers(broker_url: str) -> list[str]:
    """The Celery workers that answer within ANSWER_S, as `cpu-<pid>@<host>`.

    Raises:
        BrokerUnavailable: the broker does not take the question.
    """
    try:
        replies = build_app(broker_url).control.ping(timeout=ANSWER_S)
    except OperationalError as error:
        msg = f"the workers could not be asked: {error}"
        raise BrokerUnavailable(msg) from error
    return sorted(name for reply in replies for name in reply)


class StepSender:
    """Hands steps of jobs to the CPU workers."""

    def __init__(self, broker_url: str) -> None:
        self._app = build_app(broker_url)

    def send(self, step: Step) -> None:
        """Send one step; the task id names it, so that logs and Flower can be read.

        Raises:
            BrokerUnavailable: the broker does not take it; the step stays in the outbox.
        """
        place = "".join(f"-{number}" for number in (step.chapter, step.part) if number is not None)
        arguments = (step.kind.value, step.job, step.chapter, step.part)
        task_id = f"{step.kind}-{step.job}{place}-{step.entry}"
        try:
            self._app.send_task(TASK, args=arguments, task_id=task_id, retry=False)
        except OperationalError as error:
            msg = f"step {task_id} could not be handed over: {error}"
            raise BrokerUnavailable(msg) from error


def register_task(app: Celery, settings: Settings) -> None:
    """Add the task to an app. The connections are opened in the pool process that runs it, never before the fork."""

    @functools.cache
    def context_of(_pid: int) -> Context:
        return open_context(settings)

    # Celery counts every try; ours are in `failures`, since trying again while the store is away is no failure.
    @app.task(name=TASK, bind=True, shared=False, max_retries=NO_END)  # type: ignore[untyped-decorator]
    def step(task: Task, kind: str, job: str, chapter: int | None, part: int | None = None, failures: int = 0) -> None:
        context = context_of(os.getpid())
        try:
            # Only the first try of a message is a start: what is tried again did not die.
            starts = context.truth.step_started(job, StepKind(kind), chapter, part) if task.request.retries == 0 else 1
            if starts == 0:
                log.info("step %s of job %s is not called for any more", kind, job)
            elif starts > MAX_STARTS:
                died = StepDied(f"it was started {starts - 1} times and never came to an end")
                give_up(context, StepKind(kind), job, died)
            else:
                with counted(context.truth, kind):
                    run_step(context, StepKind(kind), job, chapter, part)
        except (UnknownJob, IllegalMove) as error:
            log.info("step %s of job %s: the job has moved on (%s)", kind, job, error)
        except (StoreAway, BrokerUnavailable) as error:
            # Nothing is wrong with the step: it is tried until they are back.
            wait_s = min(LONGEST_AWAY_S, RETRY_DELAY_S * 2 ** min(task.request.retries, 10))
            raise task.retry(exc=error, countdown=wait_s) from error
        except (JobsError, OSError) as error:
            if failures < MAX_TRIES - 1:
                again = (kind, job, chapter, part, failures + 1)
                raise task.retry(args=again, exc=error, countdown=RETRY_DELAY_S) from error
            give_up(context, StepKind(kind), job, error)
        except OUR_BUGS as error:
            log.exception("step %s of job %s met something unforeseen", kind, job)
            give_up(context, StepKind(kind), job, error)


@contextmanager
def counted(truth: Truth, kind: str) -> Iterator[None]:
    """Count a step and how long it took, in the totals of the truth; a broker that is away counts nothing."""
    began_s, end = time.monotonic(), "failed"
    try:
        yield
        end = "done"
    finally:
        took_ms = round(1000 * (time.monotonic() - began_s))
        with suppress(BrokerUnavailable):
            truth.count({named(Total.STEPS, f"{kind}.{end}"): 1, named(Total.STEP_MS, kind): took_ms})


def main() -> None:
    """Run a Celery worker for the steps of jobs until it is told to stop."""
    settings = load_settings()
    if settings.broker is None:
        msg = "the Celery worker needs TTS_BATCH_BROKER; it is started by `tts-batch worker cpu`"
        raise SystemExit(msg)
    configure_logging("steps", settings.log_level)
    app = build_app(settings.broker)
    register_task(app, settings)
    name = f"cpu-{os.getpid()}@{socket.gethostname()}"
    concurrency = str(len(os.sched_getaffinity(0)))
    level = settings.log_level
    # Gossip and mingle only cost start-up time: our workers have nothing to tell each other.
    options = ["--without-gossip", "--without-mingle", "--concurrency", concurrency, "--loglevel", level]
    app.worker_main(["worker", "--hostname", name, *options])


if __name__ == "__main__":
    main()
