"""Blends of voices: one name however they are written, known wherever a voice may be named, or refused."""

from __future__ import annotations

import json

import pytest

from jobs.blends import blend, shares
from jobs.errors import BadOption
from jobs.offers import find_voice, known_voice
from jobs.spec import VoiceOffer
from jobs.speech_body import SpeechBody, check_body
from models.kokoro.voices import Blend
from tests.helpers_jobs import OFFER, World

MIXES = OFFER.model_copy(update={"blends": True})
ONE = World()


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("ann+bob", "ann:0.5+bob:0.5"),
        ("bob:4 + ann:6", "ann:0.6+bob:0.4"),
        ("ann:0.6+bob:0.4", "ann:0.6+bob:0.4"),
        ("ann:2+bob+ann", "ann:0.75+bob:0.25"),
        ("ann:1+bob:2", "ann:0.3333+bob:0.6667"),
        ("ann:7", "ann"),
        ("ann+ann", "ann"),
    ],
)
def test_the_same_blend_is_the_same_voice(asked, name):
    voice = find_voice(MIXES, asked)
    assert voice.name == name
    assert find_voice(MIXES, name).name == name
    assert Blend.parse(asked).name == name  # the model takes it for the same
    assert Blend.parse(name).name == name


def test_what_a_blend_is():
    voice = find_voice(MIXES, "ann:1+bob:3")
    assert (voice.language, voice.licence, voice.installed, voice.reads) == ("en-GB", "free", True, ("en",))
    revisions = {find_voice(MIXES, name).revision for name in ("ann", "bob", "ann+bob", "ann:1+bob:3", "ann:3+bob:1")}
    assert len(revisions) == 5
    assert find_voice(MIXES, "bob:3+ann:1") == voice
    changed = MIXES.model_copy(
        update={"voices": (*MIXES.voices[1:], MIXES.voices[0].model_copy(update={"revision": "r9"}))}
    )
    assert find_voice(changed, "ann:1+bob:3").revision != voice.revision


def test_licences_and_languages_are_those_of_all():
    one = VoiceOffer(name="a", language="ja", revision="1", licence="MIT", note="Old.", reads=("ja", "en"))
    two = VoiceOffer(name="b", language="en-US", revision="2", licence="CC0", installed=False, install_hint="get b")
    three = VoiceOffer(name="c", language="en-US", revision="3", licence="MIT", note="Old.")
    voice = blend([(one, 0.5), (two, 0.25), (three, 0.25)])
    assert (voice.language, voice.reads, voice.licence, voice.note) == ("ja", ("en",), "MIT, CC0", "Old.")
    assert (voice.installed, voice.install_hint) == (False, "get b")
    german = VoiceOffer(name="d", language="de", revision="4", licence="MIT")
    with pytest.raises(BadOption, match=r"voice 'b:0\.5\+d:0\.5': there is no language that all of its voices read"):
        blend([(two, 0.5), (german, 0.5)])


@pytest.mark.parametrize(
    "name", ["ann:", "ann:0", "ann:-1", "ann:nan", "ann:inf", "ann+", "+", "a:b:c", ":1", "ann:1:2"]
)
def test_what_is_no_blend_is_refused(name):
    with pytest.raises(BadOption, match=r"is not a blend like af_heart:0\.6\+bf_emma:0\.4 with weights above 0"):
        find_voice(MIXES, name)


def test_parts_that_are_not_there():
    with pytest.raises(BadOption, match="no voice 'anna' \\(did you mean 'ann'\\?\\)"):
        find_voice(MIXES, "anna:1+bob:2")
    with pytest.raises(BadOption, match="is not installed: pip install far"):
        find_voice(MIXES, "ann+far")
    assert not known_voice(MIXES, "ann+far").installed
    with pytest.raises(BadOption, match=r"ann has 1e-05 of the whole; leave it out, or give it at least 0\.0001"):
        find_voice(MIXES, "ann:0.00001+bob:0.99999")
    with pytest.raises(BadOption, match=r"model m has no voice 'ann\+bob'"):
        find_voice(OFFER, "ann+bob")
    assert shares("b:1+a:3") == [("a", 0.75), ("b", 0.25)]


def test_jobs_and_items_may_ask_for_them():
    assert ONE.draft(offer=MIXES, voice="bob:4+ann:6").spec.voice == "ann:0.6+bob:0.4"
    assert ONE.draft(offer=MIXES, voice="bob:4+ann:6").job == ONE.draft(offer=MIXES, voice="ann:6+bob:4").job
    line = json.dumps({"id": "a", "text": "Hello there.", "voice": "bob+ann"})
    spec = ONE.draft(line, "set.jsonl", offer=MIXES).spec
    assert spec.item_voices == {"bob+ann": find_voice(MIXES, "ann+bob").revision}
    assert spec.item_licences == {"bob+ann": "free"}


def test_requests_may_ask_for_them_and_for_other_scripts():
    readers = [voice.model_copy(update={"reads": ("en", "ru")}) for voice in MIXES.voices]
    offer = MIXES.model_copy(update={"voices": tuple(readers)})

    def chosen(text: str, **fields: object) -> tuple[str, str]:
        found = check_body(SpeechBody(model="m", input=text, **fields), offer)
        return found.voice.name, found.language

    assert chosen("Good morning.", voice="bob:1+ann:1") == ("ann:0.5+bob:0.5", "en-US")
    assert chosen("Доброе утро.", voice="ann") == ("ann", "ru")
    assert chosen("Доброе утро.", voice="ann", language="en") == ("ann", "en-US")
    with pytest.raises(BadOption, match="the input is in el, voice ann reads en, ru; choose a voice that speaks it"):
        chosen("Καλημέρα σας.", voice="ann")
