"""Each layout is read back by the library it is for: every text, length and sample as the takes have them."""

from __future__ import annotations

import csv
import gc
import gzip
import io
import json
import os
import sys
import tarfile
import warnings
import wave
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import soundfile

from jobs.datasets.export import Source
from jobs.datasets.manifest import Utterance
from jobs.kinds import DatasetLayout
from jobs.stores import FolderStore
from tests.jobs.datasets.making import RATE_HZ, TEXTS, Made, lay_out, samples_of, tree


@pytest.fixture(scope="module")
def source() -> Source:
    return Made().job()


def rows_of(source: Source) -> list[Utterance]:
    return list(source.utterances())


def laid_out(source: Source, folder: Path, layout: DatasetLayout, **terms: object) -> dict[str, Utterance]:
    """The dataset in a folder; its utterances by id."""
    info, _ = lay_out(FolderStore(folder), source, layout=layout, **terms)
    rows = {row.id: row for row in rows_of(source)}
    assert info.utterances == len(rows) == len(TEXTS)
    return rows


def check_samples(source: Source, row: Utterance, pcm: np.ndarray, rate_hz: int) -> None:
    assert rate_hz == row.sample_rate_hz == RATE_HZ
    assert pcm.dtype == np.int16
    assert np.array_equal(pcm, samples_of(source, row))
    assert pcm.size == row.samples


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_the_texts_are_what_was_submitted(source):
    assert [row.item for row in rows_of(source)] == list(TEXTS)
    for row in rows_of(source):
        assert one_line(row.text) == one_line(TEXTS[row.item])


