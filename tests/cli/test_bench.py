"""`bench` and `warm`: options, what is printed first, and what programs read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
import torch

from jobs.benchmarks import Measurements
from jobs.settings import load_settings
from models import registry
from tests.cli.conftest import Door
from tests.workers.token_models import SmallModel
from workers import bench as bench_module
from workers import warm as warm_module

QUICK = ("--model", "small", "--device", "cpu", "--tokens", "9-15", "--rows", "5", "--no-queue", "--slots", "1,2")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small products gain nothing from more threads, and lose much when several programs share the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "fetch", lambda name: None)
    for name in ("TRITON_CACHE_DIR", "FLASHINFER_WORKSPACE_BASE"):
        monkeypatch.setenv(name, "")  # the commands set them; so they are put back
        monkeypatch.delenv(name)
    for module in (bench_module, warm_module):
        monkeypatch.setattr(module, "load_model", lambda name, **options: SmallModel())


def test_the_ceiling_is_printed_before_the_table(door: Door) -> None:
    done = door.run("bench", *QUICK)
    assert done.stdout.index("roofline step") < done.stdout.index("x roofline")
    assert "2 slots: 8 requests" in done.stderr
    assert re.search(r"2 slots: \d+\.\d audio-s/s, whole step [\d.]+ ms \([\d.]+ x roofline\)", done.stderr)
    assert "(whole step)" in done.stdout
    assert os.environ["TRITON_CACHE_DIR"].endswith("data/kernels/triton")


def test_a_program_reads_one_document(door: Door) -> None:
    found = door.json("bench", *QUICK, "--attention", "torch", "--deterministic")
    assert [entry["slots"] for entry in found["slots"]] == [1, 2]
    assert (found["attention"], found["deterministic"], found["eager"]) == ("torch", True, False)
    assert found["mix"] == {"rows": 5, "low_tokens": 9, "high_tokens": 15, "seed": 1}
    first = found["slots"][0]
    assert first["ceiling"]["step_ms"] > 0
    assert first["engine"]["audio_s_per_s"] > 0
    assert first["queue"] is None


def test_the_figures_are_kept_for_estimates(door: Door) -> None:
    longer = [{"9-15": "40-60"}.get(word, word) for word in QUICK]  # so that some audio is made while it is measured
    found = door.json("bench", *longer)
    measured = Measurements(load_settings().measurements_dir).of(f"{found['model']}@{found['numerics']}")
    assert [(speed.device, speed.slots) for speed in measured.benches] == [("cpu", 1), ("cpu", 2)]
    for speed, entry in zip(measured.benches, found["slots"], strict=True):
        assert speed.ratio == pytest.approx(entry["engine"]["audio_s_per_s"])
    door.json("bench", *longer[:-1], "2", "--deterministic")
    fixed = Measurements(load_settings().measurements_dir).of(f"{found['model']}@{found['numerics']}-fixed2")
    assert [speed.slots for speed in fixed.benches] == [2]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--slots", "1,x"), "--slots '1,x' is not allowed; give whole numbers above 0 with ',' between them"),
        (("--slots", "0"), "--slots '0' is not allowed"),
        (("--tokens", "9-"), "--tokens '9-' is not allowed"),
        (("--tokens", "20-10"), "--tokens '20-10' is not allowed; give LOW-HIGH as in 900-1400"),
        (("--tokens", "1-2-3"), "--tokens '1-2-3' is not allowed; give LOW-HIGH"),
        (("--attention", "xla"), "TTS_BATCH_ATTENTION='xla' is not allowed"),
        (("--slots", "4", "--requests", "15"), "--requests 15 is too few for 4 slots"),
    ],
)
def test_bad_options_are_said(door: Door, words: tuple[str, ...], text: str) -> None:
    assert text in door.error("bench", "--device", "cpu", *words, code=2)["message"]


def test_a_device_that_is_not_there_is_said(door: Door) -> None:
    assert "device 'tpu' is not known" in door.error("bench", "--device", "tpu", code=4)["message"]


def test_warm_says_what_each_stage_takes(door: Door) -> None:
    found = door.json("warm", "--model", "small", "--device", "cpu", "--slots", "3")
    assert (found["model"], found["device"], found["slots"]) == ("small", "cpu", 3)
    assert found["kernel_cache"].endswith("data/kernels")
    assert {"fetch_s", "import_s", "load_s", "kernels_s", "first_audio_s", "start_s"} <= set(found)
    shown = door.run("warm", "--device", "cpu", "--random-weights").stdout
    assert [stage in shown for stage in ("fetch", "import", "load", "kernels", "first audio", "start")] == [True] * 6
