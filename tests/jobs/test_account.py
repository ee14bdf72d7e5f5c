"""The account: sums, and what becomes of them when ranges get another fate."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jobs.account import DEFAULT_SKIP, Account, Passage, Why

TEXT = "".join(chr(97 + index % 26) for index in range(60))
EDGES = st.lists(st.integers(0, len(TEXT)), max_size=20, unique=True).map(sorted)


def passage(start: int, end: int, *, now: str = "", why: Why = Why.NOTES) -> Passage:
    return Passage(start=start, end=end, was=TEXT[start:end], why=why, now=now)


def account_of(passages: list[Passage], chars: int = len(TEXT)) -> Account:
    return Account(
        chars=chars,
        spoken_chars=chars - sum(one.chars for one in passages),
        replaced=tuple(one for one in passages if one.now),
        skipped=tuple(one for one in passages if not one.now),
    )


@st.composite
def accounts(draw) -> Account:
    edges = draw(EDGES)
    pairs = zip(edges[::2], edges[1::2], strict=False)
    return account_of([passage(start, end, now=draw(st.sampled_from(["", "x"]))) for start, end in pairs])


@st.composite
def edits(draw) -> list[Passage]:
    pairs = draw(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=6))
    return [passage(min(pair), max(pair), now=draw(st.sampled_from(["", "y"])), why=Why.EDIT) for pair in pairs]


@given(accounts(), edits())
def test_whatever_changes_every_character_stays_exactly_one_of_the_three(account, changes):
    changed = account.with_changes(changes)
    both = sorted((*changed.replaced, *changed.skipped), key=lambda one: one.start)
    places = [place for one in both for place in range(one.start, one.end)]
    assert len(places) == len(set(places))
    assert changed.chars == account.chars
    assert changed.spoken_chars == account.chars - len(places)
    assert all(one.was == TEXT[one.start : one.end] and one.chars > 0 for one in both)
    edited = {place for change in changes for place in range(change.start, change.end)}
    assert {place for one in both if one.why is Why.EDIT for place in range(one.start, one.end)} == edited
    before = {place for one in (*account.replaced, *account.skipped) for place in range(one.start, one.end)}
    assert set(places) == before | edited
    assert list(changed.replaced) == sorted(changed.replaced, key=lambda one: one.start)
    assert list(changed.skipped) == sorted(changed.skipped, key=lambda one: one.start)


def test_what_a_change_covers_is_told_of_no_more_and_what_it_cuts_keeps_its_rest():
    account = account_of([passage(0, 4), passage(6, 20, now="said"), passage(30, 34)])
    changed = account.with_changes([passage(10, 12, now="new", why=Why.EDIT), passage(28, 40, why=Why.EDIT)])
    assert changed.replaced == (passage(6, 10, now="said"), passage(10, 12, now="new", why=Why.EDIT))
    assert changed.skipped == (passage(0, 4), passage(12, 20), passage(28, 40, why=Why.EDIT))
    assert changed.spoken_chars == 60 - 4 - 14 - 12


def test_the_sums_are_by_why():
    totals = account_of([passage(0, 4), passage(6, 20, now="n", why=Why.NUMBER), passage(30, 31)]).totals()
    assert totals.model_dump() == {
        "source_chars": 60,
        "spoken_chars": 41,
        "replaced_chars": 14,
        "skipped_chars": 5,
        "replaced": {"number": 14},
        "skipped": {"notes": 5},
    }


def test_what_can_be_chosen():
    assert {Why.NOTES, Why.HEADINGS, Why.DIRECTIONS} <= Why.choosable()
    assert not {Why.OUTSIDE, Why.MARKUP, Why.NUMBER, Why.EDIT} & Why.choosable()
    assert Why.choosable() - DEFAULT_SKIP == {Why.HEADINGS, Why.DIRECTIONS}
