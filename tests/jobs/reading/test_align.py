"""Pieces of text find their places in a source, in order and within bounds, whatever a parser did to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.reading.align import Aligner


@pytest.mark.parametrize(
    ("source", "pieces", "places", "escapes"),
    [
        ("one two", ["one", " two"], [0, 1, 2, 3, 4, 5, 6], []),
        ("*one* [two](x) three", ["one", " ", "two", " three"], [1, 2, 3, 5, 7, 8, 9, *range(14, 20)], []),
        ("a &amp; b", ["a & b"], [0, 1, 2, 7, 8], [(2, 7)]),
        ("a &amp; & b", ["a & & b"], [0, 1, 2, 7, 8, 9, 10], [(2, 7)]),
        ("x\\*y", ["x*y"], [0, 2, 3], []),
        ("abc", ["aXbc"], [0, 1, 1, 2], []),
    ],
)
def test_places(source, pieces, places, escapes):
    aligner = Aligner(source, 0, len(source))
    assert [place for piece in pieces for place in aligner.place(piece)] == places
    assert aligner.escapes == escapes


@given(st.text(alphabet="ab&;lt# *", min_size=1, max_size=60), st.lists(st.text(alphabet="ab&<; ", max_size=12)))
def test_places_never_fall_and_never_leave_the_source(source, pieces):
    aligner = Aligner(source, 0, len(source))
    places = [place for piece in pieces for place in aligner.place(piece)]
    assert len(places) == sum(map(len, pieces))
    assert places == sorted(places)
    assert all(0 <= place < len(source) for place in places)
