"""`/v1/audio/voices`: the models' own, and reference clips with consent."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
import soundfile

from jobs.access.gate import Scope
from jobs.clips import MAX_BYTES
from tests.helpers_api import Door, api, auth
from tests.helpers_clips import sound_file, voice
from workers.catalog import find_offer

CLIP = sound_file(voice())
FORM = {"name": "Ann", "consent": "Ann Author agreed on 2026-05-01"}
ROUTE = "/v1/audio/voices"


@pytest.fixture
def door() -> Iterator[Door]:
    with api(idle=True, aliases={"tts-1": "fake", "alloy": "tone-low"}) as made:
        yield made


def post(door: Door, clip: bytes = CLIP, code: int = 201, **fields: str) -> dict:
    answer = door.client.post(ROUTE, data={**FORM, **fields}, files={"audio_sample": ("clip.wav", clip)})
    assert answer.status_code == code, answer.text
    return answer.json() if code == 201 else answer.json()["error"]


def test_the_models_own_voices_are_listed_with_their_licences(door: Door):
    offer = find_offer("fake", voice=None, precision="auto")
    listed = door.client.get(ROUTE).json()
    assert listed["object"] == "list"
    assert listed["voices"] == listed["data"]
    assert [one["id"] for one in listed["data"]] == [one.name for one in offer.voices]
    for one, known in zip(listed["data"], offer.voices, strict=True):
        assert (one["kind"], one["model"], one["licence"]) == ("built-in", "fake", known.licence)
        assert one["default"] == (known.name == offer.default_voice)
    assert door.client.get(ROUTE, params={"model": "tts-1"}).json() == listed
    assert door.client.get(ROUTE, params={"model": "x"}).json()["error"]["code"] == "model_not_found"


def test_the_voices_of_a_model_while_no_worker_is_up_are_asked_for_again():
    with api(works=False) as closed:
        answer = closed.client.get(ROUTE, params={"model": "fake"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "no_worker")
        assert int(answer.headers["retry-after"]) > 0
        assert closed.client.get(ROUTE).json()["data"] == []


def test_one_voice_by_its_name_or_alias(door: Door):
    known = {one["id"]: one for one in door.client.get(ROUTE).json()["data"]}
    assert door.client.get(f"{ROUTE}/tone-low").json() == known["tone-low"]
    assert door.client.get(f"{ROUTE}/alloy").json() == known["tone-low"]
    assert door.client.get(f"{ROUTE}/alloy", params={"model": "fake"}).json() == known["tone-low"]
    error = door.client.get(f"{ROUTE}/nobody")
    assert (error.status_code, error.json()["error"]["code"]) == (404, "voice_not_found")


def test_a_reference_is_added_heard_and_deleted(door: Door):
    made = post(door, ref_text="Hello there.")
    assert (made["kind"], made["name"], made["consent"]) == ("reference", "Ann", FORM["consent"])
    assert (made["audio_s"], made["sample_rate_hz"], made["ref_text"]) == (4.0, 24_000, "Hello there.")
    for name in (made["id"], "Ann", "ann"):
        assert door.client.get(f"{ROUTE}/{name}").json() == made
    assert made in door.client.get(ROUTE).json()["data"]
    clip = door.client.get(f"{ROUTE}/{made['id']}/clip")
    assert clip.headers["content-type"] == "audio/flac"
    assert made["bytes"] == len(clip.content)
    samples, rate_hz = soundfile.read(io.BytesIO(clip.content))
    assert samples.shape == (4 * rate_hz,)

    gone = door.client.delete(f"{ROUTE}/{made['id']}").json()
    assert gone == {"id": made["id"], "object": "audio.voice.deleted", "deleted": True}
    for method, path in (("GET", ""), ("GET", "/clip"), ("DELETE", "")):
        assert door.client.request(method, f"{ROUTE}/{made['id']}{path}").status_code == 404
    assert list(door.store.list("voices/")) == []


def test_a_reference_is_not_listed_for_a_model_that_does_not_clone(door: Door):
    made = post(door)
    assert made["id"] not in [one["id"] for one in door.client.get(ROUTE, params={"model": "fake"}).json()["data"]]


def test_the_same_again_is_the_same_voice(door: Door):
    assert post(door) == post(door)


@pytest.mark.parametrize(
    ("fields", "clip", "code", "error"),
    [
        ({"name": "tone-low"}, CLIP, 409, "voice_exists"),
        ({"name": "alloy"}, CLIP, 409, "voice_exists"),
        ({"name": "../x"}, CLIP, 400, "bad_option"),
        ({"name": "x" * 65}, CLIP, 400, "string_too_long"),
        ({"name": ""}, CLIP, 400, "missing"),
        ({"consent": ""}, CLIP, 400, "missing"),
        ({"consent": "   "}, CLIP, 400, "bad_option"),
        ({"consent": "x" * 2001}, CLIP, 400, "string_too_long"),
        ({"color": "red"}, CLIP, 400, "extra_forbidden"),
        ({"audio_sample": "/etc/passwd"}, None, 400, "value_error"),
        ({}, None, 400, "missing"),
        ({}, b"", 400, "clip_not_audio"),
        ({}, sound_file(voice(1.0)), 400, "clip_too_short"),
        ({}, bytes(MAX_BYTES + 1), 413, "clip_too_large"),
    ],
)
def test_what_is_refused_and_why(door: Door, fields, clip, code, error):
    files = {"audio_sample": ("clip.wav", clip)} if clip is not None else {"nothing": ("", b"")}
    if clip is None:
        answer = door.client.post(ROUTE, data={**FORM, **fields})
    else:
        answer = door.client.post(ROUTE, data={**FORM, **fields}, files=files)
    assert answer.status_code == code, answer.text
    assert answer.json()["error"]["code"] == error
    assert list(door.store.list("voices/")) == []


@pytest.mark.parametrize("route", ["/v1/audio/speech", "/v1/jobs", "/v1/plans"])
def test_no_model_of_today_speaks_like_a_reference(door: Door, route):
    made = post(door)
    for name in (made["id"], "Ann"):
        text = {"input": "Hello."} if "speech" in route else {"text": "Hello."}
        answer = door.client.post(route, json={"model": "fake", "voice": name, **text})
        assert answer.status_code == 400
        assert "model fake does not clone voices" in answer.json()["error"]["message"]


def test_a_taken_name_is_a_conflict(door: Door):
    post(door)
    assert post(door, sound_file(voice(5.0)), code=409)["code"] == "voice_exists"


def test_a_models_own_voice_cannot_be_deleted(door: Door):
    assert door.client.delete(f"{ROUTE}/tone-low").status_code == 404


def test_scopes():
    with api(idle=True, token=(Scope.VOICES, Scope.READ)) as door:
        made = post(door)
        for scope in (Scope.READ, Scope.JOBS, Scope.SPEAK):
            headers = auth(door.token(scope))
            assert door.client.post(ROUTE, data=FORM, headers=headers).status_code in {400, 403}
            assert door.client.delete(f"{ROUTE}/{made['id']}", headers=headers).status_code == 403
        assert door.client.get(ROUTE, headers=auth(door.token(Scope.SPEAK))).status_code == 403
        assert door.client.get(f"{ROUTE}/{made['id']}").status_code == 200
