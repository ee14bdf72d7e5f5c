"""`/v1/jobs`: what may be sent, what comes of it, and the list."""

from __future__ import annotations

from typing import Any

import pytest

from cli.api.service import Limits
from jobs.access.gate import Scope
from jobs.spec import AudioFormat, JobRecord
from jobs.state import JobState
from tests.helpers_api import Door, api

BOOK = "# One\n\nHello there. It is late.\n\n# Two\n\nGood night.\n"


def sent(door: Door, status: int = 202, **fields: Any) -> dict[str, Any]:
    """Submit a text as JSON."""
    answer = door.client.post("/v1/jobs", json={"text": BOOK, "name": "book.md", "model": "fake", **fields})
    assert answer.status_code == status, answer.text
    return answer.json()


def uploaded(door: Door, status: int = 202, data: bytes = BOOK.encode(), **fields: Any) -> dict[str, Any]:
    """Submit a file as a form."""
    form = {"model": "fake", **fields}
    answer = door.client.post("/v1/jobs", files={"file": (form.pop("filename", "book.md"), data)}, data=form)
    assert answer.status_code == status, answer.text
    return answer.json()


def spec_of(door: Door, job: dict[str, Any]) -> Any:
    return door.truth.job(job["id"]).spec


def test_a_text_becomes_a_job_that_is_spoken():
    with api() as door:
        job = sent(door)
        assert (job["object"], job["title"], job["model"], job["voice"]) == ("job", "book", "fake", "tone")
        assert (job["source_kind"], job["formats"], job["counts"]["total"]) == ("md", ["m4b"], 5)
        assert door.wait(job["id"]).state is JobState.DONE
        shown = door.client.get(f"/v1/jobs/{job['id']}").json()
    assert (shown["state"], shown["progress"], shown["eta_s"]) == ("done", 1.0, None)
    assert shown["counts"] == {
        "total": 5,
        "done": 5,
        "failed": 0,
        "held": 0,
        "waiting": 0,
        "reused": 0,
        "marked": 0,
        "retakes": 0,
        "chapters": 2,
        "chapters_assembled": 2,
    }
    assert shown["failures"] == []
    assert shown["cost"]["device_s"] > 0
    assert [file["name"] for file in shown["files"]][:3] == ["book.m4b", "chapters/001-one.m4a", "chapters/002-two.m4a"]
    assert shown["spec"]["licences"] == {"tone": "Apache-2.0"}
    assert (shown["spec"]["source_name"], shown["spec"]["checks"]) == (
        "book.md",
        {"takes": 3, "on_bad": "mark", "asr": ""},
    )


def test_both_bodies_make_the_same_job_and_sending_it_again_goes_on_with_it():
    with api(idle=True) as door:
        first = sent(door, formats=["mp3", "flac"], takes=2, seed=7)
        again = uploaded(door, 200, formats="mp3,flac", takes="2", seed="7")
        several = uploaded(door, 200, formats=["mp3", "flac"], takes="2", seed="7")
        assert first["id"] == again["id"] == several["id"]
        door.client.post(f"/v1/jobs/{first['id']}/pause")
        assert sent(door, 200, formats="mp3,flac", takes=2, seed=7)["state"] == "queued"
        door.client.delete(f"/v1/jobs/{first['id']}")
        assert sent(door, 202, formats="mp3,flac", takes=2, seed=7)["id"] == first["id"]
        assert len(door.truth.jobs()) == 1


