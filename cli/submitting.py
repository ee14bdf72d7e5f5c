"""What `tts-batch submit` does up to the queue: read, plan, show or edit, check the place for the audio, accept."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from cli.estimates import Expecting, running_broker
from cli.following import default_out, follow_all
from cli.options import Shared
from cli.output import Exit, JsonValue, Output
from cli.plan_show import show_plan
from cli.session import connect, find_offer, settings_for
from cli.sources import Reading, source_of
from jobs.admission import check_room
from jobs.connect import Broker
from jobs.deliver import check_folder
from jobs.drafts import Draft, Source, Wishes, make_draft
from jobs.edit import edited_plan, plan_text
from jobs.errors import BadOption, BadSource, SourceProblem
from jobs.estimate import Estimate
from jobs.plan_view import short_line, shown
from jobs.progress import clock
from jobs.settings import Settings
from jobs.spec import JobRecord, ModelOffer
from jobs.stores import open_shared_store
from jobs.submit import accept, check_space


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of `submit` as it was typed."""

    reading: Reading
    out: str | None
    wait: bool
    dry_run: bool
    edit: bool


def run(ask: Ask, options: Shared) -> Exit:
    """Do one `submit`. Raises our errors; nothing is queued before every source was read and planned."""
    output, reading, asked = options.output, ask.reading, ask.reading.asked
    settings = settings_for(options.broker)
    with contextlib.ExitStack() as stack:
        session = stack.enter_context(connect(options.broker)) if settings.broker is not None else None
        model = _model_name(asked.model or settings.model)  # workers run in other folders
        offer = find_offer(model, asked.voice, settings, session.broker if session else None)
        expecting = Expecting.of(settings, offer, asked.voice)
        wishes = _wishes(ask, expecting.offer, settings)
        sources = [source_of(name, reading.source_kind) for name in reading.files]
        drafts = [_draft(ask, source, wishes) for source in sources]
        outs = _check_outs(ask, drafts)
        if ask.dry_run:
            broker = session.broker if session else stack.enter_context(running_broker(settings))
            _show(output, drafts, expecting, broker)
            return Exit.DONE
        _check_recognisers(drafts, here=settings.broker is None)
        if session is None:
            session = stack.enter_context(connect(None, needs_node=ask.wait, model=model))
        session.check_served(model, command="tts-batch up")
        check = partial(check_room, session.broker, max_waiting=settings.max_waiting_segments or None)
        truth, store = session.broker.truth, session.store(wishes.store_url)
        records = [accept(draft, truth, store, check=check) for draft in drafts]
        pairs = zip(drafts, records, strict=True)
        estimates = [expecting.accepted(draft, record, session.broker) for draft, record in pairs]
        _tell(output, drafts, estimates)
        if not ask.wait:
            return _queued(output, records, estimates)
        return follow_all(session, output, list(zip(records, outs, strict=True)))


def _model_name(model: str) -> str:
    from workers.catalog import model_name

    return model_name(model)


def _check_recognisers(drafts: Sequence[Draft], *, here: bool) -> None:
    """Whether the recogniser of each draft is on this machine, where its CPU workers run `here`.

    Raises:
        MissingExtra, BadOption: it is not.
    """
    asked = {draft.spec.checks.asr for draft in drafts} - {""}
    if asked and here:
        from workers.recogniser import find_recogniser

        for asr in sorted(asked):
            find_recogniser(asr)


def _queued(output: Output, records: Sequence[JobRecord], estimates: Sequence[Estimate]) -> Exit:
    documents: list[JsonValue] = [
        {"job": record.job, "state": record.state.value, "estimate": expected.document()}
        for record, expected in zip(records, estimates, strict=True)
    ]
    output.result({"jobs": documents}, "\n".join(record.job for record in records))
    return Exit.DONE


