"""The scripts as texts: whole, with keys from one file only, each with its schema at the top."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from jobs.state import JOB_MOVES
from jobs.truth.lua import compose
from tests.helpers_valkey import shared_server

SCRIPTS = sorted(
    entry.name.removesuffix(".lua")
    for entry in resources.files("jobs.truth").joinpath("scripts").iterdir()
    if entry.name.endswith(".lua") and entry.name != "prelude.lua"
)


def source(name: str) -> str:
    return resources.files("jobs.truth").joinpath("scripts", f"{name}.lua").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*SCRIPTS, "prelude"])
def test_no_script_makes_a_key_of_its_own(name: str) -> None:
    assert "tts:" not in source(name)
    known = set(re.findall(r"(\w+) = 'tts:", compose("beat", stream_ttl_s=1)))
    assert set(re.findall(r"\bK\.(\w+)", source(name))) <= known


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_says_what_it_takes_and_gives(name: str) -> None:
    head = source(name).partition("\nlocal ")[0]
    assert re.match(r"-- [A-Z]", head)
    assert "ARGV: " in head
    assert "Returns " in head
    assert "Writes: " in head or "Deletes " in head


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_calls_what_redis_6_2_dies_of(name: str) -> None:
    assert "call('INCRBYFLOAT'" not in source(name)


def test_constants_come_from_python() -> None:
    whole = compose("move", stream_ttl_s=1.5)
    assert "local STREAM_TTL_MS = 1500\n" in whole
    for old, moves in JOB_MOVES.items():
        (row,) = re.findall(rf"\b{old} = {{([^}}]*)}}", whole.partition("local FINAL")[0])
        assert set(re.findall(r"(\w+) = true", row)) == set(moves)


@pytest.mark.services
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_server_compiles_every_script(name: str) -> None:
    import redis

    with redis.Redis.from_url(shared_server().url) as client:
        assert len(client.script_load(compose(name, stream_ttl_s=60))) == 40
