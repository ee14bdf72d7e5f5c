"""`/v1/plans`: what would become of a source, before anything is queued."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from cli.api.access import JOBS
from cli.api.errors import told
from cli.api.job_forms import SentJob, body_schema, drafted
from cli.api.service import Served
from jobs.account import Passage
from jobs.benchmarks import Basis
from jobs.drafts import Draft
from jobs.plan_view import short, sums

router = APIRouter(prefix="/v1/plans", tags=["jobs"])


class PlannedChapter(BaseModel):
    """A chapter: `chars` are what the model would get, `audio_s` what is expected of them."""

    title: str
    segments: int
    chars: int
    audio_s: float


class PassageSum(BaseModel):
    """Passages of the source that are not spoken, or not as they stand, for one reason; `example` is one of them."""

    why: str
    count: int
    chars: int
    example: str


class EstimateView(BaseModel):
    """What is still to be spoken, what it takes and when it would be done; null: not known (yet)."""

    spoken_chars: int
    segments_in_store: int
    audio_s: float
    chars_per_s: float
    chars_per_s_measured: bool
    device_s: float | None
    basis: Basis | None
    price: float | None
    currency: str
    workers: int | None
    ahead_s: float | None
    eta_s: float | None


class PlanView(BaseModel):
    """A source as it would be spoken. `job` is the id that it would have as a job."""

    object: Literal["plan"] = "plan"
    job: str
    title: str
    author: str
    language: str
    model: str
    voice: str
    chapters: list[PlannedChapter]
    segments: int
    chars: int
    audio_s: float
    skipped: list[PassageSum]
    replaced: list[PassageSum]
    warnings: list[str]
    estimate: EstimateView


@router.post("", dependencies=[JOBS], openapi_extra=body_schema(), responses=told(400, 413, 415, 503))
def create_plan(service: Served, sent: SentJob) -> PlanView:
    """Plan a source as `POST /v1/jobs` would, with the same body, and queue nothing."""
    draft, expecting = drafted(sent, service)
    plan, account = draft.plan, draft.plan.account
    estimate = expecting.dry(draft, service.broker)
    return PlanView(
        job=draft.job,
        title=draft.title,
        author=plan.source.author,
        language=draft.spec.language,
        model=draft.spec.model,
        voice=draft.spec.voice,
        chapters=_chapters(draft),
        segments=len(plan.segments),
        chars=plan.prompt_chars,
        audio_s=round(draft.audio_s, 1),
        skipped=_sums(account.skipped),
        replaced=_sums(account.replaced),
        warnings=[*plan.source.warnings, *draft.passed_over, *draft.long_chapters],
        estimate=EstimateView.model_validate(estimate.document()),
    )


def _chapters(draft: Draft) -> list[PlannedChapter]:
    chars = draft.plan.chapter_chars
    return [
        PlannedChapter(
            title=chapter.title,
            segments=chapter.segments,
            chars=chars[chapter.chapter],
            audio_s=round(audio_s, 1),
        )
        for chapter, audio_s in zip(draft.plan.chapters, draft.chapter_s, strict=True)
    ]


def _sums(passages: Sequence[Passage]) -> list[PassageSum]:
    return [
        PassageSum(why=one.why.value, count=len(one.passages), chars=one.chars, example=_example(one.passages[0]))
        for one in sums(passages)
    ]


def _example(passage: Passage) -> str:
    """`was`, or `was → now`, each in short."""
    was = short(passage.was)
    return f"{was} → {short(passage.now)}" if passage.now else was
