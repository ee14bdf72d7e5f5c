"""What is asked in words becomes wishes, and both doors have one set of defaults."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from cli.api.job_forms import JobForm
from cli.sources import TYPED
from cli.submit import submit
from jobs.drafts import Wishes
from jobs.errors import BadOption
from jobs.job_options import JobOptions, recogniser_in
from jobs.kinds import LoudnessOver, OnBad, Profile, SubtitleFormat
from jobs.spec import AudioFormat, Checks, Mastering, Priority
from tests.helpers_jobs import OFFER

STORE = "file:///store"


def test_nothing_asked_is_nothing_wished():
    assert JobOptions().wishes(OFFER, STORE) == Wishes(offer=OFFER, store_url=STORE)


def test_words_become_wishes():
    asked = JobOptions(
        voice="bob",
        formats="mp3, flac,mp3",
        priority="bulk",
        takes=5,
        on_bad="fail",
        check="asr:base.en",
        profile="podcast",
        loudness="book",
        subtitles="srt,vtt",
        cast="ANNA=ann,BEN=bob",
    )
    wishes = asked.wishes(OFFER, STORE)
    assert (wishes.voice, wishes.formats) == ("bob", (AudioFormat.MP3, AudioFormat.FLAC))
    assert wishes.priority is Priority.BULK
    assert wishes.checks == Checks(takes=5, on_bad=OnBad.FAIL, asr="base.en")
    assert wishes.mastering == Mastering(profile=Profile.PODCAST, over=LoudnessOver.BOOK)
    assert wishes.subtitles == (SubtitleFormat.SRT, SubtitleFormat.VTT)
    assert wishes.options.cast == {"ANNA": "ann", "BEN": "bob"}


def test_acx_brings_its_own_format_and_room_tone():
    wishes = JobOptions(profile="acx").wishes(OFFER, STORE)
    assert wishes.formats == (AudioFormat.MP3,)
    assert wishes.mastering is not None
    assert wishes.mastering.room_tone
    assert not JobOptions(profile="acx", room_tone=False).wishes(OFFER, STORE).mastering.room_tone


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--format", {"formats": "mp3,ogg"}),
        ("--priority", {"priority": "soon"}),
        ("--type", {"kind": "pdf"}),
        ("--addresses", {"addresses": "loud"}),
        ("--on-bad", {"on_bad": "cry"}),
        ("--check", {"check": "asr:"}),
        ("--profile", {"profile": "loud"}),
        ("--loudness", {"loudness": "page"}),
        ("--subtitles", {"subtitles": "ass"}),
        ("--export", {"exports": "zip"}),
        ("--skip", {"skip": "everything"}),
    ],
)
def test_what_is_not_possible_is_told_with_its_option_and_value(option: str, words: dict[str, str]):
    asked = JobOptions(**words)
    with pytest.raises(BadOption, match=f"^{option} "):
        (asked.source_kind, asked.wishes(OFFER, STORE))


@pytest.mark.parametrize(("check", "named"), [("free", ""), ("asr", ""), ("asr:x", "x"), ("asr:a:b", "a:b")])
def test_the_recogniser_in_a_check(check: str, named: str):
    assert recogniser_in(check) == named


def test_both_doors_have_the_defaults_of_asked():
    typed, defaults = inspect.signature(submit).parameters, JobOptions()
    for field in fields(JobOptions):
        default = getattr(defaults, field.name)
        assert typed[TYPED.get(field.name, field.name)].default == default, field.name
        assert JobForm.model_fields[field.name].default == default, field.name
