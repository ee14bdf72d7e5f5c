"""Reference clips: recordings of people who agreed that models which clone voices speak like them.

They are objects of a store, so every server beside us knows them: `voices/<id>/clip.flac` (mono, 16 bit) first and
`voices/<id>/voice.json` last, both written once. The id comes from name and samples: adding the same clip again changes
nothing.
"""

from __future__ import annotations

import hashlib
import io
import re
import time
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

import soundfile
from pydantic import ValidationError

from jobs import keys
from jobs.clips import Clip, read_clip
from jobs.errors import BadOption, ObjectDamaged, ObjectMissing
from jobs.protocols import Store
from jobs.spec import Frozen, ModelOffer

MAX_REFERENCES = 1000
"""References of one store: enough for any cast, and a listing stays quick."""
MAX_CONSENT_CHARS = 2000
MAX_TEXT_CHARS = 2000
ID_PREFIX = "voice_"
_CLIP, _RECORD = "clip.flac", "voice.json"
_NAME = re.compile(r"\w(?:[\w .'-]{0,62}[\w.])?")


class ReferenceTaken(BadOption):
    """The name of a reference is that of another voice."""


class TooManyReferences(BadOption):
    """The store holds as many references as it may."""


class Reference(Frozen):
    """What is known of a clip. `consent` names who agreed and to what; `text` is what is said in it ("": not told)."""

    voice: str
    name: str
    consent: str
    text: str = ""
    created_at_s: float
    audio_s: float
    sample_rate_hz: int
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Offered:
    """A clip that somebody wants to add: its name, who agreed to what, maybe what is said, and the file's bytes."""

    name: str
    consent: str
    data: bytes
    text: str = ""


def add(store: Store, offered: Offered, *, taken: Collection[str]) -> tuple[Reference, bool]:
    """Keep a clip; False: it was there already, under that name. `taken` are the names of the models' own voices.

    Two servers that add different clips under one name at one time both look again afterwards: the older one stays.

    Raises:
        BadOption: a name, consent or text that is not allowed.
        ReferenceTaken: another voice has the name.
        TooManyReferences: there are MAX_REFERENCES.
        BadSource: the clip is not one (`jobs.clips.read_clip`).
        StoreError: it cannot be written.
    """
    name = checked_name(offered.name, taken)
    _check_texts(offered)
    clip = read_clip(offered.data)
    voice = _id_of(name, clip)
    known = references(store)
    same = next((one for one in known if one.voice == voice), None)
    if same is not None:
        return same, False
    _check_free(name, known)
    audio = _flac(clip)
    reference = Reference(
        voice=voice,
        name=name,
        consent=offered.consent.strip(),
        text=offered.text.strip(),
        created_at_s=round(time.time(), 3),
        audio_s=round(clip.seconds, 3),
        sample_rate_hz=clip.sample_rate_hz,
        size_bytes=len(audio),
        sha256=hashlib.sha256(audio).hexdigest(),
    )
    store.put(_clip_key(voice), audio)
    store.put(_record_key(voice), reference.model_dump_json().encode())
    older = [one for one in references(store) if _order(one) < _order(reference)]
    try:
        _check_free(name, older)
    except BadOption:
        remove(store, voice)
        raise
    return reference, True


def references(store: Store) -> list[Reference]:
    """All references, oldest first. Raises StoreError."""
    voices = [key.split("/")[-2] for key in store.list(keys.VOICES) if key.endswith(f"/{_RECORD}")]
    return sorted(filter(None, (_read(store, voice) for voice in voices)), key=_order)


def find(store: Store, name: str) -> Reference | None:
    """The reference of that id or name, or None. Raises StoreError."""
    if name.startswith(ID_PREFIX):
        return _read(store, name) if re.fullmatch(r"\w+", name) else None
    wanted = _folded(name)
    return next((one for one in references(store) if _folded(one.name) == wanted), None)


