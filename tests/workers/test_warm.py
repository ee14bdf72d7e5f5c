"""Getting ready: every stage is done and timed, nothing is fetched for random weights, a model in trouble is said."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch

from jobs.errors import BadOption
from jobs.settings import Settings
from models import registry
from models.errors import MissingExtra
from tests.workers.token_models import SmallModel
from workers import warm as warm_module
from workers.engines import load_model
from workers.warm import warm


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small products gain nothing from more threads, and lose much when several programs share the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    monkeypatch.setattr(registry, "fetch", names.append)
    return names


@pytest.mark.parametrize("random_weights", [False, True])
def test_a_token_model_speaks_one_frame(monkeypatch, fetched, random_weights) -> None:
    model = SmallModel()
    monkeypatch.setattr(warm_module, "load_model", lambda name, **options: model)
    report = warm(Settings(slots=2), model="small", device="cpu", random_weights=random_weights)
    assert (report.model, report.device, report.slots) == ("small", "cpu", 2)
    assert fetched == ([] if random_weights else ["small"])
    assert [prompt.spoken for prompt in model.prompts] == ([] if random_weights else [warm_module.SAMPLE_TEXT])
    stages = (report.import_s, report.load_s, report.kernels_s, report.first_audio_s)
    assert min(*stages, report.fetch_s) >= 0
    assert report.start_s == pytest.approx(sum(stages))


def test_a_model_of_whole_segments_is_got_ready_too(fetched) -> None:
    assert warm(Settings(), model="fake", device="cpu", random_weights=False).slots == 4
    assert fetched == ["fake"]


def test_weights_that_cannot_be_had_are_an_error_of_the_jobs_room(monkeypatch) -> None:
    def refuse(name: str) -> None:
        raise MissingExtra(f"the hub does not answer for {name}")

    monkeypatch.setattr(registry, "fetch", refuse)
    with pytest.raises(BadOption, match="the hub does not answer for small"):
        warm(Settings(), model="small", device="cpu", random_weights=False)


def test_a_request_that_fails_is_said(monkeypatch, fetched) -> None:
    model = SmallModel()
    model.program.max_positions = 4
    monkeypatch.setattr(warm_module, "load_model", lambda name, **options: model)
    with pytest.raises(BadOption, match="the model cannot speak its first request: "):
        warm(Settings(), model="small", device="cpu", random_weights=False)
    assert load_model("fake", device="cpu", precision="auto", random_weights=False).card.name == "fake"


def test_torch_is_loaded_where_it_is_measured() -> None:
    code = "import sys, workers.warm; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
