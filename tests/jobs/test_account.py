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
def edits(draw) -> tuple[list[Passage], list[Passage]]:
    """Ranges that are replaced, some with nothing to say, and ranges that are skipped."""
    edges = draw(EDGES)
    pairs = list(zip(edges[::2], edges[1::2], strict=False))
    now = st.sampled_from(["", "y"])
    made = [(draw(st.booleans()), passage(*pair, now=draw(now), why=Why.EDIT)) for pair in pairs]
    skipped = [one.model_copy(update={"now": ""}) for skip, one in made if skip]
    return [one for skip, one in made if not skip], skipped


@given(accounts(), edits())
def test_whatever_changes_every_character_stays_exactly_one_of_the_three(account, changes):
    replaced, skipped = changes
    changed = account.with_changes(replaced=replaced, skipped=skipped, text=TEXT)
    changes = [*replaced, *skipped]
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
    for kept, old, new in ((changed.replaced, account.replaced, replaced), (changed.skipped, account.skipped, skipped)):
        stayed = {place for one in old for place in range(one.start, one.end)} - edited
        assert {place for one in kept for place in range(one.start, one.end)} == stayed | {
            place for one in new for place in range(one.start, one.end)
        }
    assert list(changed.replaced) == sorted(changed.replaced, key=lambda one: one.start)
    assert list(changed.skipped) == sorted(changed.skipped, key=lambda one: one.start)


def test_what_a_change_covers_is_told_of_no_more_and_what_it_cuts_keeps_its_rest():
    account = account_of([passage(0, 4), passage(6, 20, now="said"), passage(30, 34)])
    changed = account.with_changes(
        replaced=[passage(10, 12, now="new", why=Why.EDIT)], skipped=[passage(28, 40, why=Why.EDIT)], text=TEXT
    )
    assert changed.replaced == (passage(6, 10, now="said"), passage(10, 12, now="new", why=Why.EDIT), passage(12, 20))
    assert changed.skipped == (passage(0, 4), passage(28, 40, why=Why.EDIT))
    assert changed.spoken_chars == 60 - 4 - 14 - 12


def test_a_long_passage_that_is_cut_has_the_words_of_the_source():
    text = "".join(chr(97 + index % 26) for index in range(1000))
    whole = Passage(start=0, end=1000, was=text[:200], why=Why.LICENCE)
    account = Account(chars=1000, spoken_chars=0, skipped=(whole,))
    edited = Passage(start=300, end=310, was=text[300:310], why=Why.EDIT, now="new")
    changed = account.with_changes(replaced=[edited], skipped=[], text=text)
    assert [(one.start, one.was) for one in changed.skipped] == [(0, text[:200]), (310, text[310:510])]


def test_a_part_of_a_replacement_with_nothing_to_say_stays_replaced():
    silent = passage(10, 12, why=Why.YEAR)
    account = Account(chars=60, spoken_chars=58, replaced=(silent,))
    changed = account.with_changes(replaced=[passage(30, 34, now="new", why=Why.EDIT)], skipped=[], text=TEXT)
    assert (changed.replaced[0], changed.skipped) == (silent, ())


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
