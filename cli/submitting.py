"""What `tts-batch submit` does: read, plan, show or queue, follow, deliver."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import click

from cli.failures import Reasons, failure_documents, failure_line, failure_reasons
from cli.options import Shared
from cli.output import Exit, JsonValue, Output, table
from cli.session import Session, connect, find_offer, is_path, settings_for
from cli.watch import Follower
from jobs.deliver import check_folder, deliver, finished_objects
from jobs.edit import edited_plan, plan_text
from jobs.errors import BadOption, BadSource, SourceProblem
from jobs.progress import clock
from jobs.reading import load_source, read_bounded
from jobs.spec import AudioFormat, JobRecord, ModelOffer, Priority, SourceKind
from jobs.state import JobState
from jobs.stores import open_shared_store
from jobs.submit import Draft, Source, Wishes, accept, check_space, make_draft

STDIN = "-"
Choice = TypeVar("Choice", AudioFormat, Priority, SourceKind)


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of `submit` as it was typed."""

    files: tuple[str, ...]
    model: str | None
    voice: str | None
    language: str | None
    seed: int
    speed: float
    formats: str
    out: str | None
    live: bool
    priority: str
    kind: str | None
    wait: bool
    dry_run: bool
    edit: bool


def run(ask: Ask, options: Shared) -> Exit:
    """Do one `submit`. Raises our errors; nothing is queued before every source was read and planned."""
    output = options.output
    settings = settings_for(options.broker)
    with contextlib.ExitStack() as stack:
        session = stack.enter_context(connect(options.broker)) if settings.broker is not None else None
        model = _model_name(ask.model or settings.model)  # workers run in other folders
        if ask.voice is not None and is_path(ask.voice):
            # Workers run in other folders.
            ask = replace(ask, voice=str(Path(ask.voice).expanduser().absolute()))
        offer = find_offer(model, ask.voice, settings, session.broker if session else None)
        wishes = _wishes(ask, offer, settings.store_url)
        drafts = [_draft(ask, source, wishes) for source in _sources(ask)]
        outs = _check_outs(ask, drafts)
        if ask.dry_run:
            _show(output, drafts)
            return Exit.DONE
        if session is None:
            session = stack.enter_context(connect(None, needs_node=ask.wait, model=model))
        session.check_served(model, command="tts-batch up")
        records = [accept(draft, session.broker.truth, session.store(wishes.store_url)) for draft in drafts]
        if not ask.wait:
            return _queued(output, records)
        return follow_all(session, output, list(zip(records, outs, strict=True)))


def _model_name(model: str) -> str:
    from workers.catalog import model_name

    return model_name(model)


def _queued(output: Output, records: Sequence[JobRecord]) -> Exit:
    documents: list[JsonValue] = [{"job": record.job, "state": record.state.value} for record in records]
    output.result({"jobs": documents}, "\n".join(record.job for record in records))
    return Exit.DONE


def _sources(ask: Ask) -> list[Source]:
    kind = _one_of(SourceKind, "--type", ask.kind) if ask.kind else None
    return [_source(name, kind) for name in ask.files]


def _source(name: str, kind: SourceKind | None) -> Source:
    if name == STDIN:
        data = read_bounded(sys.stdin.buffer, "standard input")
        return Source("stdin.txt" if kind is None else f"stdin.{kind}", data, kind)
    return Source(Path(name).name, load_source(Path(name)), kind)


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
    return draft.with_plan(edited_plan(draft.plan, text, max_chars=wishes.offer.max_chars))


def _wishes(ask: Ask, offer: ModelOffer, store_url: str) -> Wishes:
    named = ask.out if ask.out is not None and "://" in ask.out else store_url
    formats = [_one_of(AudioFormat, "--format", name.strip()) for name in ask.formats.split(",")]
    return Wishes(
        offer=offer,
        store_url=open_shared_store(named).url,  # one spelling: the URL is part of the job's id
        voice=ask.voice,
        language=ask.language,
        seed=ask.seed,
        speed=ask.speed,
        formats=tuple(dict.fromkeys(formats)),
        priority=_one_of(Priority, "--priority", ask.priority),
        live=ask.live,
    )


def _one_of(kind: type[Choice], option: str, value: str) -> Choice:
    try:
        return kind(value)
    except ValueError:
        msg = f"{option} {value!r} is not possible; allowed are {', '.join(kind)}"
        raise BadOption(msg) from None


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


def _show(output: Output, drafts: Sequence[Draft]) -> None:
    documents: list[JsonValue] = []
    for draft in drafts:
        source = draft.plan.source
        output.say(f"{source.name}: {draft.title}{f' by {source.author}' if source.author else ''}")
        output.say(f"{source.encoding}, {draft.spec.language}, model {draft.spec.model}, voice {draft.spec.voice}")
        for warning in source.warnings:
            output.say(f"warning: {warning}")
        documents.append(
            {
                "job": draft.job,
                "title": draft.title,
                "chapters": [chapter.model_dump(mode="json") for chapter in draft.plan.chapters],
                "segments": len(draft.plan.segments),
                "spoken_chars": draft.plan.spoken_chars,
                "audio_s": round(draft.audio_s, 1),
                "store_bytes": draft.store_bytes,
                "warnings": list(source.warnings),
            }
        )
        rows = [(str(c.chapter + 1), c.title, str(c.segments)) for c in draft.plan.chapters]
        shown = table("chapter", "title", "segments", rows=rows)
        if not output.as_json:
            output.result(None, shown)
        estimate = f"{clock(draft.audio_s)} audio, {draft.store_bytes / 1e6:.1f} MB"
        output.say(f"{len(draft.plan.segments)} segments, {draft.plan.spoken_chars} characters, about {estimate}")
    output.result({"plans": documents})