def test_every_option_is_obeyed():
    asked = {
        "voice": "tone",
        "language": "en-GB",
        "kind": "txt",
        "skip": "headings",
        "keep": ["notes"],
        "markup": True,
        "addresses": "spell",
        "seed": 9,
        "speed": 1.5,
        "formats": ["wav"],
        "priority": "bulk",
        "live": True,
        "takes": 4,
        "check": "asr:base.en",
        "on_bad": "keep",
        "profile": "podcast",
        "loudness": "book",
        "room_tone": True,
        "subtitles": ["srt", "vtt"],
        "exports": "ljspeech",
        "lexicon": "GIF\tjiff\n",
    }
    with api(idle=True) as door:
        job = sent(door, text="A GIF [pause: 2s] there.", **asked)
        spec = spec_of(door, job)
        assert (spec.language, spec.source_kind, spec.seed, spec.speed) == ("en-GB", "txt", 9, 1.5)
        assert (spec.formats, spec.priority, spec.live) == ((AudioFormat.WAV,), "bulk", True)
        assert spec.checks.model_dump() == {"takes": 4, "on_bad": "keep", "asr": "base.en"}
        assert spec.mastering.model_dump() == {"profile": "podcast", "over": "book", "room_tone": True}
        assert (spec.subtitles, spec.exports) == (("srt", "vtt"), ("ljspeech",))
        shown = door.client.get(f"/v1/jobs/{job['id']}/segments").json()["data"]
        plan = door.store.get(f"jobs/{job['id']}/plan.jsonl").decode()
    assert len(shown) == 2
    assert "jiff" in plan


def test_a_lexicon_comes_as_an_upload_too():
    with api(idle=True) as door:
        files = {"file": ("a.txt", b"A GIF."), "lexicon": ("names.tsv", "GIF\tjiff\n".encode("utf-8-sig"))}
        answer = door.client.post("/v1/jobs", files=files, data={"model": "fake"})
        assert answer.status_code == 202, answer.text
        assert "jiff" in door.store.get(f"jobs/{answer.json()['id']}/plan.jsonl").decode()
        files["lexicon"] = ("names.tsv", b"GIF\t\xff\xfe\n")
        refused = door.client.post("/v1/jobs", files=files, data={"model": "fake"}).json()["error"]
    assert (refused["code"], refused["problems"][0]["code"]) == ("bad_lexicon", "bad_lexicon")


def test_names_only_tell_what_a_source_is():
    with api(idle=True) as door:
        job = uploaded(door, filename="..\\..\\etc/pass wd.md")
        assert spec_of(door, job).source_name == "pass wd.md"
        assert sent(door, name=None, text="Hello.")["title"] == "text"
        assert sent(door, name="a/b/Tale.of.one", text="Hello.")["source_kind"] == "txt"
        assert uploaded(door, name="other.txt", filename="x")["source_kind"] == "txt"


