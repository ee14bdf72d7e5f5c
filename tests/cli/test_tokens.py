"""`tts-batch token`: the secret is shown once and opens the API, what is listed, what is refused."""

from __future__ import annotations

import re
import time

import pytest

from jobs.access.gate import Gate, Quota, Scope
from jobs.access.tokens import digest_of
from jobs.connect import open_broker
from jobs.settings import Settings
from tests.cli.conftest import Door
from tests.helpers_valkey import shared_server

SECRET = re.compile(r"ttsb_[\w-]{43}")


@pytest.fixture
def valkey(door: Door, monkeypatch: pytest.MonkeyPatch) -> Door:
    server = shared_server()
    server.flush()
    monkeypatch.setenv("TTS_BATCH_BROKER", server.url)
    return door


def gate_of(door: Door) -> Gate:
    url = shared_server().url
    return open_broker(url, Settings(broker=url)).gate


@pytest.mark.services
def test_the_secret_is_all_of_stdout_and_opens_the_api(valkey: Door) -> None:
    result = valkey.run("token", "add", "laptop", "--scope", "speak,read")
    secret = result.stdout.strip()
    assert SECRET.fullmatch(secret)
    assert secret not in result.stderr
    assert "not shown again" in result.stderr
    token = gate_of(valkey).find(secret)
    assert token is not None
    assert (token.name, token.scopes, token.quota) == ("laptop", (Scope.READ, Scope.SPEAK), Quota())
    assert token.token in result.stderr


@pytest.mark.services
def test_a_token_has_the_quota_and_the_end_that_were_asked_for(valkey: Door) -> None:
    before_s = time.time()
    asked = ["--per-minute", "60", "--chars-per-day", "50000", "--concurrent", "4", "--expires", "30d"]
    document = valkey.json("token", "add", "laptop", *asked)
    token = gate_of(valkey).find(document["secret"])
    assert token is not None
    assert token.quota == Quota(requests_per_minute=60, chars_per_day=50_000, concurrent=4)
    assert token.scopes == (Scope.READ, Scope.JOBS, Scope.SPEAK)
    month_s = 30 * 86_400
    assert before_s + month_s <= token.expires_at_s <= time.time() + month_s
    assert {document["per_minute"], document["chars_per_day"], document["concurrent"]} == {60, 50_000, 4}
    assert document["expires_at_s"] == token.expires_at_s


@pytest.mark.services
def test_no_list_shows_a_secret_or_its_digest(valkey: Door) -> None:
    secrets = [valkey.json("token", "add", name)["secret"] for name in ("ann", "bob")]
    plain = valkey.run("token", "list").stdout
    listed = valkey.json("token", "list")
    assert [one["name"] for one in listed["tokens"]] == ["ann", "bob"]
    assert all(one["name"] in plain and one["token"] in plain for one in listed["tokens"])
    for secret in secrets:
        for shown in (plain, str(listed)):
            assert secret not in shown
            assert digest_of(secret) not in shown


@pytest.mark.services
def test_a_token_is_taken_back_by_its_id_alone(valkey: Door) -> None:
    made = [valkey.json("token", "add", "ann") for _ in range(2)]
    for wrong in ("ann", made[0]["secret"], "tok_000000000000"):
        error = valkey.error("token", "remove", wrong, code=2)
        assert made[0]["token"] in error["message"]
        assert made[0]["secret"] not in error["message"]
    first = valkey.run("token", "remove", made[0]["token"])
    assert "last one" not in first.stderr
    assert gate_of(valkey).find(made[0]["secret"]) is None
    assert gate_of(valkey).find(made[1]["secret"]) is not None
    assert "last one" in valkey.run("token", "remove", made[1]["token"]).stderr
    assert valkey.json("token", "list") == {"tokens": []}


@pytest.mark.parametrize("option", ["--per-minute", "--chars-per-day", "--concurrent"])
@pytest.mark.parametrize("limit", ["0", "9" * 24])
def test_a_limit_that_cannot_be_counted_is_refused(door: Door, option: str, limit: str) -> None:
    """The broker counts in doubles and answers in 64 bits: of 10²³ requests a minute −2⁶³ would be left."""
    message = door.error("token", "add", "laptop", option, limit, code=2)["message"]
    assert message.startswith(f"Invalid value for '{option}': Input should be ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["laptop", "--scope", "speak,admin"], "'admin' is none; scopes are read, jobs, speak, voices"),
        (["laptop", "--scope", " , "], "names none"),
        (["laptop", "--expires", "30"], "30d"),
        (["laptop", "--expires", "0d"], "30d"),
        (["laptop", "--expires", "-1d"], "30d"),
        (["laptop", "--expires", "999999999w"], "at most 5200w"),
        (["laptop", "--expires", "1e9d"], "30d"),
        (["a\nb"], "printable"),
        ([""], "printable"),
    ],
)
def test_what_is_not_allowed_is_told_before_a_broker_is_asked(door: Door, words: list[str], told: str) -> None:
    error = door.error("token", "add", *words, code=2)
    assert error["code"] == "bad_option"
    assert told in error["message"]
