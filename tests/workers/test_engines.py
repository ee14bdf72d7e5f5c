"""Which engine a model gets, how it is run, and what is said of models that cannot be had."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.engine import UtteranceEngine
from engine.errors import DeviceUnavailable
from engine.tokens.engine import TokenEngine
from jobs.errors import BadOption, NoDevice
from jobs.settings import Settings
from models import registry
from tests.workers.token_models import SmallModel
from workers import engines
from workers.engines import EngineSettings, busy_slots, is_lost_device, load_model, make_engine, open_device
from workers.room_config import EXIT_LOST_DEVICE, RoomConfig


def test_each_lane_has_its_engine_with_the_slots_of_the_process() -> None:
    whole = make_engine(registry.load("fake"), EngineSettings(3))
    tokens = make_engine(SmallModel(), EngineSettings(3, deterministic=True, attention="torch"))
    assert isinstance(whole, UtteranceEngine)
    assert isinstance(tokens, TokenEngine)
    assert [engine.num_slots for engine in (whole, tokens)] == [3, 3]
    assert [busy_slots(engine) for engine in (whole, tokens)] == [0, 0]
    assert (tokens.options.deterministic, tokens.options.attention, tokens.options.eager) == (True, "torch", False)
    assert not tokens.options.timed


def test_settings_decide_how_engines_are_run() -> None:
    settings = Settings(eager=True, attention="triton")
    assert EngineSettings.of(settings, "cuda") == EngineSettings(256, eager=True, attention="triton")
    assert EngineSettings.of(settings, "cpu").slots == 4
    assert EngineSettings.of(Settings(slots=9, deterministic=True), "cuda") == EngineSettings(9, deterministic=True)


@pytest.mark.parametrize(
    ("settings", "token", "whole"),
    [
        (EngineSettings(8, attention="torch"), "small1", "fake-1"),
        (EngineSettings(8, deterministic=True), "small1-fixed8", "fake-1"),
        (EngineSettings(9, deterministic=True, attention="triton"), "small1-fixed9-triton", "fake-1"),
    ],
)
def test_what_decides_the_tokens_is_a_part_of_the_numerics(settings: EngineSettings, token: str, whole: str) -> None:
    assert settings.numerics(SmallModel().card) == token
    assert settings.numerics(registry.card("fake")) == whole


@pytest.mark.parametrize(
    ("name", "options", "error", "text"),
    [
        ("nothing", {}, BadOption, "no model is called 'nothing'"),
        (
            "piper",
            {"random_weights": True},
            BadOption,
            "--random-weights has the shape of 'orpheus' only, not of 'piper'",
        ),
        ("fake", {"device": "cuda"}, NoDevice, "cuda"),
    ],
)
def test_a_model_that_cannot_be_had_is_an_error_of_the_jobs_room(name, options, error, text) -> None:
    with pytest.raises(error, match=text):
        load_model(name, **{"device": "cpu", "precision": "auto", "random_weights": False} | options)


def test_a_device_that_is_not_there_is_said() -> None:
    open_device("cpu")
    with pytest.raises(NoDevice, match="device 'tpu' is not known; use cuda or cpu"):
        open_device("tpu")


LOST = f"""
import sys
from workers import room
class AcceleratorError(RuntimeError): pass
def lost(self, stop, *, grace_s): raise AcceleratorError("an illegal memory access")
room.Room.run = lost
room.open_context = lambda settings: room.Context(settings, None, None)
sys.argv[1] = {RoomConfig("w", "cpu", "auto", ("fake",), EngineSettings(1)).dump()!r}
room.main()
"""


def test_a_lost_device_ends_the_process_with_a_status_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", LOST, ""], capture_output=True, text=True, check=False)
    assert done.returncode == EXIT_LOST_DEVICE, done.stderr
    assert "an illegal memory access" in done.stderr
    assert not is_lost_device(RuntimeError("shapes differ"))


@pytest.mark.parametrize(
    "fault", [MemoryError("a page takes 9 MB"), RuntimeError("out of memory"), ImportError("gone")]
)
def test_an_engine_that_cannot_be_made_says_why(monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise fault

    monkeypatch.setattr(engines, "make_token_engine", refuse)
    with pytest.raises(DeviceUnavailable, match=f"no engine of 7 slots can be made for model small: .*{fault}"):
        make_engine(SmallModel(), EngineSettings(7))


@pytest.mark.parametrize("fault", [MemoryError("6 GB"), RuntimeError("CUDA out of memory")])
def test_a_model_that_finds_no_room_is_no_device_for_a_command(
    monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise fault

    monkeypatch.setattr(registry, "load", refuse)
    with pytest.raises(NoDevice, match=f"model fake cannot be loaded on cpu: .*{fault}; if it is memory, free some"):
        load_model("fake", device="cpu", precision="auto", random_weights=False)


def test_a_device_that_is_lost_while_an_engine_is_made_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = type("AcceleratorError", (RuntimeError,), {})("an illegal memory access")

    def refuse(*_arguments: object, **_options: object) -> None:
        raise lost

    monkeypatch.setattr(engines, "make_token_engine", refuse)
    with pytest.raises(RuntimeError, match="illegal memory access") as raised:
        make_engine(SmallModel(), EngineSettings(7))
    assert raised.value is lost
