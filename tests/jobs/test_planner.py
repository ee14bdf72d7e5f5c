"""Large sources are planned in a process of their own, with the same result and the same errors."""

from __future__ import annotations

import os
import pickle
import signal

import pytest

from jobs import planner
from jobs.drafts import Source, Wishes, make_draft
from jobs.errors import BadOption, BadSource, SourceProblem
from jobs.spec import SourceKind
from tests.helpers_jobs import OFFER

WISHES = Wishes(offer=OFFER, store_url="file:///x")
LARGE = Source("book.txt", b"One is here. Two is here, and it says more than one.\n\n" * 20)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Already a page is large."""
    monkeypatch.setattr(planner, "LARGE_BYTES", 1000)


@pytest.mark.parametrize(
    ("source", "large"),
    [
        (Source("a.txt", bytes(planner.LARGE_BYTES)), False),
        (Source("a.txt", bytes(planner.LARGE_BYTES + 1)), True),
        (Source("a.EPUB", bytes(planner.LARGE_BYTES // 4 + 1)), True),
        (Source("a", bytes(planner.LARGE_BYTES // 4 + 1), SourceKind.EPUB), True),
        (Source("a.epub", bytes(planner.LARGE_BYTES // 4)), False),
    ],
)
def test_which_sources_are_large(source: Source, large: bool):
    assert planner.is_large(source) is large


def test_a_large_source_comes_back_as_if_it_was_planned_here(few: None):
    assert planner.is_large(LARGE)
    assert planner.draft(LARGE, WISHES) == make_draft(LARGE, WISHES)


def test_errors_come_back_whole(few: None):
    lines = Source("items.jsonl", b'{"id": "a"}\n' * 200)
    with pytest.raises(BadSource) as caught:
        planner.draft(lines, WISHES)
    assert len(caught.value.problems) == 200
    with pytest.raises(BadOption, match="has no voice 'nobody'"):
        planner.draft(LARGE, Wishes(offer=OFFER, store_url="file:///x", voice="nobody"))
    problems = (SourceProblem("a", "one", 3), SourceProblem("b", "two"))
    copy = pickle.loads(pickle.dumps(BadSource(*problems)))
    assert (copy.problems, str(copy)) == (problems, "line 3: one\ntwo")


def until_noticed() -> None:
    """Plan until the executor has noticed that its processes are gone."""
    while True:
        planner.draft(LARGE, WISHES)


def test_a_process_that_dies_is_told_and_replaced(few: None):
    planner.draft(LARGE, WISHES)
    for process in list(planner._pool()._processes):
        os.kill(process, signal.SIGKILL)
    with pytest.raises(BadSource, match=r"^book\.txt could not be planned: the process that read it died"):
        until_noticed()
    assert planner.draft(LARGE, WISHES).planned.plan.segments
