"""Batches from their file to their output: what is spoken, what is refused, and how they end."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest

from jobs import keys
from jobs.batches.batches import Order
from jobs.batches.outcomes import counts_now
from jobs.batches.records import AudioIn, Counts, Purpose, Status
from jobs.errors import BadOption, IllegalMove, UnknownBatch, UnknownFile
from jobs.kinds import Grade
from jobs.live_formats import LiveFormat
from jobs.spec import Priority
from jobs.state import SegmentState
from tests.jobs.batches.office import NOW_S, RATE_HZ, SAMPLES_PER_CHAR, SLACK_S, Office, decoded_s, request
from tests.workers.making import Tap

LONG = "This sentence is one of several. " * 30


def test_every_format_is_spoken_in_the_order_of_the_input(office: Office) -> None:
    formats = [live_format.value for live_format in LiveFormat]
    asked = [
        request(f"line {n}", f"Line {'abcdefghijkl'[n]} is here.", response_format=formats[n % 6]) for n in range(12)
    ]
    batch = office.begin(*asked)
    assert office.now(batch).status is Status.IN_PROGRESS
    assert office.now(batch).counts == Counts(total=12)
    office.work()
    assert office.now(batch).status is Status.FINALIZING
    office.clerk.round()
    now = office.now(batch)
    assert (now.status, now.counts) == (Status.COMPLETED, Counts(total=12, completed=12))
    assert now.end is not None
    assert now.end.error_file_id is None
    outputs = office.outputs(batch)
    assert [line["custom_id"] for line in outputs] == [line["custom_id"] for line in asked]
    assert len({line["id"] for line in outputs}) == 12
    for line, sent in zip(outputs, asked, strict=True):
        body = line["response"]["body"]
        assert (line["error"], line["response"]["status_code"], body["object"]) == (None, 200, "audio.speech")
        assert (body["format"], body["grade"], body["takes"]) == (sent["body"]["response_format"], "good", 1)
        where, custom_id = unquote(body["audio_url"]).rsplit("/", 1)
        assert (where, custom_id) == (f"/v1/batches/{batch}/audio", line["custom_id"])
        data = office.store.get(office.batches.audio(batch, custom_id).key)
        assert (len(data), hashlib.sha256(data).hexdigest()) == (body["bytes"], body["sha256"])
        assert body["seconds"] == len(sent["body"]["input"]) * SAMPLES_PER_CHAR / RATE_HZ
        longer_s = decoded_s(body["format"], data) - body["seconds"]
        assert -1e-6 <= longer_s <= SLACK_S[body["format"]] + 1e-6


def test_lines_that_are_alike_share_a_job_of_class_bulk(office: Office) -> None:
    batch = office.begin(
        request("a"),
        request("b", seed=7, voice="tone-low"),
        request("c", speed=1.5),
        request("d", response_format="mp3"),
        request("e", response_format="aac"),
        request("f", response_format="pcm"),
        request("g", model="tts-1", voice={"id": "alloy"}),
    )
    records = [office.truth.job(job) for job in office.jobs(batch)]
    assert {record.spec.priority for record in records} == {Priority.BULK}
    assert all(record.spec.source_name.startswith(batch) for record in records)
    shape = sorted((record.spec.speed, record.spec.formats[0].value, record.total) for record in records)
    assert shape == [(1.0, "flac", 1), (1.0, "flac", 1), (1.0, "mp3", 1), (1.0, "wav", 3), (1.5, "wav", 1)]
    (wav,) = [record for record in records if record.total == 3]
    assert set(wav.spec.item_voices) == {"tone", "tone-low"}
    seeds = {task.voice: task.base_seed for task in office.lease() if task.job == wav.job}
    assert seeds == {"tone": 0, "tone-low": 0} | {"tone-low": seeds["tone-low"]}


def test_two_batches_of_one_file_have_jobs_of_their_own(office: Office) -> None:
    file = office.upload(request("a"))
    first, second = (office.batches.create(Order(file.id)).id for _ in range(2))
    office.clerk.round()
    assert not set(office.jobs(first)) & set(office.jobs(second))
    office.batches.cancel(first)
    office.work()
    office.clerk.round()
    assert (office.now(first).status, office.now(second).status) == (Status.CANCELLED, Status.COMPLETED)


def test_bad_bodies_go_to_the_error_file_and_the_others_are_spoken(office: Office) -> None:
    batch = office.begin(
        request("good one"),
        request("voice", voice="nobody"),
        request("model", model="nothing"),
        request("empty", ""),
        request("dots", "... — !"),
        request("long", "a" * 100_001),
        request("fast", speed=5),
        request("format", response_format="midi"),
        request("field", colour="red"),
        request("sse", stream_format="sse"),
        request("instructions", instructions="whisper"),
        request("language", language="de"),
        request("script", "Это русский текст."),
        request("seed", seed=-1),
        request("good two"),
    )
    office.work()
    office.clerk.round()
    assert office.now(batch).counts == Counts(total=15, completed=2, failed=13)
    assert [line["custom_id"] for line in office.outputs(batch)] == ["good one", "good two"]
    assert office.errors(batch) == {
        "voice": "voice_not_found",
        "model": "model_not_found",
        "empty": "string_too_short",
        "dots": "empty_text",
        "long": "string_above_max_length",
        "fast": "less_than_equal",
        "format": "enum",
        "field": "extra_forbidden",
        "sse": "unsupported_parameter",
        "instructions": "not_supported",
        "language": "not_supported",
        "script": "not_supported",
        "seed": "greater_than_equal",
    }
    end = office.now(batch).end
    assert end is not None
    statuses = {line["custom_id"]: line["response"]["status_code"] for line in office.lines(end.error_file_id)}
    assert statuses.pop("model") == 404
    assert set(statuses.values()) == {400}


def test_a_batch_without_a_good_line_is_completed_with_an_error_file(office: Office) -> None:
    batch = office.begin(request("a", voice="nobody"), request("b", ""), rounds=2)
    now = office.now(batch)
    assert (now.status, now.counts) == (Status.COMPLETED, Counts(total=2, failed=2))
    assert now.end is not None
    assert (now.end.output_file_id, list(office.errors(batch))) == (None, ["a", "b"])
    assert office.truth.jobs() == []
    assert list(office.store.list(keys.FILES)) == sorted(
        key
        for file in (now.record.input_file_id, now.end.error_file_id or "")
        for key in (keys.file_content(file), keys.file_record(file))
    )


def test_a_file_with_a_line_that_is_no_request_is_refused_whole(office: Office) -> None:
    batch = office.begin(request("a"), b"not JSON", request("a"))
    now = office.now(batch)
    assert now.status is Status.FAILED
    assert now.end is not None
    assert [(error.code, error.line, error.param) for error in now.end.errors] == [
        ("invalid_json_line", 2, None),
        ("duplicate_custom_id", 3, "custom_id"),
    ]
    assert (office.truth.jobs(), now.end.output_file_id, now.end.error_file_id) == ([], None, None)


def test_a_batch_waits_until_somebody_offers_a_model(office: Office) -> None:
    offers, office.offers = office.offers, []
    batch = office.begin(request("a"), rounds=3)
    assert office.now(batch).status is Status.VALIDATING
    office.offers = offers
    office.clerk.round()
    assert office.now(batch).status is Status.IN_PROGRESS


def test_a_deleted_input_file_fails_the_batch_that_did_not_read_it(office: Office) -> None:
    batch = office.begin(request("a"), rounds=0)
    office.desk.files.delete(office.now(batch).record.input_file_id)
    office.clerk.round()
    end = office.now(batch).end
    assert end is not None
    assert (end.status, [error.code for error in end.errors]) == (Status.FAILED, ["input_file_missing"])


def test_the_input_file_may_be_deleted_once_it_is_read(office: Office) -> None:
    batch = office.begin(request("a"))
    office.desk.files.delete(office.now(batch).record.input_file_id)
    office.work()
    office.clerk.round()
    assert office.now(batch).counts == Counts(total=1, completed=1)


def test_audio_inline_is_the_audio(office: Office) -> None:
    batch = office.begin(request("a"), request("b", response_format="aac"), audio=AudioIn.INLINE)
    office.work()
    office.clerk.round()
    for line in office.outputs(batch):
        body = line["response"]["body"]
        data = base64.b64decode(body["audio"], validate=True)
        assert hashlib.sha256(data).hexdigest() == body["sha256"]
        assert data == office.store.get(office.batches.audio(batch, line["custom_id"]).key)


def test_a_line_that_cannot_be_spoken_fails_alone(office: Office) -> None:
    batch = office.begin(request("a"), request("b", "This one is bad."), request("c", LONG))
    tasks = office.lease()
    assert len(tasks) > 4
    for task in tasks:
        if task.spoken == "This one is bad." or task.segment == 3:
            office.finish(task, SegmentState.FAILED, reason=f"segment {task.segment} gave nothing")
        else:
            office.speak_one(task)
    assert office.now(batch).counts == Counts(total=3, completed=1, failed=2)
    office.work()
    office.clerk.round()
    assert office.now(batch).counts == Counts(total=3, completed=1, failed=2)
    assert office.errors(batch) == {"b": "speech_failed", "c": "speech_failed"}
    end = office.now(batch).end
    assert end is not None
    told = [line["error"]["message"] for line in office.lines(end.error_file_id)]
    assert told == ["segment 1 gave nothing", "segment 3 gave nothing"]


def test_only_jobs_at_work_are_read_to_count_lines(office: Office) -> None:
    """Whoever waits for 50,000 lines asks every two seconds."""
    batch = office.begin(request("a", LONG), request("b"), request("c", LONG, speed=1.2))
    submitted, read = office.now(batch).submitted, []
    assert submitted is not None

    def counts() -> Counts:
        read.clear()
        truth: Any = Tap(office.truth, lambda name, asked: read.append(asked) if name == "results" else None)
        return counts_now(replace(office.desk, truth=truth), batch, submitted)

    assert (counts(), read) == (Counts(total=3), [])
    first, *rest = office.lease()
    office.speak_one(first)
    assert (counts(), read) == (Counts(total=3), [(first.job,)])
    for task in rest:
        if task.job == first.job:
            office.speak_one(task)
    wanted = submitted.jobs[0].items if submitted.jobs[0].job == first.job else submitted.jobs[1].items
    assert (counts(), read) == (Counts(total=3, completed=wanted), [])


def test_what_the_checks_say_of_a_line_is_told(office: Office) -> None:
    batch = office.begin(request("a"), request("b", LONG))
    tasks = office.lease()
    for task in tasks:
        bad = task.segment == 2
        office.speak_one(task, grade=Grade.BAD if bad else Grade.GOOD, takes=3 if bad else 1, settled=True)
    office.work()
    office.clerk.round()
    one, two = (line["response"]["body"] for line in office.outputs(batch))
    assert (one["grade"], one["takes"]) == ("good", 1)
    assert (two["grade"], two["takes"]) == ("bad", len(tasks) - 1 + 2)


def test_orders_that_cannot_be_taken(office: Office) -> None:
    file = office.upload(request("a"))
    with pytest.raises(UnknownFile, match="file-1"):
        office.batches.create(Order("file-1"))
    for window in ("0h", "24", "1w", "31d", "721h", "24h "):
        with pytest.raises(BadOption, match="completion_window"):
            office.batches.create(Order(file.id, window=window))
    output = office.desk.files.add(file.model_copy(update={"purpose": Purpose.BATCH_OUTPUT}))
    with pytest.raises(BadOption, match="purpose"):
        office.batches.create(Order(output.id))
    assert list(office.store.list(keys.BATCHES)) == list(office.store.list(keys.OPEN_BATCHES)) == []


def test_pages_are_newest_first(office: Office) -> None:
    batches = []
    for _ in range(5):
        batches.append(office.begin(request("a"), rounds=0))
        office.now_s += 1
    page, more = office.batches.page(after=None, limit=2)
    assert ([batch.record.id for batch in page], more) == (batches[:2:-1], True)
    page, more = office.batches.page(after=batches[3], limit=3)
    assert ([batch.record.id for batch in page], more) == (batches[2::-1], False)
    with pytest.raises(UnknownBatch):
        office.batches.page(after="batch_0", limit=1)


def test_audio_of_a_line_is_there_as_soon_as_its_job_wrote_it(office: Office) -> None:
    batch = office.begin(request("a"), request("b", response_format="aac"), request("c", voice="nobody"))
    for custom_id in ("a", "b", "c", "d"):
        with pytest.raises(UnknownBatch, match=repr(custom_id)):
            office.batches.audio(batch, custom_id)
    office.work()
    assert office.batches.audio(batch, "a").audio_format is LiveFormat.WAV
    with pytest.raises(UnknownBatch):
        office.batches.audio(batch, "b")
    office.clerk.round()
    assert office.batches.audio(batch, "b").audio_format is LiveFormat.AAC


def test_a_batch_that_has_ended_is_not_looked_at_again(office: Office) -> None:
    batch = office.begin(request("a"))
    office.work()
    office.clerk.round()
    end = office.now(batch).end
    assert list(office.store.list(keys.OPEN_BATCHES)) == []
    office.now_s += 100
    office.clerk.advance(batch)
    assert office.now(batch).end == end
    with pytest.raises(IllegalMove, match="completed"):
        office.batches.cancel(batch)


def test_the_sign_of_a_batch_that_was_never_written_goes_after_an_hour(office: Office) -> None:
    batch = office.begin(request("a"), rounds=0)
    office.store.delete(keys.batch_object(batch, "batch.json"))
    office.store.put(keys.open_batch("no batch"), b"")
    office.clerk.round()
    assert list(office.store.list(keys.OPEN_BATCHES)) == [keys.open_batch(batch)]
    office.now_s += 3700
    office.clerk.round()
    assert list(office.store.list(keys.OPEN_BATCHES)) == []


def test_a_damaged_batch_holds_up_no_other(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    broken = office.begin(request("a"), rounds=0)
    office.store.put(keys.batch_object(broken, "offers.json"), b"{")
    whole = office.begin(request("a"), rounds=3)
    assert office.now(whole).status is Status.IN_PROGRESS
    assert len([record for record in caplog.records if broken in record.message]) == 1


def test_expired_files_are_cleared_away_by_the_clerk(office: Office) -> None:
    batch = office.begin(request("a", response_format="aac"), output_kept_s=3600)
    office.work()
    office.clerk.round()
    end = office.now(batch).end
    assert end is not None
    assert office.store.exists(keys.batch_audio(batch, 1, "aac"))
    office.now_s = NOW_S + 3601
    office.clerk.round()
    assert not office.store.exists(keys.file_content(end.output_file_id or ""))
    assert list(office.store.list(keys.batch_audios(batch))) == []
    with pytest.raises(UnknownFile):
        office.desk.files.get(end.output_file_id or "")
