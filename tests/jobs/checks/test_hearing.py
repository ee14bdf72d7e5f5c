"""What was heard, as objects in the store; the parts of a chapter; which recogniser a job has."""

from __future__ import annotations

from itertools import chain

import pytest

from jobs import keys
from jobs.checks.hearing import (
    HEARING_VERSION,
    PART_SEGMENTS,
    USUAL_ASR,
    Heard,
    HeardWord,
    named_asr,
    parts_of,
    read_heard,
    unheard,
    write_heard,
)
from jobs.errors import BadOption
from jobs.protocols import Store
from jobs.spec import Checks
from jobs.stores import open_store
from jobs.verdict import Reason
from tests.helpers_jobs import OFFER, World

HEARD = Heard(
    take="ab12",
    asr="base.en",
    language="en",
    transcript="So did I.",
    words=(HeardWord(text="So", start_s=0.0, end_s=0.2),),
    hits=3,
    reasons=(Reason(check="heard_end", score=1.0, limit=1.0, text="not heard at the end of the text: 1 word"),),
    scores={"said_words": 3.0},
)


@pytest.fixture
def store() -> Store:
    return open_store("memory://hearing-objects")


def test_what_was_heard_is_kept_for_each_take_and_recogniser(store: Store) -> None:
    write_heard(store, HEARD)
    assert read_heard(store, "ab12", "base.en") == HEARD
    assert read_heard(store, "ab12", "small.en") is None
    assert read_heard(store, "ab13", "base.en") is None
    assert unheard(store, "base.en", ["cd34", "ab12", "ab13"]) == ["cd34", "ab13"]


def test_folders_of_one_name_do_not_share_objects() -> None:
    one, other = (keys.take_heard("ab12", f"/{'long/' * 20}{name}/model") for name in ("tiny", "base"))
    assert one != other
    assert all(key.startswith("takes/ab/ab12.model-") and key.count(".") == 3 for key in (one, other))


def test_objects_of_another_version_or_damaged_ones_are_as_if_there_were_none(store: Store) -> None:
    for found in (
        HEARD.model_copy(update={"version": HEARING_VERSION + 1}).model_dump_json().encode(),
        HEARD.model_copy(update={"take": "ab99"}).model_dump_json().encode(),
        b'{"take": "ab12"',
        b"",
    ):
        store.put(keys.take_heard("ab12", "base.en"), found)
        assert unheard(store, "base.en", ["ab12"]) == ["ab12"]


@pytest.mark.parametrize("count", [0, 1, PART_SEGMENTS, PART_SEGMENTS + 1, 3 * PART_SEGMENTS - 1])
def test_parts_hold_all_segments_once_and_in_order(count: int) -> None:
    parts = parts_of(range(count))
    assert list(chain.from_iterable(parts)) == list(range(count))
    assert all(len(part) == PART_SEGMENTS for part in parts[:-1])
    assert len(parts) == -(-count // PART_SEGMENTS)


@pytest.mark.parametrize(
    ("asked", "languages", "named"),
    [
        ("", {"de"}, ""),
        (USUAL_ASR, {"en"}, "base.en"),
        (USUAL_ASR, {"en", "de"}, "base"),
        (USUAL_ASR, {"fr"}, "base"),
        ("small", {"fr"}, "small"),
        ("tiny.en", {"en"}, "tiny.en"),
        ("/models/whisper.en", {"de"}, "/models/whisper.en"),
    ],
)
def test_the_recogniser_follows_the_languages(asked: str, languages: set[str], named: str) -> None:
    assert named_asr(asked, languages) == named


def test_a_recogniser_of_english_alone_is_refused_for_other_languages() -> None:
    with pytest.raises(BadOption, match=r"knows English alone, and the text is in de, fr; use --check asr:base"):
        named_asr("base.en", {"en", "fr", "de"})


def test_a_job_names_its_recogniser() -> None:
    usual = Checks(asr=USUAL_ASR)
    world = World()
    assert world.draft(checks=usual).spec.checks.asr == "base.en"
    assert world.draft(checks=usual, language="de", voice="eva", offer=OFFER).spec.checks.asr == "base"
    assert world.draft().spec.checks.asr == ""
    with pytest.raises(BadOption, match="knows English alone"):
        world.draft(checks=Checks(asr="small.en"), language="de", voice="eva")
