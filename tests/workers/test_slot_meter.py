"""Occupancy as an integral over time, and how soon a freed slot is filled."""

from __future__ import annotations

from jobs.figures import Figure, Figures, named
from workers.slot_meter import SlotMeter


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def meter() -> tuple[SlotMeter, Figures, Clock]:
    figures, clock = Figures(), Clock()
    return SlotMeter(figures, 4, clock=clock), figures, clock


def test_the_integral_counts_how_long_each_number_of_slots_was_busy() -> None:
    made, figures, clock = meter()
    for at_s, busy in ((100.0, 4), (102.0, 1), (103.0, 0), (110.0, 0)):
        clock.now_s = at_s
        made.turn(busy, dry=False)
    read = figures.read()
    assert read[Figure.SLOT_S] == 4 * 10.0
    assert read[Figure.SLOT_BUSY_S] == 2 * 4 + 1 * 1


def test_a_refill_is_measured_from_the_slot_that_is_free_for_longest() -> None:
    made, figures, clock = meter()
    made.freed()
    clock.now_s += 0.25
    made.freed()
    made.filled()
    clock.now_s += 0.5
    made.filled()
    read = figures.read()
    assert (read[named(Figure.REFILL_S, "sum")], read[named(Figure.REFILL_S, "count")]) == (0.75, 2)
    assert (read[named(Figure.REFILL_S, "0.5")], read.get(named(Figure.REFILL_S, "0.2"))) == (2, None)


def test_a_slot_without_work_waits_for_nothing() -> None:
    made, figures, clock = meter()
    made.freed()
    made.turn(3, dry=True)
    clock.now_s += 60
    made.filled()
    assert named(Figure.REFILL_S, "count") not in figures.read()
