"""What is kept of streams that many read: any run of readings gives what a list of all entries would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jobs.streams.kept import ENTRY_BYTES, Kind, Log, bound, place_of


def no_direct(job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, bytes]]:
    raise AssertionError(job, after, timeout_s)


def kind() -> Kind[bytes]:
    return Kind(no_direct, 3, len)


def test_ids_are_compared_as_numbers() -> None:
    assert place_of("0") == (0, 0)
    assert place_of("9-2") < place_of("9-10") < place_of("10-0")


@given(
    sizes=st.lists(st.integers(0, 5000), max_size=30),
    most_bytes=st.integers(0, 40_000),
    position=st.integers(0, 31),
    count=st.integers(1, 5),
)
def test_a_log_keeps_the_newest_that_fit_and_knows_what_it_lost(
    sizes: list[int], most_bytes: int, position: int, count: int
) -> None:
    entries = [(f"{number}-0", bytes(size)) for number, size in enumerate(sizes, start=1)]
    log: Log[bytes] = Log("0", asked_at_s=0.0)
    for entry in entries:
        log.add([entry], len)
        log.drop(log.held_bytes - most_bytes)
    kept = [entry for entry in entries if place_of(entry[0]) > log.floor]
    assert log.held_bytes == sum(ENTRY_BYTES + len(data) for _id, data in kept) <= max(most_bytes, 0)
    dropped = entries[: len(entries) - len(kept)]
    assert not dropped or log.held_bytes + ENTRY_BYTES + len(dropped[-1][1]) > most_bytes
    assert log.seen == (entries[-1][0] if entries else "0")
    place = max(log.floor, (position, 0))
    assert log.after(place, count) == [entry for entry in kept if place_of(entry[0]) > place][:count]
    assert log.is_read_to(place) == (place >= place_of(log.seen))


@given(held=st.lists(st.lists(st.integers(0, 3000), max_size=6), min_size=1, max_size=6), most=st.integers(0, 30_000))
def test_all_together_stay_within_a_bound_and_who_holds_less_is_spared(held: list[list[int]], most: int) -> None:
    logs: list[Log[bytes]] = []
    for sizes in held:
        logs.append(Log("0", asked_at_s=0.0))
        logs[-1].add([(f"{number}-0", bytes(size)) for number, size in enumerate(sizes, start=1)], len)
    before = [log.held_bytes for log in logs]
    bound(logs, most)
    assert sum(log.held_bytes for log in logs) <= most
    if sum(before) <= most:
        assert [log.held_bytes for log in logs] == before
    least = min(before)
    if least * len(logs) <= most - len(logs) * (ENTRY_BYTES + 3000):
        assert all(log.held_bytes == least for log, was in zip(logs, before, strict=True) if was == least)


def test_what_was_read_after_another_id_is_not_kept() -> None:
    chunks = kind()
    assert not chunks.add("a", "0", [("1-0", b"x")], 10_000)
    chunks.logs["a"] = Log("5-0", asked_at_s=1.0)
    assert not chunks.add("a", "4-0", [("5-0", b"x"), ("6-0", b"y")], 10_000)
    assert not chunks.add("a", "5-0", [], 10_000)
    assert chunks.add("a", "5-0", [("6-0", b"y")], 10_000)
    assert (chunks.seen("a"), chunks.seen("b")) == ("6-0", None)


def test_streams_that_nobody_asks_for_are_forgotten() -> None:
    chunks = kind()
    for job, asked_at_s in (("a", 1.0), ("b", 2.0)):
        chunks.logs[job] = Log("0", asked_at_s=asked_at_s)
    chunks.forget_unasked(1.5)
    assert list(chunks.logs) == ["b"]