def test_ljspeech(source, tmp_path):
    rows = laid_out(source, tmp_path, DatasetLayout.LJSPEECH)
    data = (tmp_path / "metadata.csv").read_bytes()
    assert not data.startswith(b"\xef\xbb\xbf")
    assert len(data.decode().splitlines()) == len(rows)  # by every kind of line end that Python knows
    with (tmp_path / "metadata.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file, delimiter="|", quoting=csv.QUOTE_NONE))
    assert [line[0] for line in table] == list(rows)
    for name, text, normalized in table:
        row = rows[name]
        assert text == one_line(row.text.replace("|", " "))
        assert normalized == one_line(row.spoken.replace("|", " "))
        with wave.open(str(tmp_path / "wavs" / f"{name}.wav")) as file:
            assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
            pcm = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
            check_samples(source, row, pcm, file.getframerate())


@pytest.fixture
def datasets(monkeypatch: pytest.MonkeyPatch):
    """Hugging Face's library. It imports torchcodec before it notes a file's path; nothing of that is used here."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets as library

    encoders = ModuleType("torchcodec.encoders")
    encoders.AudioEncoder = None
    monkeypatch.setitem(sys.modules, "torchcodec", ModuleType("torchcodec"))
    monkeypatch.setitem(sys.modules, "torchcodec.encoders", encoders)
    return library


def test_audiofolder(source, tmp_path, datasets):
    rows = laid_out(source, tmp_path / "set", DatasetLayout.AUDIOFOLDER)
    for how in ({"path": "audiofolder", "data_dir": str(tmp_path / "set")}, {"path": str(tmp_path / "set")}):
        loaded = datasets.load_dataset(**how, cache_dir=str(tmp_path / "cache"))
        assert list(loaded) == ["train"]
        train = loaded["train"].cast_column("audio", datasets.Audio(decode=False))
        assert {line["id"] for line in train} == set(rows)
        for line in train:
            row = rows[line["id"]]
            assert (line["text"], line["normalized_text"], line["speaker"]) == (row.text, row.spoken, row.speaker)
            assert (line["item"], line["seed"], line["grade"]) == (row.item, row.seed, "good")
            assert line["synthetic"] is True
            assert line["duration_s"] == pytest.approx(row.samples / RATE_HZ, abs=1e-6)
            audio = line["audio"]
            data = audio["bytes"] or Path(audio["path"]).read_bytes()
            assert data == source.store.get(f"takes/{row.takes[0].take[:2]}/{row.takes[0].take}.flac")
            check_samples(source, row, *soundfile.read(io.BytesIO(data), dtype="int16"))


def test_webdataset(source, tmp_path):
    import webdataset

    rows = laid_out(source, tmp_path, DatasetLayout.WEBDATASET, shard_entries=4)
    shards = sorted(path.name for path in tmp_path.glob("*.tar"))
    assert shards == ["set-000000.tar", "set-000001.tar", "set-000002.tar"]
    url = str(tmp_path / "set-{000000..000002}.tar")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its files to the garbage collector
        found = list(webdataset.WebDataset(url, shardshuffle=False))
        gc.collect()
    assert [sample["__key__"] for sample in found] == list(rows)
    for sample in found:
        row = rows[sample["__key__"]]
        assert sample["txt"].decode() == row.text
        told = json.loads(sample["json"])
        assert (told["text"], told["normalized_text"], told["id"]) == (row.text, row.spoken, row.id)
        check_samples(source, row, *soundfile.read(io.BytesIO(sample["flac"]), dtype="int16"))
    for shard in shards:
        with tarfile.open(tmp_path / shard) as tar:
            members = tar.getmembers()
        assert [(m.mtime, m.uid, m.gid, m.uname, m.gname, m.mode) for m in members] == [(0, 0, 0, "", "", 0o644)] * len(
            members
        )
        names = [member.name for member in members]
        assert all(name.count(".") == 1 for name in names)
        assert names == sorted(names)


def test_webdataset_by_its_card(source, tmp_path, datasets):
    """Hugging Face's library finds the shards by the head of README.md."""
    rows = laid_out(source, tmp_path / "set", DatasetLayout.WEBDATASET, shard_entries=4)
    loaded = datasets.load_dataset(str(tmp_path / "set"), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["train"]
    train = loaded["train"].cast_column("flac", datasets.Audio(decode=False))
    assert [line["__key__"] for line in train] == list(rows)
    for line in train:
        row = rows[line["__key__"]]
        assert (line["txt"], line["json"]["normalized_text"]) == (row.text, row.spoken)
        check_samples(source, row, *soundfile.read(io.BytesIO(line["flac"]["bytes"]), dtype="int16"))


def test_nemo(source, tmp_path):
    """By NeMo's rules: JSON lines, no blank one; a relative path counts from the manifest's folder."""
    rows = laid_out(source, tmp_path, DatasetLayout.NEMO)
    speakers = json.loads((tmp_path / "speakers.json").read_text())
    lines = (tmp_path / "manifest.json").read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    assert all(lines)
    seen = [json.loads(line) for line in lines]
    assert [line["id"] for line in seen] == list(rows)
    for line in seen:
        row = rows[line["id"]]
        assert (line["text"], line["normalized_text"]) == (row.text, row.spoken)
        assert isinstance(line["speaker"], int)
        assert line["speaker"] == speakers[row.speaker]
        assert not os.path.isabs(line["audio_filepath"])  # noqa: PTH117
        pcm, rate_hz = soundfile.read(tmp_path / line["audio_filepath"], dtype="int16")
        check_samples(source, row, pcm, rate_hz)
        assert line["duration"] == pytest.approx(pcm.size / rate_hz, abs=1e-6)


def test_lhotse(source, tmp_path):
    import lhotse

    rows = laid_out(source, tmp_path, DatasetLayout.LHOTSE)
    recordings = lhotse.RecordingSet.from_file(tmp_path / "recordings.jsonl.gz").with_path_prefix(tmp_path)
    supervisions = lhotse.SupervisionSet.from_file(tmp_path / "supervisions.jsonl.gz")
    cuts = lhotse.CutSet.from_file(tmp_path / "cuts.jsonl.gz").with_recording_path_prefix(tmp_path)
    lhotse.validate(recordings, read_data=True)
    lhotse.validate(supervisions)
    lhotse.qa.validate_recordings_and_supervisions(recordings, supervisions, read_data=True)
    assert [cut.id for cut in cuts] == [one.id for one in supervisions] == list(recordings.ids) == list(rows)
    for cut in cuts:
        row = rows[cut.id]
        lhotse.validate(cut, read_data=True)
        (supervision,) = cut.supervisions
        assert (supervision.text, supervision.language, supervision.speaker) == (row.text, row.language, row.speaker)
        assert supervision.custom["normalized_text"] == row.spoken
        assert cut.num_samples == row.samples
        pcm = np.rint(cut.load_audio()[0] * 32768).astype(np.int16)
        check_samples(source, row, pcm, cut.sampling_rate)


def test_lhotse_with_a_prefix_needs_nothing_more(source, tmp_path):
    import lhotse

    laid_out(source, tmp_path, DatasetLayout.LHOTSE, path_prefix=f"{tmp_path}/")
    for cut in lhotse.CutSet.from_file(tmp_path / "cuts.jsonl.gz"):
        assert cut.load_audio().shape == (1, cut.num_samples)


def test_gzip_has_no_time_and_no_name(source, tmp_path):
    laid_out(source, tmp_path, DatasetLayout.LHOTSE)
    data = (tmp_path / "cuts.jsonl.gz").read_bytes()
    assert data[3:8] == bytes(5)  # no flags (so no name), no time
    assert gzip.decompress(data).count(b"\n") == len(TEXTS)


def test_kaldi_by_lhotse(source, tmp_path, monkeypatch):
    import lhotse

    rows = laid_out(source, tmp_path, DatasetLayout.KALDI)
    monkeypatch.chdir(tmp_path)  # paths are relative
    recordings, supervisions, _ = lhotse.kaldi.load_kaldi_data_dir(tmp_path, sampling_rate=RATE_HZ)
    assert len(recordings) == len(supervisions) == len(rows)
    by_id = {one.id: one for one in supervisions}
    for row in rows.values():
        name = f"{row.speaker}-{row.id}"
        supervision, recording = by_id[name], recordings[name]
        assert supervision.text == one_line(row.text)
        assert supervision.speaker == row.speaker
        assert recording.num_samples == row.samples
        assert recording.duration == pytest.approx(row.samples / RATE_HZ, abs=1e-6)
        pcm = np.rint(recording.load_audio()[0] * 32768).astype(np.int16)
        check_samples(source, row, pcm, recording.sampling_rate)


def test_kaldi_holds_its_own_rules(tmp_path):
    """Sorted by bytes, and by speaker as by utterance; no blank in a name; each file has every utterance."""
    made = Made()
    lines = [{"id": f"z{n}", "text": f"Sentence {n}.", "voice": voice} for n, voice in enumerate(("bob", "ann") * 4)]
    source = made.job("\n".join(map(json.dumps, lines)))
    lay_out(FolderStore(tmp_path), source, layout=DatasetLayout.KALDI)
    files = {path.name: path.read_bytes().splitlines() for path in tmp_path.iterdir() if path.is_file()}
    del files["dataset.json"]
    utterances = [line.split()[0] for line in files["wav.scp"]]
    assert set(files) == {
        "wav.scp",
        "text",
        "text_normalized",
        "utt2spk",
        "spk2utt",
        "utt2dur",
        "reco2dur",
        "utt2num_samples",
    }
    for name, content in files.items():
        assert content == sorted(content), name
        if name != "spk2utt":
            assert [line.split()[0] for line in content] == utterances
    pairs = [line.split() for line in files["utt2spk"]]
    assert pairs == sorted(pairs, key=lambda pair: (pair[1], pair[0]))
    assert all(utterance.startswith(speaker + b"-") for utterance, speaker in pairs)
    grouped = {line.split()[0]: line.split()[1:] for line in files["spk2utt"]}
    assert grouped == {
        speaker: [utterance for utterance, its in pairs if its == speaker] for speaker in (b"m_ann", b"m_bob")
    }


def test_what_is_delivered_does_not_depend_on_who_reads_it(source, tmp_path):
    """Two exports of one job are the same bytes, in every layout."""
    for layout in DatasetLayout:
        for copy in ("a", "b"):
            laid_out(source, tmp_path / layout / copy, layout)
        assert tree(tmp_path / layout / "a") == tree(tmp_path / layout / "b")