def clip_of(store: Store, reference: Reference) -> bytes:
    """The clip as FLAC.

    Raises:
        ObjectMissing: it was removed meanwhile.
        ObjectDamaged: it is not what its record says.
    """
    audio = store.get(_clip_key(reference.voice))
    if hashlib.sha256(audio).hexdigest() != reference.sha256:
        msg = f"the clip of reference {reference.name!r} is damaged; delete the reference and add it again"
        raise ObjectDamaged(msg)
    return audio


def remove(store: Store, voice: str) -> None:
    """Delete a reference by its id: its record first, so that it is gone at once. One that is not there is no error."""
    store.delete(_record_key(voice))
    store.delete(_clip_key(voice))


def checked_name(name: str, taken: Collection[str]) -> str:
    """A name that a reference may have, in its usual Unicode form. Raises BadOption, ReferenceTaken."""
    usual = unicodedata.normalize("NFC", name.strip())
    if not _NAME.fullmatch(usual) or usual.casefold().startswith(ID_PREFIX) or usual.casefold().endswith(".onnx"):
        msg = (
            f"name {name[:80]!r} is not allowed; use 1 to 64 letters, digits, spaces, dots, dashes, apostrophes and "
            f"underscores, beginning with a letter or digit, not with {ID_PREFIX!r}, and not ending like a file"
        )
        raise BadOption(msg)
    clash = next((one for one in taken if _folded(one) == _folded(usual)), None)
    if clash is not None:
        msg = f"a model has a voice of its own that is called {clash!r}; choose another name"
        raise ReferenceTaken(msg)
    return usual


def check_clones(store: Store, offer: ModelOffer, voice: str) -> None:
    """Refuse the name of a reference to a model that does not clone; any other name is somebody else's to judge.

    Raises:
        BadOption: the name is a reference's, and the model does not clone.
        StoreError: the store does not answer.
    """
    if offer.clones or offer.voice(voice) is not None or find(store, voice) is None:
        return
    msg = (
        f"voice {voice!r} is a reference clip, and model {offer.name} does not clone voices; it has voices of its own: "
        f"{', '.join(one.name for one in offer.voices)}"
    )
    raise BadOption(msg)


def _check_texts(offered: Offered) -> None:
    for label, text, least, most in (
        ("consent", offered.consent.strip(), 1, MAX_CONSENT_CHARS),
        ("ref_text", offered.text.strip(), 0, MAX_TEXT_CHARS),
    ):
        if not least <= len(text) <= most:
            why = "; say who agreed, and to what" if label == "consent" else ""
            msg = f"{label} has {len(text)} characters; {least} to {most} are allowed{why}"
            raise BadOption(msg)


def _check_free(name: str, known: Collection[Reference]) -> None:
    clash = next((one for one in known if _folded(one.name) == _folded(name)), None)
    if clash is not None:
        msg = f"a reference is called {clash.name!r} already ({clash.voice}); delete it first or choose another name"
        raise ReferenceTaken(msg)
    if len(known) >= MAX_REFERENCES:
        msg = f"there are {len(known)} references; at most {MAX_REFERENCES} are kept: delete some first"
        raise TooManyReferences(msg)


def _read(store: Store, voice: str) -> Reference | None:
    """The record of one reference; None: it is gone, or is none of ours."""
    try:
        return Reference.model_validate_json(store.get(_record_key(voice)))
    except (ObjectMissing, ValidationError):
        return None


def _order(reference: Reference) -> tuple[float, str]:
    return (reference.created_at_s, reference.voice)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _clip_key(voice: str) -> str:
    return keys.voice_object(voice, _CLIP)


def _record_key(voice: str) -> str:
    return keys.voice_object(voice, _RECORD)


def _id_of(name: str, clip: Clip) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for part in (name.encode(), str(clip.sample_rate_hz).encode(), clip.pcm.astype("<i2").tobytes()):
        digest.update(len(part).to_bytes(8, "big") + part)
    return f"{ID_PREFIX}{digest.hexdigest()}"


def _flac(clip: Clip) -> bytes:
    buffer = io.BytesIO()
    soundfile.write(buffer, clip.pcm, clip.sample_rate_hz, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()