def _draft(ask: Ask, source: Source, wishes: Wishes) -> Draft:
    draft = make_draft(source, wishes)
    if not ask.edit:
        return draft
    if not sys.stdin.isatty():
        msg = "--edit opens an editor and needs a terminal; use --dry-run to see the plan"
        raise BadOption(msg)
    try:
        text = click.edit(plan_text(draft.plan), extension=".md")
    except click.ClickException as error:
        msg = f"--edit: {error.format_message()}; set EDITOR to an editor that is installed"
        raise BadOption(msg) from error
    if text is None:
        raise BadSource(SourceProblem("not_saved", "the plan was not saved in the editor; nothing was submitted"))
    source_text, max_chars = draft.planned.text, wishes.offer.max_chars
    return draft.with_plan(edited_plan(draft.plan, text, source_text=source_text, max_chars=max_chars))


def _wishes(ask: Ask, offer: ModelOffer, settings: Settings) -> Wishes:
    named = ask.out if ask.out is not None and "://" in ask.out else settings.store_url
    # One spelling of the store: its URL is part of the job's id.
    return ask.reading.asked.wishes(offer, open_shared_store(named, settings.s3).url)


def _check_outs(ask: Ask, drafts: Sequence[Draft]) -> list[Path | None]:
    """The folder of each draft, checked for room and permission before anything is queued."""
    if ask.out is not None and "://" in ask.out:
        return [None] * len(drafts)
    outs: list[Path | None] = []
    for draft in drafts:
        out = default_out(draft.spec.source_name)
        if ask.out is not None:
            base = Path(ask.out).expanduser().absolute()
            out = base if len(drafts) == 1 else base / out.name
        if out in outs:
            names = f"{drafts[outs.index(out)].spec.source_name} and {draft.spec.source_name}"
            msg = f"{names} would both be written to {out}; submit them one by one, each with its own --out"
            raise BadOption(msg)
        check_folder(out)
        check_space(out, draft.out_bytes)
        outs.append(out)
    return outs


def _tell(output: Output, drafts: Sequence[Draft], estimates: Sequence[Estimate]) -> None:
    """What a listener may miss, the lines that were passed over, and what it is expected to take."""
    for draft, expected in zip(drafts, estimates, strict=True):
        name = f"{draft.spec.source_name}: " if len(drafts) > 1 else ""
        for line in draft.passed_over:
            output.say(shown(f"{name}{line}"))
        if line := short_line(draft.plan.account):
            output.say(f"{name}{line}")
        output.say(f"{name}{expected.line()}")
        _tell_long_chapters(output, draft)


def _tell_long_chapters(output: Output, draft: Draft) -> None:
    for line in draft.long_chapters:
        output.say(shown(line))


def _show(output: Output, drafts: Sequence[Draft], expecting: Expecting, broker: Broker | None) -> None:
    documents: list[JsonValue] = []
    offer = expecting.offer
    for number, draft in enumerate(drafts):
        if not output.as_json:
            if number:
                output.result(None, "")
            show_plan(output, draft.planned, chars_per_s=offer.chars_per_s * draft.spec.speed)
        output.say(f"{draft.spec.language}, model {draft.spec.model}, voice {draft.spec.voice}")
        estimate = f"{clock(draft.audio_s)} audio, {draft.store_bytes / 1e6:.1f} MB"
        output.say(f"{len(draft.plan.segments)} segments, {draft.plan.prompt_chars} characters, about {estimate}")
        expected = expecting.dry(draft, broker)
        output.say(expected.line())
        for reason in expected.reasons(bench_helps=offer.lane != "utterance", model=offer.name):
            output.say(reason)
        _tell_long_chapters(output, draft)
        documents.append(_document(draft, expected))
    output.result({"plans": documents})


def _document(draft: Draft, expected: Estimate) -> JsonValue:
    plan = draft.plan
    return {
        "job": draft.job,
        "title": draft.title,
        "chapters": [chapter.model_dump(mode="json") for chapter in plan.chapters],
        "segments": len(plan.segments),
        "spoken_chars": plan.prompt_chars,
        "account": plan.account.totals().model_dump(mode="json"),
        "audio_s": round(draft.audio_s, 1),
        "store_bytes": draft.store_bytes,
        "estimate": expected.document(),
        "warnings": list(plan.source.warnings),
    }
