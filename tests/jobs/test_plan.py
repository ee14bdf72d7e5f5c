"""The stored plan, seeds and keys of takes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.account import Account, Passage, Why
from jobs.plan import PLAN_VERSION, Break, ChapterPlan, Plan, SegmentPlan, SourceInfo, take_key, take_seed
from jobs.plan_store import load_plan, save_plan
from jobs.spec import SourceKind
from jobs.stores import MemoryStore

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    info = SourceInfo(
        name=draw(TEXT), kind=draw(st.sampled_from(SourceKind)), sha256="0" * 64, chars=1, encoding="utf-8",
        title=draw(TEXT), author=draw(TEXT), warnings=tuple(draw(st.lists(TEXT, max_size=2))),
    )  # fmt: skip
    segments = tuple(
        SegmentPlan(
            segment=number, chapter=0, text=draw(TEXT), spoken=draw(TEXT), source_start=0, source_end=1,
            break_after=draw(st.sampled_from(Break)), language="en", item=draw(st.none() | TEXT),
            seed=draw(st.none() | st.integers(0, 2**63 - 1)), start_s=draw(st.none() | st.floats(0, 1e5)),
            pause_s=draw(st.none() | st.floats(0.1, 60)),
        )
        for number in range(draw(st.integers(0, 3)))
    )  # fmt: skip
    passages = tuple(
        Passage(start=start, end=start + 1, was=draw(TEXT), why=draw(st.sampled_from(Why)), now=draw(TEXT))
        for start in range(draw(st.integers(0, 3)))
    )
    return Plan(
        source=info,
        chapters=(ChapterPlan(chapter=0, title=draw(TEXT), segments=len(segments)),),
        segments=segments,
        account=Account(chars=9, spoken_chars=draw(st.integers(0, 9)), replaced=passages, skipped=passages),
    )


@given(plans())
def test_a_plan_is_read_back_as_it_was_written(plan):
    assert Plan.parse(plan.dump()) == plan
    assert len(plan.dump().decode().rstrip("\n").split("\n")) == 1 + len(plan.segments)
    store = MemoryStore()
    save_plan(store, "j", plan)
    assert load_plan(store, "j") == plan


def test_a_plan_of_another_version_is_refused():
    header = {"v": PLAN_VERSION + 1, "source": {}, "chapters": []}
    with pytest.raises(ValueError, match=f"plan version {PLAN_VERSION + 1} is not supported"):
        Plan.parse(json.dumps(header).encode())


@given(st.integers(0, 2**63 - 1), TEXT, st.integers(0, 9))
def test_a_seed_is_a_seed_of_its_text_and_attempt(seed, spoken, attempt):
    made = take_seed(seed, spoken, attempt)
    assert 0 <= made < 2**63
    assert made == take_seed(seed, spoken, attempt)
    assert made != take_seed(seed, spoken, attempt + 1)
    assert made != take_seed(seed, spoken + ".", attempt)


def test_seeds_and_keys_stay_what_they_are_over_releases():
    """Another value would have every book of every user spoken again."""
    assert take_seed(0, "Hello.") == 4_244_578_586_825_697_040
    parts = {"model": "m", "voice": "v", "voice_revision": "r", "language": "en", "spoken": "Hällo.", "numerics": "1"}
    assert take_key(**parts, speed=1.0, seed=7) == "14222ebc3ddb9b2b861fb53ed90298b1"


def test_the_order_of_the_parts_does_not_matter_and_each_part_does():
    assert take_key(a="1", b=2) == take_key(b=2, a="1")
    parts = ({"a": "1", "b": 2}, {"a": "12", "b": ""}, {"a": "1", "b": 2.5}, {"a": "", "b": "12"}, {"a": "1"})
    keys = {take_key(**each) for each in parts}
    assert len(keys) == len(parts)
    assert all(len(key) == 32 and int(key, 16) >= 0 for key in keys)