@pytest.mark.parametrize(
    ("fields", "status", "code", "param"),
    [
        ({"colour": "red"}, 400, "extra_forbidden", "colour"),
        ({"store_url": "file:///etc"}, 400, "extra_forbidden", "store_url"),
        ({"out": "/tmp/x"}, 400, "extra_forbidden", "out"),
        ({"takes": 21}, 400, "less_than_equal", "takes"),
        ({"takes": "3"}, 400, "int_type", "takes"),
        ({"seed": -1}, 400, "greater_than_equal", "seed"),
        ({"seed": 2**63}, 400, "less_than", "seed"),
        ({"speed": 0}, 400, "greater_than", "speed"),
        ({"speed": 90.0}, 400, "bad_speed", "speed"),
        ({"formats": ["ogg"]}, 400, "bad_option", "formats"),
        ({"formats": [1]}, 400, "string_type", "formats"),
        ({"kind": "pdf"}, 400, "bad_option", "kind"),
        ({"encoding": "klingon"}, 400, "bad_encoding", None),
        ({"cast": "ANNA"}, 400, "bad_option", "cast"),
        ({"cast": ["ANNA=tone", "anna=tone"]}, 400, "bad_option", "cast"),
        ({"voice": "nobody"}, 400, "voice_not_found", "voice"),
        ({"language": "de"}, 400, "bad_option", None),
        ({"model": "gone"}, 404, "model_not_found", "model"),
        ({"model": "./folder"}, 400, "path_not_allowed", "model"),
        ({"model": "/models/x"}, 400, "path_not_allowed", "model"),
        ({"voice": "/voices/a.onnx"}, 400, "path_not_allowed", "voice"),
        ({"voice": "a.onnx"}, 400, "path_not_allowed", "voice"),
        ({"check": "asr:/models/whisper"}, 400, "path_not_allowed", "check"),
        ({"check": "asr:some/model"}, 400, "path_not_allowed", "check"),
        ({"check": "asr:.."}, 400, "path_not_allowed", "check"),
        ({"check": "loud"}, 400, "bad_option", "check"),
        ({"lexicon": "one column\n"}, 400, "bad_lexicon", None),
        ({"text": ""}, 400, "string_too_short", "text"),
        ({"text": "***"}, 400, "no_text", None),
        ({"text": None}, 400, "no_source", "file"),
        ({"name": "."}, 400, "bad_name", "name"),
        ({"name": "a\nb.txt"}, 400, "bad_name", "name"),
        ({"text": 5}, 400, "string_type", "text"),
    ],
)
def test_what_cannot_become_a_job_is_refused(fields: dict[str, Any], status: int, code: str, param: str | None):
    with api(idle=True) as door:
        error = sent(door, status, **fields)["error"]
        assert error["message"]
        assert "--" not in error["message"]
        assert "tts-batch" not in error["message"]
        assert error["code"] == code
        assert error["param"] == param
        assert door.truth.jobs() == []


def test_every_problem_of_a_source_is_told():
    lines = b'{"id": "a", "text": "Hello."}\nnot json\n{"id": "b"}\n'
    with api(idle=True) as door:
        error = uploaded(door, 400, data=lines, filename="items.jsonl")["error"]
        assert [problem["line"] for problem in error["problems"]] == [2, 3]
        assert error["code"] == error["problems"][0]["code"] == "bad_json"
        assert error["message"].startswith("line 2: ")
        job = uploaded(door, data=lines, filename="items.jsonl", skip_bad_lines="true")
        assert job["counts"]["total"] == 1


def test_other_bodies_are_refused():
    with api(idle=True) as door:
        post = door.client.post
        plain = post("/v1/jobs", content=b"Hello.", headers={"Content-Type": "text/plain"})
        assert (plain.status_code, plain.json()["error"]["code"]) == (415, "unsupported_media_type")
        assert post("/v1/jobs", content=b"Hello.").status_code == 415
        broken = post("/v1/jobs", content=b"{", headers={"Content-Type": "application/json"})
        assert (broken.status_code, broken.json()["error"]["code"]) == (400, "json_invalid")
        listed = post("/v1/jobs", json=[1])
        assert listed.status_code == 400
        half = post("/v1/jobs", content=b'{"text": "\\ud800"}', headers={"Content-Type": "application/json"})
        assert half.status_code == 400
        nothing = post("/v1/jobs", files={}, data={"model": "fake"}, headers={"Content-Type": "multipart/form-data"})
        assert nothing.status_code == 400
        two = post("/v1/jobs", files={"file": ("a.txt", b"Hi.")}, data={"model": "fake", "text": "Hi."})
        assert two.json()["error"]["code"] == "two_sources"
        files = [("file", ("a.txt", b"Hi.")), ("file", ("b.txt", b"Ho."))]
        assert post("/v1/jobs", files=files, data={"model": "fake"}).json()["error"]["code"] == "bad_file"
        cover = post("/v1/jobs", files={"file": ("a.txt", b"Hi."), "voice": ("v", b"x")}, data={"model": "fake"})
        assert cover.json()["error"]["code"] == "unexpected_file"
        assert door.truth.jobs() == []


