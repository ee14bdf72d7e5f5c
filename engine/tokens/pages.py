"""Who holds which page of KV memory, and which pages hold the beginning of many prompts. Pure: page numbers only.

    pool = PagePool(num_pages=1024, page_size=64)
    lease = pool.reserve(ids, shared_rows=128, rows=len(ids) + budget)     # None: not enough pages now
    pool.release(lease)

- A request is admitted with all the pages that it can ever fill: it never runs out and is never pushed out.
- The whole pages inside a prompt's shared rows form a tree: a page is known by the page before it and the ids in it.
  A page that is known is shared; its KV is what anybody would compute, since attention looks only backwards.
- New pages of the tree are known at once, before their KV is computed. So whoever reserves first must be computed no
  later than whoever shares with it: in the same step or before.
- A page of the tree that nobody holds stays known until its memory is needed: least recently held first, and of one
  prompt the last page first, since a page is of no use without those before it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

Rows = tuple[int, ...] | tuple[tuple[int, ...], ...]
"""A prompt, or a piece of one: what its rows are made of (an id each, or columns)."""
SCRATCH_PAGE = 0
"""Padding rows and unused entries of page tables point here; it is never handed out."""


@dataclass(frozen=True, slots=True, eq=False)
class Lease:
    """Pages of one request: position p is in `pages[p // page_size]`. The KV of the first `shared_rows` positions
    exists already (or another prompt of this step makes it). Two leases are never equal: each is released once."""

    pages: tuple[int, ...]
    shared_rows: int


@dataclass(slots=True, eq=False)
class _Prefix:
    """A page of the tree. Its holders also hold every page before it."""

    page: int
    ids: Rows
    before: _Prefix | None
    after: dict[Rows, _Prefix] = field(default_factory=dict)
    holders: int = 0


@dataclass(frozen=True, slots=True)
class _Holding:
    """What a lease holds: pages of the tree, and pages of its own."""

    prefixes: tuple[_Prefix, ...]
    private: tuple[int, ...]


class PagePool:
    """All pages of one device's KV memory."""

    def __init__(self, num_pages: int, page_size: int) -> None:
        if num_pages < 2 or page_size < 1:
            msg = (
                f"num_pages={num_pages}, page_size={page_size}: a pool needs the scratch page and at least one more, "
                "and pages of at least one row; give KV more memory or use smaller pages"
            )
            raise ValueError(msg)
        self.num_pages = num_pages
        self.page_size = page_size
        self._free = list(range(num_pages - 1, SCRATCH_PAGE, -1))  # a stack; page 1 goes out first
        self._root = _Prefix(SCRATCH_PAGE, (), None)
        self._idle: OrderedDict[_Prefix, None] = OrderedDict()  # known but held by nobody, least recently held first
        self._holdings: dict[Lease, _Holding] = {}

    @property
    def num_free(self) -> int:
        """Pages that could be handed out now, cached ones included; `num_pages - 1` when no lease is out."""
        return len(self._free) + len(self._idle)

    @property
    def num_cached(self) -> int:
        """Pages that nobody holds but whose content is kept for prompts that begin alike."""
        return len(self._idle)

    def reserve(self, ids: Rows, shared_rows: int, rows: int) -> Lease | None:
        """Pages for `rows` positions of a request (prompt, budget and what the caller adds), or None.

        None means that there are not enough pages now; nothing has changed then. Pages inside the first `shared_rows`
        of `ids` are shared, but never the page of the last id: its row must be computed to draw the first token.

        Raises:
            ValueError: no ids, more shared rows than ids, or fewer rows than ids.
        """
        if not ids or not 0 <= shared_rows <= len(ids) <= rows:
            msg = (
                f"{len(ids)} ids, {shared_rows} of them shared, {rows} rows: "
                "a prompt has at least one id, shares at most all of them and needs at least a row for each"
            )
            raise ValueError(msg)
        parts = self._shared_parts(ids, shared_rows)
        prefixes = self._find(parts)
        found = len(prefixes)
        num_pages = -(-rows // self.page_size)
        idle_found = sum(prefix.holders == 0 for prefix in prefixes)
        if num_pages - found > self.num_free - idle_found:
            return None
        for prefix in prefixes:
            self._hold(prefix)
        for part in parts[found:]:
            prefixes.append(self._add(prefixes[-1] if prefixes else self._root, part))
        private = tuple(self._take() for _ in range(num_pages - len(prefixes)))
        lease = Lease((*(prefix.page for prefix in prefixes), *private), found * self.page_size)
        self._holdings[lease] = _Holding(tuple(prefixes), private)
        return lease

    def release(self, lease: Lease) -> None:
        """Give the pages of a request that ended back. Raises ValueError for a lease that is not out."""
        holding = self._pop(lease)
        self._free.extend(holding.private)
        # From the last page to the first: so a page always stands in `_idle` before the pages it depends on.
        for prefix in reversed(holding.prefixes):
            prefix.holders -= 1
            if prefix.holders == 0:
                self._idle[prefix] = None

    def _shared_parts(self, ids: Rows, shared_rows: int) -> list[Rows]:
        """The ids of each whole page that may be shared."""
        size = self.page_size
        whole = min(shared_rows, len(ids) - 1) // size
        return [ids[index * size : (index + 1) * size] for index in range(whole)]

    def _find(self, parts: list[Rows]) -> list[_Prefix]:
        """The known pages along a prompt, up to the first that is not known."""
        found: list[_Prefix] = []
        here = self._root
        for part in parts:
            if part not in here.after:
                break
            here = here.after[part]
            found.append(here)
        return found

    def _hold(self, prefix: _Prefix) -> None:
        if prefix.holders == 0:
            del self._idle[prefix]
        prefix.holders += 1

    def _add(self, before: _Prefix, ids: Rows) -> _Prefix:
        """Make a page known; it is held already."""
        prefix = _Prefix(self._take(), ids, before, holders=1)
        before.after[ids] = prefix
        return prefix

    def _take(self) -> int:
        """A page to write on; `reserve` has made sure that there is one."""
        if self._free:
            return self._free.pop()
        oldest, _ = self._idle.popitem(last=False)  # nothing comes after it: what did was given up before it
        if oldest.before is not None:
            del oldest.before.after[oldest.ids]
        return oldest.page

    def _pop(self, lease: Lease) -> _Holding:
        if lease not in self._holdings:
            msg = f"the lease of {len(lease.pages)} pages is not out; each lease of this pool is given back once"
            raise ValueError(msg)
        return self._holdings.pop(lease)
