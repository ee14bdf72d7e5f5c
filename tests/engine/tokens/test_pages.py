"""The page pool against a plain second bookkeeping: no page twice, nothing lost, only equal beginnings shared."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.tokens.pages import Lease, PagePool

PAGE = 2
PAGES = 14


def parts_of(ids: tuple[int, ...], shared_rows: int, page: int = PAGE) -> list[tuple[int, ...]]:
    """The beginnings of a prompt that end with a page that may be shared; each names its page in full."""
    return [ids[:stop] for stop in range(page, min(shared_rows, len(ids) - 1) + 1, page)]


@dataclass(eq=False)
class Known:
    """A page that may be shared, under its whole beginning."""

    beginning: tuple[int, ...]
    page: int
    holders: int = 0
    last_held: int = 0


@dataclass(eq=False)
class Out:
    lease: Lease
    prefixes: list[Known]
    made: list[Known]


class Pools(RuleBasedStateMachine):
    """A pool, and beside it what a reader of its docstring expects. Beginnings are compared whole, not by a tree."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = PagePool(PAGES, PAGE)
        self.known: dict[tuple[int, ...], Known] = {}
        self.out: list[Out] = []
        self.turn = 0

    def held(self) -> set[int]:
        return {page for one in self.out for page in one.lease.pages}

    def idle(self) -> list[Known]:
        return [one for one in self.known.values() if one.holders == 0]

    @rule(
        ids=st.lists(st.integers(0, 1), min_size=1, max_size=9).map(tuple),
        share=st.integers(0, 9),
        extra=st.integers(0, 6),
    )
    def reserve(self, ids, share, extra):
        shared_rows = min(share, len(ids))
        rows = len(ids) + extra
        parts = parts_of(ids, shared_rows)
        found = []
        for part in parts:
            if part not in self.known:
                break
            found.append(self.known[part])
        wanted = -(-rows // PAGE) - len(found)
        free = PAGES - 1 - len(self.held() | {one.page for one in found})
        before = (self.pool.num_free, self.pool.num_cached)
        lease = self.pool.reserve(ids, shared_rows, rows)
        if wanted > free:
            assert lease is None
            assert before == (self.pool.num_free, self.pool.num_cached)
            return
        assert lease is not None
        assert lease.shared_rows == len(found) * PAGE < len(ids)
        assert len(lease.pages) == -(-rows // PAGE)
        assert list(lease.pages[: len(found)]) == [one.page for one in found]
        for one in found:
            one.holders += 1
        self.evict(wanted)
        fresh = lease.pages[len(found) :]
        assert not set(fresh) & (self.held() | {one.page for one in self.known.values()} | {0})
        made = [Known(part, page, 1) for part, page in zip(parts[len(found) :], fresh, strict=False)]
        self.known |= {one.beginning: one for one in made}
        self.out.append(Out(lease, found + made, made))

    def evict(self, wanted: int) -> None:
        """Least recently held first; of those given back together, the longest beginning first."""
        blank = PAGES - 1 - len(self.held() | {one.page for one in self.known.values()})
        order = sorted(self.idle(), key=lambda one: (one.last_held, -len(one.beginning)))
        for one in order[: max(0, wanted - blank)]:
            del self.known[one.beginning]
            longer = [other for other in self.known if other[: len(one.beginning)] == one.beginning]
            assert not longer, "a page went before one that needs it"

    def give_back(self, data) -> Out:
        self.turn += 1
        one = self.out.pop(data.draw(st.integers(0, len(self.out) - 1)))
        for prefix in one.prefixes:
            prefix.holders -= 1
            prefix.last_held = self.turn
        return one

    @precondition(lambda self: self.out)
    @rule(data=st.data())
    def release(self, data):
        one = self.give_back(data)
        self.pool.release(one.lease)
        with pytest.raises(ValueError, match="given back once"):
            self.pool.release(one.lease)

    @invariant()
    def counts_agree(self):
        assert self.pool.num_free == PAGES - 1 - len(self.held())
        assert self.pool.num_cached == len(self.idle())

    @invariant()
    def only_known_beginnings_are_shared(self):
        owner: dict[int, object] = {}
        for one in self.out:
            assert len(set(one.lease.pages)) == len(one.lease.pages)
            for index, page in enumerate(one.lease.pages):
                mine = one.prefixes[index] if index < len(one.prefixes) else one
                assert owner.setdefault(page, mine) is mine

    def teardown(self):
        for one in self.out:
            self.pool.release(one.lease)
        assert self.pool.num_free == PAGES - 1


TestPools = Pools.TestCase
TestPools.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nothing_is_lost_over_ten_thousand_operations(seed):
    draw = random.Random(seed)
    pool = PagePool(200, 16)
    voices = [tuple(draw.randrange(9) for _ in range(draw.randrange(1, 120))) for _ in range(12)]
    out: dict[Lease, tuple[int, ...]] = {}
    refused = shared = 0
    for _ in range(10_000):
        if out and draw.random() < 0.45:
            lease = draw.choice(list(out))
            del out[lease]
            pool.release(lease)
            continue
        voice = draw.choice(voices)
        ids = voice + tuple(draw.randrange(9) for _ in range(draw.randrange(1, 40)))
        lease = pool.reserve(ids, len(voice), len(ids) + draw.randrange(1, 300))
        if lease is None:
            refused += 1
            continue
        shared += lease.shared_rows
        out[lease] = ids
        assert pool.num_free >= 0
    assert refused > 100
    assert shared > 10_000
    for lease in out:
        pool.release(lease)
    assert pool.num_free == pool.num_pages - 1
    everything = pool.reserve((1,), 0, 16 * 199)
    assert everything is not None
    assert sorted(everything.pages) == list(range(1, 200))


def test_pages_are_shared_by_what_stands_before_them_too():
    pool = PagePool(20, 2)
    first = pool.reserve((1, 2, 3, 4, 5), 5, 5)
    again = pool.reserve((1, 2, 3, 4, 6), 4, 5)
    moved = pool.reserve((3, 4, 3, 4, 5), 5, 5)
    assert (first.shared_rows, again.shared_rows, moved.shared_rows) == (0, 4, 0)
    assert first.pages[:2] == again.pages[:2]
    assert not set(moved.pages) & set(first.pages + again.pages)


@pytest.mark.parametrize(("rows", "shared"), [(4, 2), (5, 4)])
def test_a_row_of_the_prompt_is_always_left_to_compute(rows, shared):
    pool = PagePool(20, 2)
    ids = tuple(range(rows))
    pool.reserve(ids, rows, rows)
    assert pool.reserve(ids, rows, rows).shared_rows == shared


def test_only_the_shared_rows_are_shared():
    pool = PagePool(20, 2)
    pool.reserve((1, 2, 3, 4, 5), 3, 5)
    assert pool.reserve((1, 2, 3, 4, 5), 5, 5).shared_rows == 2


def test_shared_pages_outlive_who_made_them_and_serve_the_next():
    pool = PagePool(4, 2)
    first = pool.reserve((1, 2, 3), 3, 3)
    second = pool.reserve((1, 2, 4), 3, 3)
    pool.release(first)
    assert (pool.num_free, pool.num_cached) == (1, 0)
    pool.release(second)
    assert (pool.num_free, pool.num_cached) == (3, 1)
    third = pool.reserve((1, 2, 5), 2, 4)
    assert third.shared_rows == 2
    assert third.pages[0] == first.pages[0]


def test_the_least_recently_held_goes_first_and_the_last_page_of_a_prompt_before_its_first():
    pool = PagePool(7, 1)  # three prompts with a page of their own beyond the shared ones: 2 + 1 pages
    old, new = pool.reserve((1, 2, 9), 2, 3), pool.reserve((3, 4, 9), 2, 3)
    pool.release(old)
    pool.release(new)
    pool.release(pool.reserve((1, 2, 8), 2, 3))  # held again: now (3, 4) is the older one
    blocker = pool.reserve((7,), 0, 3)  # two blank pages and one cached
    assert pool.num_cached == 3
    pool.release(blocker)
    assert pool.reserve((3, 4, 9), 2, 3).shared_rows == 1
    assert pool.reserve((1, 2, 9), 2, 3).shared_rows == 2


def test_what_is_found_is_not_evicted_to_make_room_for_the_same_request():
    pool = PagePool(4, 2)
    pool.release(pool.reserve((1, 2, 3), 2, 3))
    assert pool.num_cached == 1
    assert pool.reserve((1, 2, 3), 2, 7) is None  # four pages; there are three
    lease = pool.reserve((1, 2, 3), 2, 6)
    assert lease.shared_rows == 2
    assert len(set(lease.pages)) == 3


def test_a_lease_is_given_back_once_even_if_its_pages_are_out_again():
    pool = PagePool(2, 2)
    lease = pool.reserve((1, 2), 0, 2)
    pool.release(lease)
    twin = pool.reserve((1, 2), 0, 2)
    assert twin.pages == lease.pages
    with pytest.raises(ValueError, match="1 pages is not out"):
        pool.release(lease)
    assert pool.num_free == 0
    pool.release(twin)
    assert pool.num_free == 1


@pytest.mark.parametrize(("ids", "shared", "rows"), [((), 0, 1), ((1, 2), 3, 4), ((1, 2), -1, 4), ((1, 2), 0, 1)])
def test_prompts_that_cannot_be_are_refused(ids, shared, rows):
    pool = PagePool(4, 2)
    with pytest.raises(ValueError, match=f"{len(ids)} ids, {shared} of them shared, {rows} rows"):
        pool.reserve(ids, shared, rows)
    assert pool.num_free == 3


@pytest.mark.parametrize(("pages", "size"), [(1, 4), (0, 4), (2, 0)])
def test_a_pool_without_pages_is_refused(pages, size):
    with pytest.raises(ValueError, match=f"num_pages={pages}, page_size={size}"):
        PagePool(pages, size)
