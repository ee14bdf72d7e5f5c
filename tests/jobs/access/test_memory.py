"""The bucket of requests, for any arrivals: never more than its size and what flowed in since; waits that are true."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jobs.access.gate import MINUTE_S, Quota, Scope
from jobs.access.memory import MemoryGate
from jobs.access.tokens import new_token


@given(limit=st.integers(1, 12), gaps_s=st.lists(st.floats(0, 40), min_size=1, max_size=60))
def test_a_bucket_gives_its_size_and_what_flowed_in(limit: int, gaps_s: list[float]) -> None:
    now_s = 1e6
    gate = MemoryGate(lambda: now_s)
    token, _ = new_token("ann", (Scope.READ,), Quota(requests_per_minute=limit))
    counted: list[float] = []
    for gap_s in gaps_s:
        now_s += gap_s
        rate = gate.count_request(token)
        assert rate is not None
        assert rate.limit == limit
        assert 0 <= rate.remaining < limit
        assert 0 <= rate.reset_s <= MINUTE_S + 1e-6
        if rate.wait_s == 0:
            counted.append(now_s)
        else:
            assert rate.remaining == 0
            assert rate.wait_s <= MINUTE_S / limit + 1e-6
    for first, start_s in enumerate(counted):
        for last, end_s in enumerate(counted[first:], first):
            assert last - first + 1 <= limit + (end_s - start_s) * limit / MINUTE_S + 1e-6


@given(limit=st.integers(1, 12), taken=st.integers(0, 30))
def test_who_waits_as_told_is_served(limit: int, taken: int) -> None:
    now_s = 1e6
    gate = MemoryGate(lambda: now_s)
    token, _ = new_token("ann", (Scope.READ,), Quota(requests_per_minute=limit))
    for _ in range(taken):
        gate.count_request(token)
    refused = gate.count_request(token)
    assert refused is not None
    assert (refused.wait_s > 0) is (taken >= limit)
    now_s += refused.wait_s + 1e-6
    served = gate.count_request(token)
    assert served is not None
    assert served.wait_s == 0 or taken + 1 >= limit > taken


@given(limit=st.integers(1, 100), texts=st.lists(st.tuples(st.integers(0, 60), st.floats(0, 90_000)), max_size=30))
def test_a_day_gives_no_more_than_its_characters(limit: int, texts: list[tuple[int, float]]) -> None:
    now_s = 20_000 * 86_400.0
    gate = MemoryGate(lambda: now_s)
    token, _ = new_token("ann", (Scope.SPEAK,), Quota(chars_per_day=limit))
    used: dict[int, int] = {}
    for chars, gap_s in texts:
        now_s += gap_s
        day = int(now_s // 86_400)
        wait_s = gate.count_chars(token, chars)
        fits = used.get(day, 0) + chars <= limit
        assert (wait_s == 0) is fits
        if fits:
            used[day] = used.get(day, 0) + chars
        else:
            assert int((now_s + wait_s) // 86_400) == day + 1
