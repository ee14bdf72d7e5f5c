"""What a process has in hand against what the truth says: nothing that is on its way is given back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workers.hand import Hand

REFS = st.sampled_from([f"a|{number}" for number in range(6)])
MOVES = st.lists(st.tuples(st.sampled_from(["took", "left", "look"]), st.frozensets(REFS)), max_size=40)


def test_a_lease_that_is_on_its_way_at_one_look_is_left_alone() -> None:
    hand = Hand()
    assert hand.forgotten(frozenset({"a|1"})) == []
    hand.took(["a|1"])
    assert hand.forgotten(frozenset({"a|1"})) == []


def test_what_is_missed_twice_is_told_once_and_counts_anew_then() -> None:
    hand = Hand()
    held = frozenset({"a|1", "a|2"})
    assert hand.forgotten(held) == []
    assert hand.forgotten(held) == ["a|1", "a|2"]
    assert hand.forgotten(held) == []
    assert hand.forgotten(held) == ["a|1", "a|2"]


def test_a_look_between_forgets_the_suspicion() -> None:
    hand = Hand()
    hand.forgotten(frozenset({"a|1"}))
    hand.forgotten(frozenset())
    assert hand.forgotten(frozenset({"a|1"})) == []


@given(MOVES)
def test_only_what_was_missed_at_two_looks_in_a_row_is_given_back(moves: list[tuple[str, frozenset[str]]]) -> None:
    hand, here = Hand(), set[str]()
    before: frozenset[str] = frozenset()
    for move, refs in moves:
        if move == "took":
            hand.took(refs)
            here |= refs
        elif move == "left":
            hand.left(refs)
            here -= refs
        else:
            found = hand.forgotten(refs)
            missing = refs - here
            assert set(found) == missing & before
            assert found == sorted(found)
            before = missing - set(found)
