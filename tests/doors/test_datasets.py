"""Datasets from outside: `submit --export` and `tts-batch export`, read back with nothing of ours."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tarfile
import wave
from pathlib import Path

import pytest
import soundfile

from tests.helpers_cli import Home

pytestmark = pytest.mark.services

TEXTS = {f"n{n}": f"Number {n} is 'here', \"quoted\" | piped, and said." for n in range(12)}
LAYOUTS = ("ljspeech", "audiofolder", "webdataset", "nemo", "lhotse", "kaldi")


def items(texts: dict[str, str]) -> str:
    return "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items())


def submit(home: Home, name: str, texts: dict[str, str], *options: str, code: int = 0) -> dict:
    (home.work / name).write_text(items(texts))
    (job,) = home.json("submit", name, "--model", "fake", *options, code=code)["jobs"]
    return job


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_job_delivers_the_datasets_it_was_submitted_with(home: Home) -> None:
    job = submit(home, "small.jsonl", TEXTS, "--export", ",".join(LAYOUTS))
    out = home.work / "small"
    rows = lines(out / "manifest.jsonl")
    assert [row["item"] for row in rows] == list(TEXTS)
    assert [row["text"] for row in rows] == list(TEXTS.values())
    assert sorted(path.name for path in (out / "datasets").iterdir()) == sorted(LAYOUTS)
    for layout in LAYOUTS:
        info = json.loads((out / "datasets" / layout / "dataset.json").read_text())
        assert (info["layout"], info["utterances"], info["statement"]) == (layout, len(TEXTS), "synthetic speech")
        for name, told in info["files"].items():
            data = (out / "datasets" / layout / name).read_bytes()
            assert (len(data), hashlib.sha256(data).hexdigest()) == (told["bytes"], told["sha256"])
    (shard,) = (out / "datasets" / "webdataset").glob("*.tar")
    with tarfile.open(shard) as tar:
        assert len(tar.getnames()) == 3 * len(TEXTS)
    report = json.loads((out / "report.json").read_text())
    named = [name for name in report["objects"] if "/datasets/" in name]
    assert [name.split("/")[-2:] for name in named] == [[layout, "dataset.json"] for layout in sorted(LAYOUTS)]
    take = home.data / "store" / "takes" / rows[0]["takes"][0]["take"][:2] / f"{rows[0]['takes'][0]['take']}.flac"
    assert (out / "datasets" / "nemo" / "audio" / f"{rows[0]['id']}.flac").read_bytes() == take.read_bytes()
    assert job["state"] == "done"


def test_jobs_are_exported_into_one_folder_one_after_the_other(home: Home) -> None:
    with home.up():
        first = submit(home, "one.jsonl", TEXTS)["job"]
        second = submit(home, "two.jsonl", {"z": "Something else is said here."})["job"]
        done = home.run("export", first, "--layout", "ljspeech", "--out", "lj")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"{home.work}/lj: dataset lj (ljspeech): 12 utterances, 0.0")
        assert f"{first}: 12 utterances written" in done.stderr
        before = tree(home.work / "lj")
        summary = home.json("export", first, second, "--layout", "ljspeech", "--out", "lj")
        assert summary["jobs"] == [
            {"job": first, "written": 0, "known": 12, "left_out": {}},
            {"job": second, "written": 1, "known": 0, "left_out": {}},
        ]
        assert (summary["utterances"], summary["layout"], summary["name"]) == (13, "ljspeech", "lj")
        after = tree(home.work / "lj")
        wavs = [name for name in before if name.endswith(".wav")]
        assert len(wavs) == 12
        assert {name: after[name] for name in wavs} == {name: before[name] for name in wavs}
        home.json("export", first, second, "--layout", "ljspeech", "--out", "both/lj")
        assert tree(home.work / "both" / "lj") == after

        with (home.work / "lj" / "metadata.csv").open(newline="", encoding="utf-8") as file:
            table = list(csv.reader(file, delimiter="|", quoting=csv.QUOTE_NONE))
        assert [line[0].split("-")[-1] for line in table] == [*TEXTS, "z"]
        assert all(len(line) == 3 for line in table)
        for line in table:
            with wave.open(str(home.work / "lj" / "wavs" / f"{line[0]}.wav")) as audio:
                assert audio.getnframes() > 1000

        errors = [
            (("nobody-12345678", "--layout", "nemo", "--out", "x"), "unknown_job"),
            ((first, "--layout", "tfrecord", "--out", "x"), "bad_option"),
            ((first, "--layout", "nemo", "--out", "lj"), "bad_output"),
            ((first, "--layout", "nemo", "--out", "."), "bad_output"),
            ((first, "--layout", "nemo", "--out", "x", "--rate", "8000"), "bad_option"),
            ((first, "--layout", "nemo", "--out", "x", "--min-s", "3", "--max-s", "2"), "bad_option"),
        ]
        for words, code in errors:
            assert home.json("export", *words, code=2)["error"]["code"] == code
        assert tree(home.work / "lj") == after


def test_what_failed_is_left_out_and_named(home: Home) -> None:
    texts = {"a": "This is fine.", "b": "This one [[fault:error]] fails.", "c": "Fine again."}
    with home.up():
        job = submit(home, "some.jsonl", texts, "--export", "audiofolder", code=1)
        done = home.run("export", job["job"], "--layout", "webdataset", "--out", "set")
        assert done.returncode == 0, done.stderr
        assert "left out: 1 failed (each with its reason in" in done.stderr
        (out,) = lines(home.work / "set" / "entries" / job["job"] / "left-out.jsonl")
        assert (out["item"], out["why"]) == ("b", "failed")
        assert out["reason"]
        with tarfile.open(home.work / "set" / "set-000000.tar") as tar:
            flacs = [member for member in tar if member.name.endswith(".flac")]
            for member in flacs:
                pcm, rate_hz = soundfile.read(io.BytesIO(tar.extractfile(member).read()), dtype="int16")
                assert pcm.size > 0.2 * rate_hz
        assert len(flacs) == 2
        own = home.work / "some" / "datasets" / "audiofolder"
        assert {line["item"] for line in lines(own / "train" / "metadata.jsonl")} == {"a", "c"}
        assert json.loads((own / "dataset.json").read_text())["sources"][0]["left_out"] == {"failed": 1}


def test_many_items_are_made_chapter_by_chapter(home: Home) -> None:
    texts = {f"i{n}": f"Item {chr(97 + n % 26)} of {chr(97 + n // 26)}." for n in range(205)}
    job = submit(home, "many.jsonl", texts, "--format", "flac", "--on-bad", "keep")
    assert (job["state"], job["segments"]) == ("done", 205)
    assert len(list((home.work / "many" / "items").iterdir())) == 205
    rows = lines(home.work / "many" / "manifest.jsonl")
    assert [row["item"] for row in rows] == list(texts)
    assert {row["chapter_title"] for row in rows} == {"items 1–200", "items 201–205"}
