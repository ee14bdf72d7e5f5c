"""The manifest: a row for every utterance, from the job alone; names that every tool takes."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import keys
from jobs.checks.hearing import Heard, write_heard
from jobs.datasets.layouts.base import json_line, one_line
from jobs.datasets.manifest import Utterance, joined_spoken, joined_text, read_manifest
from jobs.datasets.names import checked_name, job_names, name_from, speaker_name, utterance_id
from jobs.errors import BadOption, ObjectDamaged, ObjectMissing
from jobs.kinds import Grade
from jobs.plan import Break, SegmentPlan
from jobs.spec import Checks
from jobs.stores import MemoryStore
from jobs.verdict import Reason, Verdict
from tests.helpers_jobs import BOOK
from tests.jobs.datasets.making import RATE_HZ, TEXTS, Made, jsonl


def test_a_book_has_a_row_for_each_segment():
    source = Made().job(BOOK, "book.txt", failed=[2])
    rows = list(source.utterances())
    job = source.record.job
    assert [row.id for row in rows] == [f"{job}-{n:06d}" for n in range(1, len(rows) + 1)]
    assert [row.segments for row in rows] == [(n,) for n in range(len(rows))]
    assert [row.text for row in rows][:3] == ["CHAPTER I", "One is here.", "Two is here."]
    assert [row.chapter_title for row in rows] == ["Chapter I"] * 4 + ["Chapter II"] * 2
    failed = rows[2]
    assert (failed.state, failed.grade, failed.reason) == ("failed", "unusable", "no word came")
    assert (failed.samples, failed.duration_s, failed.takes) == (0, 0.0, ())
    good = rows[1]
    (take,) = good.takes
    assert (good.state, good.grade, good.reason, good.synthetic) == ("done", "good", "", True)
    assert (good.model, good.voice, good.voice_revision, good.numerics) == ("m", "ann", "r1", "n1")
    assert (good.speaker, good.language, good.speed) == ("m_ann", "en-US", 1.0)
    assert (good.samples, good.sample_rate_hz) == (take.samples, RATE_HZ)
    assert good.duration_s == round(take.samples / RATE_HZ, 6)
    assert good.seed == take.seed
    assert good.audio_sha256 == take.audio_sha256
    assert source.store.exists(f"takes/{take.take[:2]}/{take.take}.flac")


def test_an_item_has_its_own_id_voice_and_all_its_takes():
    text = "One sentence is here for a start. Another one follows it at once. And a third one ends it."
    lines = [{"id": "a/b c", "text": text, "voice": "bob"}, {"id": "x", "text": "Short.", "lang": "en-GB"}]
    source = Made().job("\n".join(map(json.dumps, lines)))
    first, second = source.utterances()
    job = source.record.job
    assert (first.id, second.id) == (f"{job}-000001-a-b-c", f"{job}-000003-x")
    assert (first.item, first.segments, first.voice, first.voice_revision) == ("a/b c", (0, 1), "bob", "r2")
    assert (first.text, first.spoken) == (text, text)
    starts = [take.start_sample for take in first.takes]
    assert starts == [0, first.takes[0].samples + round(0.35 * RATE_HZ)]
    assert first.samples == starts[1] + first.takes[1].samples
    assert first.audio_sha256 not in {take.audio_sha256 for take in first.takes}
    assert (second.segments, second.voice, second.language) == ((2,), "ann", "en-GB")


def test_an_item_with_one_failed_part_has_failed_and_one_bad_part_makes_it_bad():
    text = "One sentence is here for a start. Another one follows it at once. And a third one ends it."
    (row,) = Made().job(jsonl([("a", text)]), failed=[1]).utterances()
    assert (row.state, row.takes) == ("failed", ())
    (row,) = Made().job(jsonl([("a", text)]), bad=[1]).utterances()
    assert (row.state, row.grade, row.reason) == ("done", "bad", "it drags")
    assert [take.grade for take in row.takes] == ["good", "bad"]


def test_what_checks_and_a_recogniser_found_is_there():
    made = Made(MemoryStore("heard"))
    source = made.job(jsonl([("a", "Hello there.")]), checks=Checks(asr="tiny"))
    (take,) = next(iter(source.utterances())).takes
    slow = Reason(check="words", score=0.5, limit=0.2, text="it says something else")
    told = Heard(take=take.take, asr="tiny", language="en", transcript="Hello bear.", word_error_rate=0.5)
    write_heard(source.store, told.model_copy(update={"reasons": (slow,), "scores": {"word_error_rate": 0.5}}))
    info = source.store.get(keys.take_info(take.take))
    verdict = Verdict(grade=Grade.GOOD, scores={"tail_db": -3.0})
    changed = json.loads(info) | {"verdict": verdict.model_dump(mode="json")}
    source.store.put(keys.take_info(take.take), json.dumps(changed).encode())
    (row,) = made.rows(source.record)
    assert row.word_error_rate == 0.5
    assert row.takes[0].transcript == "Hello bear."
    assert row.takes[0].reasons == (slow,)
    assert row.takes[0].scores == {"tail_db": -3.0, "word_error_rate": 0.5}


def test_it_is_read_as_it_was_written_and_damage_is_told():
    made = Made()
    source = made.job()
    assert list(source.utterances()) == list(made.rows(source.record))
    assert [row.item for row in source.utterances()] == list(TEXTS)
    key = keys.manifest(source.record.job)
    lines = source.store.get(key).splitlines()
    for broken in (b"{}", b'{"v": 2}', lines[0].replace(b'"v":1', b'"v":9')):
        source.store.put(key, b"\n".join([lines[0], broken]))
        with pytest.raises(ObjectDamaged, match=r"manifest.jsonl"):
            list(read_manifest(source.store, source.record.job))
    source.store.delete(key)
    with pytest.raises(ObjectMissing):
        list(read_manifest(source.store, source.record.job))


def test_a_take_that_its_result_does_not_describe():
    made = Made()
    source = made.job(BOOK, "book.txt")
    results = made.results(source.record.job)
    made.results = lambda job: results | {0: results[0].model_copy(update={"samples": 5})}
    with pytest.raises(ObjectDamaged, match="its result says 5 at"):
        list(made.rows(source.record))
    made.results = lambda job: {}
    with pytest.raises(ValueError, match="segment 0 has no result"):
        list(made.rows(source.record))


# ── texts in pieces ─────────────────────────────────────────────────────────────────────────────────────────────────
def piece(text: str, start: int, end: int, after: Break = Break.SENTENCE) -> SegmentPlan:
    told = {"source_start": start, "source_end": end, "break_after": after, "language": "en"}
    return SegmentPlan(segment=0, chapter=0, text=text, spoken=text, **told)


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        (piece("One.", 0, 4), piece("Two.", 5, 9), "One. Two."),
        (piece("你好。", 0, 3), piece("再见。", 3, 6), "你好。再见。"),
        (piece("你好。", 0, 13), piece("再见。", 18, 26), "你好。再见。"),  # written with escapes
        (piece("안녕.", 0, 3), piece("잘 가.", 4, 8), "안녕. 잘 가."),
        (piece("unbe", 0, 4, Break.NONE), piece("lievable", 4, 12), "unbelievable"),
    ],
)
def test_pieces_are_joined_as_they_stood(first, second, whole):
    assert joined_text([first, second]) == whole
    assert joined_spoken([first, second]) == whole


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@given(st.text(min_size=1), st.integers(0, 10**7), st.none() | st.text(min_size=1))
def test_ids_are_safe_everywhere(job, segment, item):
    name = utterance_id(job, segment, item)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert len(f"{name}.flac".encode()) <= 100
    assert job_names(["other", job], "flac").fullmatch(f"{name}.flac")


@given(st.tuples(st.text(min_size=1), st.text(min_size=1)), st.tuples(st.text(min_size=1), st.text(min_size=1)))
def test_speakers_are_safe_and_differ_where_voices_do(one, other):
    names = [speaker_name(*one), speaker_name(*other)]
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)
    if [part.lower().replace("-", "_") for part in one] != [part.lower().replace("-", "_") for part in other]:
        assert names[0] != names[1]


def test_names_people_know_stay_as_they_are():
    assert speaker_name("piper", "joe") == "piper_joe"
    assert speaker_name("orpheus", "Leo") == "orpheus_leo"
    by_path = speaker_name("piper", "/voices/en_US-amy.onnx")
    assert re.fullmatch(r"piper_en_us_amy_[0-9a-f]{8}", by_path)
    assert by_path != speaker_name("piper", "/other/en_US-amy.onnx")
    assert utterance_id("ein-büchlein-1a2b3c4d", 0, None) == "ein-buchlein-1a2b3c4d-000001"
    assert utterance_id("漢字-1a2b3c4d", 9, "漢字") == "1a2b3c4d-000010"


def test_names_of_datasets():
    assert checked_name("My_set-2") == "My_set-2"
    for bad in ("", "a.b", "a/b", "-a", "a b", "x" * 61, "é"):
        with pytest.raises(BadOption, match="is not possible"):
            checked_name(bad)
    assert name_from("Ein Büchlein") == "ein-buchlein"
    assert checked_name(name_from("漢字")) == "dataset"


@given(st.text())
def test_a_line_of_json_is_one_line_for_every_reader(text):
    text = text.encode("utf-8", "replace").decode()
    line = json_line({"text": text})
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text}
    assert len((one_line(text) or "x").splitlines()) == 1


def test_rows_have_one_form():
    row = next(iter(Made().job().utterances()))
    assert Utterance.model_validate_json(row.model_dump_json()) == row
