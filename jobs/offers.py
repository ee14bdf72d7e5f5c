"""What models offer, and what a job asks for against it: voices, their languages, the speed. Pure.

voice = find_voice(offer, "joe")
language = language_for(asked, declared, voice)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from jobs.blends import blend, is_blend, shares
from jobs.errors import BadOption
from jobs.language_tags import base_language, language_tag
from jobs.plan import Plan, SegmentPlan
from jobs.spec import ModelOffer, VoiceOffer, WorkerStatus


def published_offers(workers: Iterable[WorkerStatus]) -> list[ModelOffer]:
    """What living workers offer, each model once: as GPUs speak it, where one does."""
    offers: dict[str, ModelOffer] = {}
    for status in sorted(workers, key=lambda status: status.info.device != "cuda"):
        for offer in status.info.offers:
            offers.setdefault(offer.name, offer)
    return list(offers.values())


def offer_named(offers: Iterable[ModelOffer], model: str) -> ModelOffer | None:
    """The offer of a model, None if it is not among them."""
    return next((offer for offer in offers if offer.name == model), None)


def find_voice(offer: ModelOffer, name: str) -> VoiceOffer:
    """The voice of that name. Raises BadOption with near names when there is none, or when it is not installed."""
    voice = known_voice(offer, name)
    if not voice.installed:
        msg = f"voice {name!r} of model {offer.name} is not installed: {voice.install_hint}"
        raise BadOption(msg)
    return voice


def known_voice(offer: ModelOffer, name: str) -> VoiceOffer:
    """The voice of that name, or the blend, installed or not. Raises BadOption with near names when there is none."""
    voice = offer.voice(name)
    if voice is not None:
        return voice
    if offer.blends and is_blend(name):
        return blend([(known_voice(offer, one), share) for one, share in shares(name)])
    names = [voice.name for voice in offer.voices]
    by_lower = {known.lower(): known for known in names}
    near = [by_lower[known] for known in get_close_matches(name.lower(), by_lower)]
    hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    msg = f"model {offer.name} has no voice {name!r}{hint}; its voices are {', '.join(names)} (see `tts-batch voices`)"
    raise BadOption(msg)


def check_speed(offer: ModelOffer, speed: float) -> None:
    """Raise BadOption with the speeds that are possible where this is none of them."""
    if not offer.min_speed <= speed <= offer.max_speed:
        msg = f"speed {speed:g} is not possible with model {offer.name}; {offer.min_speed:g} to {offer.max_speed:g} is"
        raise BadOption(msg)


def can_read(voice: VoiceOffer, language: str) -> bool:
    """Whether a voice can be asked to read a language, of whatever region."""
    return base_language(language) in (voice.reads or (base_language(voice.language),))


def tongues(voice: VoiceOffer) -> str:
    """What a voice reads, for people: "speaks en-US", "reads en, ja"."""
    return f"reads {', '.join(voice.reads)}" if voice.reads else f"speaks {voice.language}"


def language_for(asked: str | None, declared: str, voice: VoiceOffer, *, strict: bool = True) -> str:
    """The one asked for, else the source's own, else the voice's; `strict`: it must be one the voice can read."""
    language = language_tag(asked or declared or voice.language)
    base = base_language(language)
    if strict and not can_read(voice, language):
        origin = "asked for" if asked else "declared by the source" if declared else "its own; see `tts-batch voices`"
        other = voice.reads[0] if voice.reads else voice.language
        msg = (
            f"voice {voice.name} {tongues(voice)}, not {language} ({origin}); choose another voice, or pass "
            f"--lang {other} to have the text read as {other}"
        )
        raise BadOption(msg)
    return voice.language if base == language.casefold() == base_language(voice.language) else language


def doubts(offer: ModelOffer, plan: Plan, voice: VoiceOffer, language: str) -> Iterator[str]:
    """What `submit` would refuse a plan for: each thing once."""
    if not can_read(voice, language):
        yield f"voice {voice.name} {tongues(voice)}, not {language}; choose another voice or --lang to submit it"
        return
    asked = {(segment.voice, segment.language): segment for segment in reversed(plan.segments)}
    for (name, _), segment in sorted(asked.items(), key=lambda entry: entry[1].segment):
        try:
            _check_speaks(segment, known_voice(offer, name) if name else voice)
        except BadOption as error:
            yield str(error)


def item_voices(offer: ModelOffer, plan: Plan, voice: VoiceOffer) -> dict[str, str]:
    """The revisions of the voices that segments ask for, by name.

    Raises:
        BadOption: there is no such voice, or a segment is in another language than the voice that is to speak it.
    """
    revisions: dict[str, str] = {}
    for segment in plan.segments:
        own = find_voice(offer, segment.voice) if segment.voice else voice
        _check_speaks(segment, own)
        if segment.voice:
            revisions[segment.voice] = own.revision
    return revisions


def item_licences(offer: ModelOffer, plan: Plan) -> dict[str, str]:
    """The licences of the voices that segments ask for, by name."""
    asked = sorted({segment.voice for segment in plan.segments if segment.voice})
    return {name: known_voice(offer, name).licence for name in asked}


def _check_speaks(segment: SegmentPlan, voice: VoiceOffer) -> None:
    """Raise BadOption where a segment is in a language that the voice that is to speak it cannot read."""
    if can_read(voice, segment.language):
        return
    what = f"segment {segment.segment}" if segment.item is None else f"item {segment.item!r}"
    msg = (
        f"{what} is in {segment.language}, voice {voice.name} {tongues(voice)}; give it "
        'a "voice" that speaks its language, or (JSONL) the "lang" of its voice'
    )
    raise BadOption(msg)
