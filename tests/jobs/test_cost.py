"""What a job costs: prices, sums over results, measurements that are kept, and estimates from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.benchmarks import KEPT_JOBS, LEAST_AUDIO_S, Measured, Measurements, Rate, Speed
from jobs.cost import cost_lines, run_report, seconds, wh_per_audio_hour
from jobs.estimate import Estimate, Queue, SpeakingRate, estimate, find_queue, of_record, without_takes
from jobs.plan_store import load_plan
from jobs.spec import Priority, SegmentResult
from jobs.state import JobState, SegmentState
from jobs.tariff import Tariff
from tests.helpers_jobs import OFFER, RATE_HZ, World
from tests.helpers_truth import worker

TARIFF = Tariff(3.6, "EUR")


def result(segment: int = 0, **fields: object) -> SegmentResult:
    known = {"state": SegmentState.DONE, "samples": 2 * RATE_HZ, "sample_rate_hz": RATE_HZ, "device": "cpu"}
    return SegmentResult(job="j", segment=segment, chapter=0, take="t", **(known | fields))


# ── tariff ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_price_is_hours_times_what_an_hour_costs():
    assert TARIFF.price(1000.0) == pytest.approx(1.0)
    assert TARIFF.price(0.0) == 0.0
    assert TARIFF.price(None) is None
    assert Tariff().price(1000.0) is None


@pytest.mark.parametrize(
    ("price", "text"),
    [(12.345, "12.35 EUR"), (0.1, "0.10 EUR"), (0.0123, "0.012 EUR"), (0.00001, "under 0.0001 EUR"), (0.0, "0.00 EUR")],
)
def test_a_price_is_shown_with_digits_that_say_something(price: float, text: str):
    assert TARIFF.text(price) == text
    assert Tariff(1.0).text(price) == text.removesuffix(" EUR")


def test_device_time_is_shown_with_as_many_digits_as_it_needs():
    assert [seconds(one) for one in (0.123, 12.34, 3600.0)] == [
        "0.12 device-seconds",
        "12.3 device-seconds",
        "3,600 device-seconds",
    ]


# ── sums over results ───────────────────────────────────────────────────────────────────────────────────────────────
def test_the_run_sums_devices_apart_and_together():
    run = run_report(
        [
            result(0, device_s=1.0, compute_s=3.0, device="A", energy_j=100.0),
            result(1, device_s=3.0, compute_s=3.0, device="B", energy_j=500.0),
            result(2, reused=True, device=""),
            result(3, state=SegmentState.FAILED, samples=0, device_s=1.0, device="B", energy_j=120.0),
        ]
    ).priced(TARIFF)
    assert (run.compute_s, run.reused, run.audio_s, run.device_s, run.energy_j) == (6.0, 1, 4.0, 5.0, 720.0)
    assert run.audio_s_per_device_s == pytest.approx(0.8)
    assert run.energy_wh_per_audio_hour == pytest.approx(720 / 3600 / (4 / 3600))
    assert (run.price, run.currency) == (pytest.approx(0.005), "EUR")
    assert [(one.device, one.segments, one.audio_s, one.device_s) for one in run.devices] == [
        ("A", 1, 2.0, 1.0),
        ("B", 2, 2.0, 4.0),
    ]


def test_energy_is_not_told_unless_every_segment_tells_it():
    run = run_report([result(0, device_s=1.0, energy_j=5.0), result(1, device_s=1.0)])
    assert (run.energy_j, run.energy_wh_per_audio_hour, run.devices[0].energy_j) == (None, None, None)
    assert wh_per_audio_hour(5.0, 0.0) is None


def test_a_job_whose_takes_were_all_there_costs_nothing():
    run = run_report([result(number, reused=True, device="") for number in range(3)]).priced(TARIFF)
    assert (run.device_s, run.price, run.devices, run.audio_s_per_device_s) == (0.0, 0.0, (), None)
    assert cost_lines(run, TARIFF) == []


def test_people_are_told_in_one_line():
    run = run_report([result(0, device_s=1.0, energy_j=7.2)]).priced(TARIFF)
    assert cost_lines(run, TARIFF) == [
        "1.0 device-seconds of cpu, 2.0 s of audio each second, 0.002 Wh (3.6 Wh for an hour of audio), 0.001 EUR"
    ]


amounts = st.floats(0, 1e4, allow_nan=False)


@given(st.lists(st.tuples(amounts, st.booleans(), st.sampled_from(["cpu", "A", "B"])), max_size=20))
def test_nothing_is_lost_or_counted_twice(entries: list[tuple[float, bool, str]]):
    results = [
        result(number, device_s=0.0 if reused else device_s, reused=reused, device="" if reused else device)
        for number, (device_s, reused, device) in enumerate(entries)
    ]
    run = run_report(results)
    assert run.device_s == pytest.approx(sum(one.device_s for one in results), abs=1e-5)
    assert run.device_s == pytest.approx(sum(device.device_s for device in run.devices), abs=1e-4)
    assert run.device_s >= 0
    assert run.audio_s <= sum(one.samples / RATE_HZ for one in results if not one.reused) + 1e-9


# ── measurements ────────────────────────────────────────────────────────────────────────────────────────────────────
def bench(slots: int, ratio: float, device: str = "A", at_s: float = 1.0) -> Speed:
    return Speed(device=device, audio_s=ratio, device_s=1.0, measured_at_s=at_s, slots=slots)


def test_what_is_not_there_or_damaged_counts_as_not_measured(tmp_path: Path):
    measurements = Measurements(tmp_path / "bench")
    assert measurements.of("m@n1") == Measured(engine="m@n1")
    assert measurements.of("m@n1").speed() is None
    assert not (tmp_path / "bench").exists()
    measurements.note_bench("m@n1", [bench(4, 2.0)])
    assert measurements.of("m@n1").benches == (bench(4, 2.0),)
    measurements.path("m@n1").write_bytes(b"\xff{")
    assert measurements.of("m@n1") == Measured(engine="m@n1")


def test_engines_never_share_a_file(tmp_path: Path):
    measurements = Measurements(tmp_path)
    names = ["m@n", "M@n", "m-n", "/models/m@n", "/models/" + "long/" * 60 + "m@n", "漢@n", "@"]
    assert len({measurements.path(name).name.lower() for name in names}) == len(names)
    assert all(len(measurements.path(name).name) < 100 for name in names)


def test_a_new_benchmark_takes_the_place_of_the_old_one_of_its_device_only(tmp_path: Path):
    measurements = Measurements(tmp_path)
    measurements.note_bench("m@n1", [bench(4, 2.0), bench(8, 3.0)])
    measurements.note_bench("m@n1", [bench(8, 9.0, device="B")])
    measurements.note_bench("m@n1", [bench(4, 2.5)])
    assert measurements.of("m@n1").benches == (bench(8, 9.0, device="B"), bench(4, 2.5))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".lock"]


def test_a_benchmark_goes_before_jobs_and_the_nearest_number_of_slots_counts():
    job = Speed(device="A", audio_s=1.0, device_s=1.0, measured_at_s=9.0, job="j")
    measured = Measured(engine="m", benches=(bench(1, 1.0), bench(64, 50.0), bench(256, 90.0)), jobs=(job,))
    assert [measured.speed(slots=slots).audio_s_per_device_s for slots in (1, 100, 512, 0)] == [1.0, 50.0, 90.0, 90.0]
    basis = Measured(engine="m", jobs=(job, job.model_copy(update={"audio_s": 3.0, "job": "k"}))).speed()
    assert (basis.source, basis.jobs, basis.audio_s_per_device_s) == ("jobs", 2, 2.0)
    assert "without retakes" in measured.speed().text
    assert basis.text == "2 finished jobs on A, the last of 1970-01-01"


def test_the_speed_is_that_of_the_device_of_the_last_job():
    speeds = [
        Speed(device=name, audio_s=audio_s, device_s=1.0, measured_at_s=1.0, job=f"j{audio_s}")
        for name, audio_s in (("A", 1.0), ("B", 5.0), ("A", 3.0))
    ]
    assert Measured(engine="m", jobs=tuple(speeds)).speed().audio_s_per_device_s == 2.0


def spoken(world: World, text: str, *, device_s: float = 0.5) -> str:
    """A job whose segments are all done; returns its name."""
    record = world.submit(text)
    for task in world.lease():
        world.report(task, samples=40 * RATE_HZ, device_s=device_s, device="cpu")
    return record.job


def note(world: World, measurements: Measurements, job: str) -> None:
    record = world.truth.job(job)
    measurements.note_job(record, load_plan(world.store, job), world.truth.results(job))


def test_a_finished_job_tells_speed_and_speaking_rate_once(tmp_path: Path):
    world, measurements = World(), Measurements(tmp_path)
    job = spoken(world, "One is here. Two is here.\n\nThree is here.\n")
    for _ in range(2):
        note(world, measurements, job)
    measured = measurements.of(OFFER.engine)
    ((speed,), (rate,)) = measured.jobs, measured.rates
    record = world.truth.job(job)
    assert (speed.job, speed.audio_s, speed.device_s) == (job, 40.0 * record.total, 0.5 * record.total)
    assert rate == Rate(voice="ann", job=job, chars=record.total_chars, audio_s=40.0 * record.total)
    assert measured.chars_per_s("ann") == pytest.approx(record.total_chars / (40.0 * record.total))
    assert measured.chars_per_s("bob") is None


def test_only_the_newest_jobs_are_kept(tmp_path: Path):
    world, measurements = World(), Measurements(tmp_path)
    jobs = [spoken(world, f"Number {'x' * number} is here.") for number in range(KEPT_JOBS + 3)]
    for job in jobs:
        note(world, measurements, job)
    measured = measurements.of(OFFER.engine)
    assert [speed.job for speed in measured.jobs] == jobs[3:]
    assert [rate.job for rate in measured.rates] == jobs[3:]


def test_a_job_of_a_few_words_tells_nothing(tmp_path: Path):
    world, measurements = World(), Measurements(tmp_path)
    record = world.submit("One is here.")
    for task in world.lease():
        world.report(task, samples=int(LEAST_AUDIO_S * RATE_HZ) - 1, device_s=9.0, device="cpu")
    note(world, measurements, record.job)
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_only_reused_takes_tells_nothing(tmp_path: Path):
    world, measurements = World(), Measurements(tmp_path)
    record = world.submit("One is here.")
    for task in world.lease():
        world.report(task, samples=40 * RATE_HZ, reused=True)
    note(world, measurements, record.job)
    assert list(tmp_path.iterdir()) == []


# ── estimates ───────────────────────────────────────────────────────────────────────────────────────────────────────
def expected(world: World, queue: Queue | None = None, *, ratio: float | None = 4.0) -> Estimate:
    basis = None if ratio is None else Measured(engine="m@n1", benches=(bench(4, ratio),)).speed()
    return estimate(world.draft(), SpeakingRate(10.0, measured=True), basis, TARIFF, queue)


def test_an_estimate_is_characters_over_rate_over_speed():
    world = World()
    seen = expected(world, Queue(workers=2, ahead_s=10.0))
    chars = world.draft().plan.prompt_chars
    assert seen.audio_s == pytest.approx(chars / 10)
    assert seen.device_s == pytest.approx(chars / 40)
    assert seen.price == pytest.approx(chars / 40 / 1000, abs=1e-6)
    assert seen.eta_s == pytest.approx((chars / 40 + 10) / 2)
    assert json.loads(json.dumps(seen.document()))["basis"]["source"] == "bench"
    assert "by 2 workers" in seen.line()
    assert "EUR" in seen.line()
    assert any("other jobs" in line for line in seen.reasons(bench_helps=True, model="m"))


def test_what_was_never_measured_is_said_and_not_guessed():
    seen = expected(World(), Queue(workers=0), ratio=None)
    assert (seen.device_s, seen.price, seen.eta_s) == (None, None, None)
    assert "no measurement of m@n1 yet" in seen.line()
    bench = "no measurement yet: run `tts-batch bench --model m`; a finished job of 20 s of audio or more is one too"
    assert bench in seen.reasons(bench_helps=True, model="m")
    assert "no measurement yet: the first finished job of 20 s of audio or more is one" in seen.reasons(
        bench_helps=False, model="m"
    )
    assert "no worker that speaks m@n1 is up" in seen.reasons(bench_helps=False, model="m")
    assert seen.document()["device_s"] is None


def test_takes_that_are_there_are_not_spoken_again():
    world = World()
    draft = world.draft()
    whole = expected(world)
    some = without_takes(whole, draft, [0, 2])
    left = sum(len(one.spoken) for one in draft.plan.segments if one.segment not in {0, 2})
    assert (some.chars, some.segments_in_store) == (left, 2)
    nothing = without_takes(whole, draft, [one.segment for one in draft.plan.segments])
    assert nothing.line() == "nothing is left to speak: every take is in the store"
    assert (nothing.device_s, nothing.price) == (0.0, 0.0)


def test_an_accepted_job_has_left_what_is_not_finished():
    world = World()
    record = world.submit()
    whole = expected(world)
    assert of_record(whole, record).chars == whole.chars
    world.speak_all()
    assert of_record(whole, world.truth.job(record.job)).chars == 0


def test_the_queue_counts_workers_of_the_engine_and_jobs_before_ours(tmp_path: Path):
    world, measurements = World(), Measurements(tmp_path)
    measurements.note_bench(OFFER.engine, [bench(4, 4.0)])
    world.truth.register(worker("x", "other@n1"))
    world.truth.register(worker("y", OFFER.engine).model_copy(update={"offers": (OFFER,)}))
    first = world.submit("One is here. Two is here.")
    held = world.submit("Nine is here.")
    world.truth.move_job(held.job, JobState.PAUSED)
    world.submit("Five is here.", priority=Priority.BULK)
    draft = world.draft()
    queue = find_queue(world.truth, draft.spec, draft.job, measurements)
    assert queue.workers == 2
    assert queue.ahead_s == pytest.approx(first.total_chars / OFFER.chars_per_s / 4.0)
    own = find_queue(world.truth, draft.spec, first.job, measurements)
    assert own.ahead_s == 0.0
    assert find_queue(world.truth, draft.spec, draft.job, Measurements(tmp_path / "none")).ahead_s == 0.0
