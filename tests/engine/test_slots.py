"""The slot table against a plain dict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DuplicateRequest, SlotsFull, UnknownRequest
from engine.slots import SlotTable

moves = st.lists(st.tuples(st.sampled_from(["put", "free", "get"]), st.sampled_from("abcdef")), max_size=60)


@given(st.integers(1, 4), moves)
def test_the_table_is_a_bounded_dict(num_slots, script):
    table: SlotTable[int] = SlotTable(num_slots)
    model: dict[str, int] = {}
    for turn, (move, name) in enumerate(script):
        if move == "put" and name in model:
            with pytest.raises(DuplicateRequest, match=name):
                table.put(name, turn)
        elif move == "put" and len(model) == num_slots:
            with pytest.raises(SlotsFull, match=f"all {num_slots} slots are taken"):
                table.put(name, turn)
        elif move == "put":
            table.put(name, turn)
            model[name] = turn
        elif name not in model:
            with pytest.raises(UnknownRequest, match=name):
                getattr(table, move)(name)
        else:
            assert getattr(table, move)(name) == model[name]
            if move == "free":
                del model[name]
        assert len(table) == len(model) == num_slots - table.num_free


@pytest.mark.parametrize("num_slots", [0, -1])
def test_a_table_without_slots_is_refused(num_slots):
    with pytest.raises(ValueError, match=f"num_slots={num_slots}"):
        SlotTable(num_slots)
