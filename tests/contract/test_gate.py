"""What `jobs.access.gate.Gate` promises, over both back ends; two gates of one house are two servers of one broker."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs import keys
from jobs.access import redis_gate
from jobs.access.gate import DAY_S, MINUTE_S, Gate, Quota, Scope, Token
from jobs.access.memory import MemoryGate
from jobs.access.redis_gate import RedisGate
from jobs.access.tokens import new_token
from jobs.truth.calls import Calls, make_client
from tests.helpers_valkey import shared_server


class MemoryHouse:
    """A gate whose clock stands until it is moved."""

    def __init__(self) -> None:
        self.now_s = 20_000 * DAY_S + DAY_S / 2
        self.first: Gate = MemoryGate(lambda: self.now_s)
        self.second = self.first  # memory is of one process

    def later(self, seconds: float) -> None:
        self.now_s += seconds

    def tomorrow(self) -> None:
        self.now_s = (self.now_s // DAY_S + 1) * DAY_S

    def expired_at_s(self) -> float:
        return self.now_s

    def close(self) -> None:
        pass


class RedisHouse:
    """Two gates with a pool each over one server; time passes by moving what is kept back."""

    def __init__(self) -> None:
        server = shared_server()
        server.flush()
        self.clients = [make_client(server.url) for _ in range(3)]
        self.first: Gate = RedisGate(Calls(self.clients[0]))
        self.second: Gate = RedisGate(Calls(self.clients[1]))

    @property
    def client(self) -> Any:
        return self.clients[2]

    def later(self, seconds: float) -> None:
        for key in self.client.scan_iter(keys.token_use("rate", "*")):
            self.client.set(key, float(self.client.get(key)) - seconds, keepttl=True)
        for key in self.client.scan_iter(keys.token_use("speaking", "*")):
            for request in self.client.zrange(key, 0, -1):
                self.client.zincrby(key, -seconds, request)

    def tomorrow(self) -> None:
        for key in self.client.scan_iter(keys.token_use("chars", "*")):
            self.client.hincrby(key, "day", -1)

    def expired_at_s(self) -> float:
        return time.time()

    def close(self) -> None:
        for client in self.clients:
            client.close()


House = MemoryHouse | RedisHouse


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.services)])
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    made: House = MemoryHouse() if request.param == "memory" else RedisHouse()
    yield made
    made.close()


def token_with(expires_at_s: float | None = None, **quota: int) -> tuple[Token, str]:
    return new_token("ann", (Scope.SPEAK,), Quota(**quota), expires_at_s=expires_at_s)


def added(house: House, **quota: int) -> Token:
    token, _ = token_with(**quota)
    house.first.add(token)
    return token


# ── tokens ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_token_is_found_by_its_secret_alone(house: House) -> None:
    token, secret = token_with()
    other, _ = token_with()
    assert not house.first.any()
    for one in (token, other, token):
        house.first.add(one)  # once more: as after a lost reply
    assert house.second.any()
    assert house.second.find(secret) == token
    assert list(house.second.tokens()) == sorted((token, other), key=lambda one: (one.created_at_s, one.token))
    wrong = (secret[:-1], secret + "x", secret.swapcase(), token.digest, token.token, "", "ttsb_", "*", "x" * 100_000)
    assert [house.second.find(text) for text in wrong] == [None] * len(wrong)


@given(text=st.text(alphabet=st.characters(codec=None), max_size=40))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_is_shown_as_a_secret_is_looked_for_in_vain(house: House, text: str) -> None:
    house.first.add(token_with()[0])
    assert house.first.find(text) is None


def test_a_removed_token_is_gone_everywhere_with_what_it_used(house: House) -> None:
    token, secret = token_with(requests_per_minute=1, chars_per_day=1, concurrent=1)
    house.first.add(token)
    rate = house.first.count_request(token)
    assert rate is not None
    assert rate.wait_s == 0
    assert house.first.count_chars(token, 1) == 0
    with house.first.speaking(token, "r"):
        assert house.second.remove(token.token)
        assert not house.second.remove(token.token)
        assert house.first.find(secret) is None
        assert not house.first.any()
    assert not house.first.remove(token.name)
    if isinstance(house, RedisHouse):
        assert list(house.client.scan_iter("*")) == []


def test_an_expired_token_is_not_found_but_still_there(house: House) -> None:
    over, secret = token_with(expires_at_s=house.expired_at_s())
    good, good_secret = token_with(expires_at_s=house.expired_at_s() + 3600)
    for token in (over, good):
        house.first.add(token)
    assert house.first.find(secret) is None
    assert house.first.find(good_secret) == good
    house.first.remove(good.token)
    assert house.first.any(), "a server whose last token expired is not open to all"
    assert list(house.first.tokens()) == [over]


# ── requests per minute ─────────────────────────────────────────────────────────────────────────────────────────────
def test_without_a_quota_nothing_is_counted(house: House) -> None:
    token = added(house)
    assert house.first.count_request(token) is None
    assert house.first.count_chars(token, 10**9) == 0
    with ExitStack() as stack:
        assert all(stack.enter_context(house.first.speaking(token, str(number))) for number in range(50))
    if isinstance(house, RedisHouse):
        assert list(house.client.scan_iter("*")) == [keys.TOKENS.encode()]


def test_two_servers_share_one_rate(house: House) -> None:
    token = added(house, requests_per_minute=4)
    rates = [gate.count_request(token) for gate in (house.first, house.second) * 2]
    assert [rate and (rate.remaining, rate.wait_s) for rate in rates] == [(3, 0), (2, 0), (1, 0), (0, 0)]
    for gate in (house.first, house.second):
        refused = gate.count_request(token)
        assert refused is not None
        assert (refused.limit, refused.remaining) == (4, 0)
        assert 0 < refused.wait_s <= MINUTE_S / 4
        assert refused.reset_s > 3 * MINUTE_S / 4


def test_who_waits_as_long_as_was_said_is_served_and_refusals_cost_nothing(house: House) -> None:
    token = added(house, requests_per_minute=6)
    for _ in range(6):
        house.first.count_request(token)
    for _ in range(20):
        refused = house.first.count_request(token)
        assert refused is not None
    house.later(refused.wait_s + 0.002)
    served = house.first.count_request(token)
    assert served is not None
    assert served.wait_s == 0
    again = house.first.count_request(token)
    assert again is not None
    assert again.wait_s > 0
    house.later(MINUTE_S)
    assert [rate.wait_s for _ in range(6) if (rate := house.first.count_request(token))] == [0.0] * 6


def test_each_token_has_a_rate_of_its_own(house: House) -> None:
    one, two = added(house, requests_per_minute=1), added(house, requests_per_minute=1)
    rates = [house.first.count_request(token) for token in (one, two, one, two)]
    assert [rate is not None and rate.wait_s == 0 for rate in rates] == [True, True, False, False]


def test_requests_at_one_time_are_counted_each(house: House) -> None:
    token = added(house, requests_per_minute=20)
    with ThreadPoolExecutor(8) as pool:
        rates = list(pool.map(lambda number: (house.first, house.second)[number % 2].count_request(token), range(60)))
    assert sum(rate is not None and rate.wait_s == 0 for rate in rates) == 20


# ── characters per day ──────────────────────────────────────────────────────────────────────────────────────────────
def test_characters_are_counted_until_the_day_is_over(house: House) -> None:
    token = added(house, chars_per_day=1000)
    assert house.first.count_chars(token, 600) == 0
    wait_s = house.second.count_chars(token, 500)
    assert 0 < wait_s <= DAY_S
    assert house.second.count_chars(token, 400) == 0, "what was refused was not counted"
    assert house.first.count_chars(token, 1) > 0
    assert house.first.count_chars(token, 0) == 0
    house.tomorrow()
    assert house.first.count_chars(token, 1001) > 0
    assert house.first.count_chars(token, 1000) == 0
    assert house.second.count_chars(token, 1) > 0


@pytest.mark.services
def test_a_repeated_call_whose_reply_was_lost_counts_its_characters_once(monkeypatch: pytest.MonkeyPatch) -> None:
    house = RedisHouse()
    try:
        token = added(house, chars_per_day=1000)
        monkeypatch.setattr(redis_gate, "uuid4", lambda: type("Id", (), {"hex": "the-same-call"}))
        for _ in range(3):
            assert house.first.count_chars(token, 600) == 0
        assert house.client.hget(keys.token_use("chars", token.token), "used") == b"600"
        assert 0 < house.client.pttl(keys.token_use("chars", token.token)) <= DAY_S * 1000
    finally:
        house.close()


def break_off(gate: Gate, token: Token) -> None:
    """Speech that ends with an error, which tells whether it was admitted."""
    with gate.speaking(token, "broken") as admitted:
        raise ZeroDivisionError(admitted)


# ── places for speech ───────────────────────────────────────────────────────────────────────────────────────────────
def test_places_are_shared_and_free_again_at_the_end_of_the_block(house: House) -> None:
    token = added(house, concurrent=2)
    with house.first.speaking(token, "a") as a, house.second.speaking(token, "b") as b:
        assert (a, b) == (True, True)
        with house.first.speaking(token, "c") as c:
            assert not c
        with pytest.raises(ZeroDivisionError, match="False"):
            break_off(house.second, token)
    with pytest.raises(ZeroDivisionError, match="True"):
        break_off(house.second, token)
    with house.first.speaking(token, "f") as f, house.first.speaking(token, "g") as g:
        assert (f, g) == (True, True)


def test_never_more_speak_at_one_time_than_may(house: House) -> None:
    token, lock, now, most = added(house, concurrent=3), threading.Lock(), 0, 0

    def speak(number: int) -> bool:
        nonlocal now, most
        with (house.first, house.second)[number % 2].speaking(token, f"r{number}") as admitted:
            if admitted:
                with lock:
                    now, most = now + 1, max(most, now + 1)
                time.sleep(0.002)
                with lock:
                    now -= 1
        return admitted

    with ThreadPoolExecutor(10) as pool:
        admitted = sum(pool.map(speak, range(100)))
    assert most == 3
    assert 3 <= admitted <= 100
    with ExitStack() as stack:
        assert [stack.enter_context(house.first.speaking(token, f"s{n}")) for n in range(4)] == [True] * 3 + [False]


def test_a_gate_that_redis_refuses_tells_it_as_the_broker_does() -> None:
    from jobs.errors import BrokerUnavailable

    nowhere = RedisGate(Calls(make_client("unix:///nowhere/s"), retry_for_s=0.0))
    token = token_with(requests_per_minute=1)[0]
    for ask in (nowhere.any, nowhere.tokens, lambda: nowhere.find("x"), lambda: nowhere.count_request(token)):
        with pytest.raises(BrokerUnavailable):
            ask()
