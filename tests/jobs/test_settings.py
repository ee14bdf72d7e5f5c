"""Settings: names, types, ranges, the data folder, and what child processes see."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.errors import BadOption
from jobs.settings import PREFIX, Settings, child_environment, load_settings, one_gpu, use_kernel_cache

HOME = Path("~").expanduser()


def load(**values: str) -> Settings:
    return load_settings({f"TTS_BATCH_{name.upper()}": value for name, value in values.items()})


def test_nothing_set_is_the_defaults_with_a_whole_path():
    assert load_settings({}) == replace(Settings(), data_dir=HOME / ".local/share/tts-batch")
    assert load_settings({"OTHER": "x"}).store_url == f"file://{HOME}/.local/share/tts-batch/store"


def test_an_unknown_name_is_an_error_that_lists_the_names():
    with pytest.raises(BadOption, match="TTS_BATCH_BROKR is not a setting; settings are ") as caught:
        load(brokr="redis://x")
    for field in fields(Settings):
        assert f"{PREFIX}{field.name.upper()}" in str(caught.value)


def test_every_setting_can_be_set():
    given_values = {
        "broker": "redis://h:1/0",
        "store": "file:///s",
        "s3_endpoint": "http://s3:8333",
        "s3_public_endpoint": "https://audio.example.org",
        "s3_region": "eu-1",
        "s3_addressing": "path",
        "s3_encryption": "aws:kms",
        "s3_kms_key": "alias/a",
        "data_dir": "/d",
        "model": "fake",
        "processes": "3",
        "slots": "5",
        "eager": "True",
        "deterministic": "True",
        "attention": "torch",
        "kernel_cache": "/k",
        "precision": "bf16",
        "max_waiting_segments": "7",
        "keep_jobs_s": "86400",
        "worker_ttl_s": "7.5",
        "grace_s": "0",
        "max_audio_stream_bytes": "1000",
        "max_audio_total_bytes": "2000",
        "stream_ttl_s": "60",
        "device_hour_price": "2.5",
        "currency": "EUR",
        "log_level": "debug",
    }
    assert set(given_values) == {field.name for field in fields(Settings)}
    settings = load(**given_values)
    assert settings.store_url == "file:///s"
    for field in fields(Settings):
        value = getattr(settings, field.name)
        assert value != field.default
        assert str(value) in {given_values[field.name], f"{given_values[field.name]}.0"}
        assert type(value).__name__.removeprefix("Posix") in str(field.type)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("processes", "two", "TTS_BATCH_PROCESSES='two' is not a whole number"),
        ("slots", "1.5", "TTS_BATCH_SLOTS='1.5' is not a whole number"),
        ("grace_s", "soon", "TTS_BATCH_GRACE_S='soon' is not a number"),
        ("slots", "-1", "TTS_BATCH_SLOTS=-1 is not allowed; use 0 or more"),
        ("eager", "maybe", "TTS_BATCH_EAGER='maybe' is not allowed; use true or false (or 1, 0, yes, no, on, off)"),
        ("attention", "xla", "TTS_BATCH_ATTENTION='xla' is not allowed; use auto, torch, triton or flashinfer"),
        ("kernel_cache", "", "TTS_BATCH_KERNEL_CACHE is empty"),
        ("processes", "-1", "TTS_BATCH_PROCESSES=-1 is not allowed; use 0 or more"),
        ("worker_ttl_s", "nan", "TTS_BATCH_WORKER_TTL_S=nan is not allowed; use 1 or more"),
        ("grace_s", "inf", "TTS_BATCH_GRACE_S=inf is not allowed"),
        ("max_audio_stream_bytes", "0", "TTS_BATCH_MAX_AUDIO_STREAM_BYTES=0 is not allowed"),
        ("device_hour_price", "-1", "TTS_BATCH_DEVICE_HOUR_PRICE=-1.0 is not allowed; use 0 or more"),
        ("device_hour_price", "cheap", "TTS_BATCH_DEVICE_HOUR_PRICE='cheap' is not a number"),
        ("precision", "fp16", "TTS_BATCH_PRECISION='fp16' is not allowed; use auto, fp32 or bf16"),
        ("log_level", "loud", "TTS_BATCH_LOG_LEVEL='loud' is not allowed; use debug, info, warning or error"),
        ("data_dir", "", "TTS_BATCH_DATA_DIR is empty"),
        ("broker", "", "TTS_BATCH_BROKER is empty"),
        ("slots", "", "TTS_BATCH_SLOTS is empty"),
    ],
)
def test_a_bad_value_names_the_variable_and_what_is_allowed(name, value, text):
    with pytest.raises(BadOption) as caught:
        load(**{name: value})
    assert text in str(caught.value)


def test_the_data_folder_follows_xdg_unless_it_is_set():
    assert load_settings({"XDG_DATA_HOME": "/x"}).data_dir == Path("/x/tts-batch")
    both = {"XDG_DATA_HOME": "/x", "TTS_BATCH_DATA_DIR": "/y"}
    assert load_settings(both).data_dir == Path("/y")
    for ignored in ("", "relative/share"):
        assert load_settings({"XDG_DATA_HOME": ignored}).data_dir == HOME / ".local/share/tts-batch"


def test_the_data_folder_is_whole_wherever_we_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load(data_dir="here").data_dir == tmp_path / "here"
    assert load(data_dir="~/there").data_dir == HOME / "there"


@given(
    broker=st.none() | st.sampled_from(["unix:///s", "redis://u:p%40@h:1/2"]),
    slots=st.integers(0, 512),
    eager=st.booleans(),
    kernel_cache=st.none() | st.just(Path("/k")),
    grace_s=st.floats(0, 1e6, allow_nan=False),
    folder=st.text(st.characters(min_codepoint=0x21, max_codepoint=0x24F, exclude_characters="/\x7f"), min_size=1),
)
def test_a_child_process_sees_the_same_settings(broker, slots, eager, kernel_cache, grace_s, folder):
    settings = Settings(broker=broker, slots=slots, eager=eager, kernel_cache=kernel_cache, grace_s=grace_s,
                        data_dir=Path("/") / folder)  # fmt: skip
    assert load_settings(child_environment(settings)) == settings


@pytest.mark.parametrize(("word", "meant"), [("1", True), ("YES", True), ("0", False), ("Off", False)])
def test_a_switch_may_be_said_in_several_words(word, meant):
    assert load(eager=word).eager is meant


def test_slots_follow_the_device_unless_they_are_set():
    assert [Settings().slots_on(device) for device in ("cpu", "cuda")] == [4, 256]
    assert [Settings(slots=7).slots_on(device) for device in ("cpu", "cuda")] == [7, 7]


KERNELS = ("TRITON_CACHE_DIR", "FLASHINFER_WORKSPACE_BASE")


@pytest.mark.parametrize("own", [None, Path("/k")])
@pytest.mark.parametrize("users", [None, "/users"])
def test_our_kernel_cache_goes_before_the_users_and_that_before_our_default(monkeypatch, own, users):
    for name in KERNELS:
        monkeypatch.setenv(name, users or "")  # what the code sets itself is then undone as well
        if not users:
            monkeypatch.delenv(name)
    settings = Settings(data_dir=Path("/d"), kernel_cache=own)
    default = own or Path("/d/kernels")
    wanted = [users, users] if users and not own else [str(default / "triton"), str(default / "flashinfer")]
    assert [child_environment(settings)[name] for name in KERNELS] == wanted
    use_kernel_cache(settings)
    assert [os.environ[name] for name in KERNELS] == wanted


@pytest.mark.parametrize(
    ("seen", "places"), [(None, ["0", "1"]), ("", ["0", "1"]), ("3,5", ["3", "5"]), (" GPU-a , 7", ["GPU-a", "7"])]
)
def test_each_process_sees_one_of_the_gpus_that_we_see(monkeypatch, seen, places):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if seen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", seen)
    assert [one_gpu(place)["CUDA_VISIBLE_DEVICES"] for place in range(2)] == places


def test_a_child_process_has_the_rest_of_the_environment_and_no_old_setting(monkeypatch):
    monkeypatch.setenv("TTS_BATCH_BROKER", "redis://old")
    monkeypatch.setenv("SOMETHING", "else")
    environment = child_environment(Settings(data_dir=Path("/d")))
    assert environment["SOMETHING"] == "else"
    assert environment["PATH"] == os.environ["PATH"]
    assert "TTS_BATCH_BROKER" not in environment