def test_nobody_is_there_to_speak():
    with api(works=False) as door:
        answer = door.client.post("/v1/jobs", json={"text": "Hello.", "model": "fake"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "no_worker")
    assert int(answer.headers["Retry-After"]) > 0


def test_a_full_queue_takes_nothing_new_but_knows_what_it_has():
    with api(idle=True, limits=Limits(waiting_segments=3)) as door:
        first = sent(door)
        answer = door.client.post("/v1/jobs", json={"text": "More.", "model": "fake"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "queue_full")
        assert int(answer.headers["Retry-After"]) > 0
        assert sent(door, 200)["id"] == first["id"]
        assert len(door.truth.jobs()) == 1


def test_an_upload_over_the_limit_is_refused():
    with api(idle=True, limits=Limits(upload_bytes=5000)) as door:
        assert uploaded(door, 413, data=b"a" * 20_000)["error"]["code"]
        uploaded(door, 202, data=b"Hello there. " * 100)


def test_aliases_name_models_and_voices():
    with api(idle=True, aliases={"tts-1": "fake", "alloy": "tone"}) as door:
        job = sent(door, model="tts-1", voice="alloy")
    assert (job["model"], job["voice"]) == ("fake", "tone")


def test_scopes_decide():
    with api(idle=True, token=(Scope.READ,)) as door:
        assert door.client.get("/v1/jobs").status_code == 200
        for method, path in (("POST", "/v1/jobs"), ("POST", "/v1/plans"), ("DELETE", "/v1/jobs/x")):
            refused = door.client.request(method, path, json={"text": "Hi."} if method == "POST" else None)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "missing_scope")
        for move in ("pause", "resume", "purge"):
            assert door.client.post(f"/v1/jobs/x/{move}").status_code == 403
        assert door.client.get("/v1/jobs", headers={"Authorization": "Bearer no"}).status_code == 401


def test_characters_are_counted_once_for_each_job():
    with api(idle=True) as door:
        headers = {"Authorization": f"Bearer {door.token(Scope.JOBS, chars_per_day=20)}"}
        body = {"text": "Hello there, you.", "model": "fake"}
        assert door.client.post("/v1/jobs", json=body, headers=headers).status_code == 202
        assert door.client.post("/v1/jobs", json=body, headers=headers).status_code == 200
        more = door.client.post("/v1/jobs", json=body | {"text": "Another one."}, headers=headers)
        assert (more.status_code, more.json()["error"]["code"]) == (429, "chars_per_day")
        assert len(door.truth.jobs()) == 1


def records(door: Door, count: int) -> list[JobRecord]:
    for number in range(count):
        sent(door, text=f"Text {number}.", name=f"t{number}.txt")
    return list(reversed(door.truth.jobs()))


def test_the_list_is_newest_first_and_in_pages():
    with api(idle=True) as door:
        newest = [record.job for record in records(door, 7)]
        seen, after, pages = [], None, 0
        while True:
            page = door.client.get("/v1/jobs", params={"limit": 3, **({"after": after} if after else {})}).json()
            seen += [job["id"] for job in page["data"]]
            pages += 1
            if not page["has_more"]:
                break
            after = seen[-1]
        assert (seen, pages) == (newest, 3)
        for job in newest[1:3]:
            door.client.delete(f"/v1/jobs/{job}")
        some = door.client.get("/v1/jobs", params={"state": "cancelled"}).json()
        assert ([job["id"] for job in some["data"]], some["has_more"]) == (newest[1:3], False)
        one = door.client.get("/v1/jobs", params={"state": ["cancelled", "done"], "limit": 1}).json()
        assert ([job["id"] for job in one["data"]], one["has_more"]) == (newest[1:2], True)


@pytest.mark.parametrize(
    ("query", "status"), [("limit=0", 400), ("limit=101", 400), ("state=busy", 400), ("after=gone", 404)]
)
def test_pages_that_there_are_not(query: str, status: int):
    with api(idle=True) as door:
        assert door.client.get(f"/v1/jobs?{query}").status_code == status
