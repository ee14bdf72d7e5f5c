"""`/v1/models`: what living workers speak, in OpenAI's form."""

from __future__ import annotations

import time

import pytest
from openai.types import Model

from jobs.access.gate import Scope
from tests.helpers_api import Door, api, auth
from workers.catalog import find_offer


@pytest.fixture(scope="module")
def door():
    with api(idle=True, aliases={"tts-1": "fake", "alloy": "tone-low", "tts-2": "absent"}) as made:
        yield made


def test_the_list_is_openais_and_has_ours_beside(door: Door):
    listed = door.client.get("/v1/models").json()
    assert listed["object"] == "list"
    fake, alias = listed["data"]
    offer = find_offer("fake", voice=None, precision="auto")
    assert Model.model_validate(fake).id == "fake"
    assert fake["owned_by"] == "tts-batch"
    assert abs(fake["created"] - time.time()) < 600
    assert fake["voices"] == len(offer.voices)
    assert fake["sample_rate_hz"] == offer.sample_rate_hz
    assert fake["licences"] == list(dict.fromkeys(voice.licence for voice in offer.voices))
    assert (fake["clones"], fake["alias_of"]) == (False, None)
    assert (alias["id"], alias["alias_of"]) == ("tts-1", "fake")
    assert {**alias, "id": "fake", "alias_of": None} == fake


def test_the_model_of_jobs_that_name_none_is_marked():
    with api(idle=True, aliases={"piper": "fake"}) as door:  # so that there is one of the settings' name
        marked = {model["id"]: model["default"] for model in door.client.get("/v1/models").json()["data"]}
        assert marked == {"fake": False, door.settings.model: True}


def test_one_model_by_its_name_or_alias(door: Door):
    listed = door.client.get("/v1/models").json()["data"]
    assert [door.client.get(f"/v1/models/{one['id']}").json() for one in listed] == listed


@pytest.mark.parametrize("name", ["absent", "tts-2", "alloy", "../etc/passwd", "/tmp/x", "a/b", "%00"])
def test_an_unknown_model_is_told_with_those_there_are(door: Door, name):
    answer = door.client.get(f"/v1/models/{name}")
    assert answer.status_code in {400, 404}
    if answer.status_code == 404 and "/../" not in str(answer.url):
        assert answer.json()["error"]["type"] == "not_found_error"


def test_the_error_names_the_models(door: Door):
    error = door.client.get("/v1/models/gpt").json()["error"]
    assert (error["code"], error["param"]) == ("model_not_found", "model")
    assert "fake" in error["message"]


def test_a_folder_is_shown_by_the_name_its_worker_published():
    with api(idle=True) as door:
        (status,) = door.truth.workers()
        offer = status.info.offers[0].model_copy(update={"name": "/weights/mine"})
        door.truth.register(status.info.model_copy(update={"worker": "idle-2", "offers": (offer,)}))
        assert [one["id"] for one in door.client.get("/v1/models").json()["data"]] == ["/weights/mine", "fake"]
        assert door.client.get("/v1/models//weights/mine").json()["id"] == "/weights/mine"
        assert door.client.get("/v1/models/weights/mine").status_code == 404


def test_without_a_worker_the_list_is_empty():
    with api(works=False) as door:
        assert door.client.get("/v1/models").json() == {"object": "list", "data": []}
        assert "no worker" in door.client.get("/v1/models/fake").json()["error"]["message"]


def test_reading_needs_its_scope():
    with api(idle=True, token=(Scope.READ,)) as door:
        assert door.client.get("/v1/models").status_code == 200
        speaker = auth(door.token(Scope.SPEAK))
        assert door.client.get("/v1/models", headers=speaker).status_code == 403
