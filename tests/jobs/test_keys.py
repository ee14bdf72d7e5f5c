"""Names of keys and objects: each its own, in reading order, safe for every file system; the schema names them all."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import keys
from jobs.stores.names import check_key


def makers() -> list[tuple[str, Callable[[str], str]]]:
    """What makes the key of a job or a worker, with `job` or `worker`."""
    found = inspect.getmembers(keys, inspect.isfunction)
    parameters = [(list(inspect.signature(make).parameters), make) for _, make in found]
    return [(names[0], make) for names, make in parameters if names in (["job"], ["worker"])]


def is_object(make: Callable[[str], str]) -> bool:
    """Whether it makes the key of an object: of a job in its store, or of its part in a dataset. Others are Redis's."""
    return make("book-1").startswith(("jobs/book-1/", f"{keys.DATASET_ENTRIES}book-1/"))


def test_every_key_is_its_own_and_ours():
    made = [make("book-1") for _, make in makers()]
    assert len(set(made)) == len(made)
    in_redis = [make("book-1") for _, make in makers() if not is_object(make)]
    assert len(in_redis) >= 10
    assert all(name.startswith(keys.PREFIX) and name.endswith(":book-1") for name in in_redis)
    for name in set(made) - set(in_redis):
        assert check_key(name.removesuffix("/")) == name.removesuffix("/")


def test_the_schema_lists_every_key_that_is_made():
    assert keys.__doc__ is not None
    listed = set(re.findall(r"^\| (tts:[\w:<>*-]+)", keys.__doc__, re.MULTILINE))
    for owner, make in makers():
        if not is_object(make):
            assert make(f"<{owner}>") in listed
    for name in (keys.JOBS, keys.WORKERS, keys.BLAME, keys.SUSPECTS, keys.OUTBOX, keys.DEAD, keys.WAKE):
        assert name in listed


TITLES = st.text(max_size=80)


@given(TITLES, st.integers(0, 997), st.sampled_from(["m4b", "flac"]))
def test_objects_have_names_that_every_store_takes(title, chapter, extension):
    for key in (
        keys.chapter_object("j", chapter, title, extension),
        keys.item_object("j", chapter, title, extension),
    ):
        assert check_key(key) == key
        name = key.rpartition("/")[2]
        assert name.count(".") == 1
        assert len(name) < 90
    assert keys.chapter_object("j", chapter, title, "x") < keys.chapter_object("j", chapter + 1, "", "x")


@given(TITLES)
def test_a_slug_is_stable_and_short(text):
    made = keys.slug(text)
    assert keys.slug(made) == made
    assert len(made) <= 60
    assert not re.search(r"[\s/\\.:_]|^-|-$|--", made)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("The Gate", "the-gate"),
        ("Zwölf: Über_mut!", "zwölf-über-mut"),
        ("第一章 道", "第一章-道"),
        ("…", ""),
        ("../x", "x"),
    ],
)
def test_slugs_of_real_titles(text, made):
    assert keys.slug(text) == made


def test_a_chapter_or_item_without_a_usable_name_has_one():
    assert keys.chapter_object("j", 0, "…", "m4b") == "jobs/j/chapters/001-chapter.m4b"
    assert keys.item_object("j", 0, "…", "flac") == "jobs/j/items/000001-item.flac"


def test_takes_lie_in_folders_by_their_first_two_letters():
    assert keys.take_audio("abcd") == "takes/ab/abcd.flac"
    assert keys.take_info("abcd") == "takes/ab/abcd.json"
    assert keys.take_audio("abcd").startswith(keys.TAKES)
