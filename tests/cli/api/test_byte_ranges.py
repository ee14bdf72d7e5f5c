"""One range of bytes out of a header, as RFC 9110 says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.api.byte_ranges import ByteRange, NotThere, byte_range


@given(st.integers(0, 50), st.integers(0, 60), st.integers(0, 60), st.sampled_from(["both", "first", "suffix"]))
def test_a_range_is_what_a_slice_is(size: int, first: int, last: int, kind: str):
    data = bytes(range(size))
    header, wanted = {
        "both": (f"bytes={first}-{last}", data[first : last + 1]),
        "first": (f"bytes={first}-", data[first:]),
        "suffix": (f"bytes=-{last}", data[max(0, size - last) :]),
    }[kind]
    if kind == "both" and last < first:
        assert byte_range(header, size) is None
        return
    if not wanted:
        with pytest.raises(NotThere):
            byte_range(header, size)
        return
    found = byte_range(header, size)
    assert found is not None
    assert data[found.first : found.last + 1] == wanted
    assert found.length == len(wanted)


@given(st.text(max_size=30), st.integers(0, 10**12))
def test_no_text_breaks_it(header: str, size: int):
    try:
        found = byte_range(header, size)
    except NotThere:
        return
    assert found is None or 0 <= found.first <= found.last < size


@pytest.mark.parametrize("header", [None, "", "bytes", "bytes=", "bytes=-", "items=0-1", "bytes=0-1,3-4", "bytes=٣-٤"])
def test_what_is_no_single_range_is_passed_over(header: str | None):
    assert byte_range(header, 10) is None


def test_forms_that_are_allowed():
    assert byte_range(" Bytes = 2 - 3 ", 10) == ByteRange(2, 3)
    assert byte_range("bytes=0-" + "9" * 18, 10) == ByteRange(0, 9)
    assert byte_range("bytes=0-" + "9" * 40, 10) is None
