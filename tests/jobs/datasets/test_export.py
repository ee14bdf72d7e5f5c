"""Exports: what is let in, appending, what is refused, going on after a stop at any write, disks that are full."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from jobs.datasets import writing
from jobs.datasets.audio import resampled
from jobs.datasets.entries import Ledger
from jobs.datasets.export import Export, Source
from jobs.datasets.info import source_info
from jobs.datasets.selecting import Selection
from jobs.datasets.writing import Place, Terms
from jobs.errors import BadOption, BadOutput, ObjectDamaged, StoreError
from jobs.kinds import DatasetLayout
from jobs.stores import FolderStore, MemoryStore
from tests.jobs.datasets.making import RATE_HZ, TEXTS, Made, jsonl, lay_out, samples_of, tree

FILE_LAYOUTS = [layout for layout in DatasetLayout if layout is not DatasetLayout.WEBDATASET]
MORE = jsonl((f"m{n}", f"Another sentence, number {n}.") for n in range(7))


class Cut(Exception):
    """The process ends here."""


class Dying(FolderStore):
    """A folder that takes a number of writes and then is gone, in the midst of the next one or right after it."""

    def __init__(self, root: Path, writes: int, *, after: bool) -> None:
        super().__init__(root)
        self._left = writes
        self._after = after

    @contextmanager
    def _temporary(self, key: str, check: Callable[[], None]) -> Iterator[Path]:
        """What `put` and `writer` both write through."""
        self._left -= 1
        if self._left < 0 and not self._after:
            raise Cut
        with super()._temporary(key, check) as path:
            yield path
        if self._left < 0:
            raise Cut


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PART_ENTRIES", 4)


@pytest.fixture(scope="module")
def made() -> Made:
    return Made()


@pytest.fixture(scope="module")
def one(made: Made) -> Source:
    return made.job()


@pytest.fixture(scope="module")
def two(made: Made) -> Source:
    return made.job(MORE, "more.jsonl", voice="bob")


def ids(source: Source) -> list[str]:
    return [row.id for row in source.utterances()]


def held(folder: Path, *sources: Source) -> list[str]:
    ledger = Ledger(FolderStore(folder), "")
    return [entry.id for source in sources for part in ledger.parts(source.record.job) for entry in part.entries]


def left_out(folder: Path, source: Source) -> list[tuple[str, str, str]]:
    text = (folder / "entries" / source.record.job / "left-out.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    return [(row["id"], row["why"], row["reason"]) for row in rows]


# ── what is let in ──────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("layout", DatasetLayout)
def test_failed_and_bad_utterances_are_left_out_and_named(layout, tmp_path):
    source = Made().job(bad=[1], failed=[3])
    info, (added,) = lay_out(FolderStore(tmp_path), source, layout=layout)
    names = ids(source)
    out = [(names[1], "bad", "it drags"), (names[3], "failed", "no word came")]
    assert left_out(tmp_path, source) == out
    assert added.left_out_counts == {"bad": 1, "failed": 1}
    assert (added.written, added.known) == (len(names) - 2, 0)
    assert held(tmp_path, source) == [name for name in names if name not in (names[1], names[3])]
    assert info.utterances == len(names) - 2
    assert info.sources[0].left_out == {"bad": 1, "failed": 1}
    everything = b"".join(data for name, data in tree(tmp_path).items() if "left-out" not in name)
    assert names[1].encode() not in everything
    assert names[3].encode() not in everything


def test_bad_ones_come_in_when_they_are_asked_for_and_failed_ones_never(tmp_path):
    source = Made().job(bad=[1], failed=[3])
    _, (added,) = lay_out(
        FolderStore(tmp_path), source, layout=DatasetLayout.NEMO, selection=Selection(include_bad=True)
    )
    assert [out.why for out in added.left_out] == ["failed"]
    assert held(tmp_path, source) == [name for name in ids(source) if name != ids(source)[3]]


def test_lengths(one, tmp_path):
    seconds = {row.id: row.samples / RATE_HZ for row in one.utterances()}
    low, high = sorted(seconds.values())[2], sorted(seconds.values())[-3]
    _, (added,) = lay_out(
        FolderStore(tmp_path), one, layout=DatasetLayout.NEMO, selection=Selection(min_s=low, max_s=high)
    )
    assert held(tmp_path, one) == [name for name, length in seconds.items() if low <= length <= high]
    assert added.left_out_counts == {"too_long": 2, "too_short": 2}
    for least, most in ((3, 2), (-1, None), (None, 0), (float("nan"), None), (None, float("nan"))):
        with pytest.raises(BadOption, match="leave nothing"):
            Selection(min_s=least, max_s=most)


# ── appending ───────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("layout", DatasetLayout)
def test_a_second_job_is_appended_and_nothing_is_written_twice(layout, one, two, tmp_path):
    lay_out(FolderStore(tmp_path / "a"), one, layout=layout, shard_entries=4)
    first = tree(tmp_path / "a")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "a").rglob("*") if path.suffix in AUDIO}
    info, added = lay_out(FolderStore(tmp_path / "a"), one, two, layout=layout, shard_entries=4)
    assert [(job.written, job.known) for job in added] == [(0, len(TEXTS)), (7, 0)]
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert times
    assert [source.job for source in info.sources] == [one.record.job, two.record.job]
    assert info.utterances == len(TEXTS) + 7
    assert info.speakers == {"m_ann": 0, "m_bob": 1}
    kept = {name: data for name, data in first.items() if Path(name).suffix in AUDIO}
    after = tree(tmp_path / "a")
    assert {name: after[name] for name in kept} == kept
    lay_out(FolderStore(tmp_path / "b"), one, two, layout=layout, shard_entries=4)
    assert tree(tmp_path / "b") == after


AUDIO = {".wav", ".flac", ".tar"}


def test_old_lines_stay_where_they_are(one, two, tmp_path):
    lay_out(FolderStore(tmp_path), one, layout=DatasetLayout.LJSPEECH)
    before = (tmp_path / "metadata.csv").read_bytes()
    lay_out(FolderStore(tmp_path), two, layout=DatasetLayout.LJSPEECH)
    assert (tmp_path / "metadata.csv").read_bytes().startswith(before)


def test_appended_shards_are_new_ones(one, two, tmp_path):
    lay_out(FolderStore(tmp_path), one, layout=DatasetLayout.WEBDATASET, shard_entries=4)
    before = {name: data for name, data in tree(tmp_path).items() if name.endswith(".tar")}
    info, _ = lay_out(FolderStore(tmp_path), two, layout=DatasetLayout.WEBDATASET, shard_entries=4)
    after = {name: data for name, data in tree(tmp_path).items() if name.endswith(".tar")}
    assert sorted(before) == [f"set-{n:06d}.tar" for n in range(3)]
    assert sorted(after) == [f"set-{n:06d}.tar" for n in range(5)]
    assert {name: after[name] for name in before} == before
    assert {name for name in info.files if name.endswith(".tar")} == set(after)
    assert all(info.files[name].bytes == len(data) for name, data in after.items())


def test_shards_end_before_they_are_too_big(one, tmp_path):
    limit = 20_000
    lay_out(FolderStore(tmp_path), one, layout=DatasetLayout.WEBDATASET, shard_bytes=limit)
    sizes = [path.stat().st_size for path in tmp_path.glob("*.tar")]
    assert 1 < len(sizes) < len(TEXTS)
    assert all(size <= limit + 10_240 for size in sizes)  # and what a tar has at its end
    (tmp_path / "b").mkdir()
    lay_out(FolderStore(tmp_path / "b"), one, layout=DatasetLayout.WEBDATASET, shard_bytes=1)
    assert len(list((tmp_path / "b").glob("*.tar"))) == len(TEXTS)


def test_what_a_later_export_lets_in_is_appended(tmp_path):
    source = Made().job(bad=[1])
    lay_out(FolderStore(tmp_path), source, layout=DatasetLayout.WEBDATASET)
    _, (added,) = lay_out(
        FolderStore(tmp_path), source, layout=DatasetLayout.WEBDATASET, selection=Selection(include_bad=True)
    )
    assert (added.written, added.known, added.left_out) == (1, len(TEXTS) - 1, ())
    assert held(tmp_path, source)[-1] == ids(source)[1]
    # And what it would not let in any more stays: a dataset does not lose what it holds.
    _, (added,) = lay_out(
        FolderStore(tmp_path), source, layout=DatasetLayout.WEBDATASET, selection=Selection(min_s=1e6)
    )
    assert (added.written, added.known, added.left_out) == (0, len(TEXTS), ())


# ── what is refused ─────────────────────────────────────────────────────────────────────────────────────────────────
def test_an_utterance_with_other_audio_is_refused_before_anything_is_written(one, two, tmp_path):
    lay_out(FolderStore(tmp_path), one, layout=DatasetLayout.NEMO)
    before = tree(tmp_path)
    other = Made()
    changed = other.job(seed=7)
    rows = [row.model_copy(update={"id": name}) for row, name in zip(changed.utterances(), ids(one), strict=True)]
    liar = Source(changed.store, one.record, lambda: rows)
    with pytest.raises(BadOutput, match=rf"holds utterance {ids(one)[0]} with other audio .* than job items-"):
        lay_out(FolderStore(tmp_path), two, liar, layout=DatasetLayout.NEMO)
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("terms", "told"),
    [
        ({"layout": DatasetLayout.LHOTSE}, "layout ljspeech, not lhotse"),
        ({"rate_hz": 8000}, "sample_rate_hz none, not 8000"),
        ({"path_prefix": "x/"}, "path_prefix"),
    ],
)
def test_another_dataset_is_refused(one, tmp_path, terms, told):
    lay_out(FolderStore(tmp_path), one, layout=DatasetLayout.LJSPEECH)
    before = tree(tmp_path)
    with pytest.raises(BadOutput, match=told):
        lay_out(FolderStore(tmp_path), one, **{"layout": DatasetLayout.LJSPEECH, **terms})
    with pytest.raises(BadOutput, match="has name set, not other"):
        Export(Place(FolderStore(tmp_path)), Terms(DatasetLayout.LJSPEECH, "other"))
    assert tree(tmp_path) == before


def test_a_folder_with_other_files_is_refused(one, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(BadOutput, match=r"holds other files \(thesis.txt\) and no dataset"):
        lay_out(FolderStore(tmp_path), one, layout=DatasetLayout.NEMO)
    assert tree(tmp_path) == {"thesis.txt": b"mine"}


def test_a_take_that_is_not_what_the_manifest_says(tmp_path):
    source = Made().job()
    (take,) = next(iter(source.utterances())).takes
    key = f"takes/{take.take[:2]}/{take.take}.flac"
    whole = source.store.get(key)
    source.store.put(key, whole[:-1] + b"?")
    for layout in DatasetLayout:
        with pytest.raises(ObjectDamaged, match="its checksum differs"):
            lay_out(FolderStore(tmp_path / layout), source, layout=layout)
        assert held(tmp_path / layout, source) == []
    source.store.put(key, whole)
    for layout in DatasetLayout:
        lay_out(FolderStore(tmp_path / layout), source, layout=layout)
        assert held(tmp_path / layout, source) == ids(source)


def test_a_damaged_ledger_is_told(one, tmp_path):
    lay_out(FolderStore(tmp_path), one, layout=DatasetLayout.NEMO)
    part = tmp_path / "entries" / one.record.job / "000001.jsonl"
    for broken in (b"", b"{}\n", part.read_bytes().rsplit(b"\n", 2)[0] + b"\n"):
        part.write_bytes(broken)
        with pytest.raises(ObjectDamaged, match=r"000001.jsonl in .* is not part of a dataset"):
            lay_out(FolderStore(tmp_path), one, layout=DatasetLayout.NEMO)


# ── going on ────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("layout", DatasetLayout)
@pytest.mark.parametrize("after", [False, True])
def test_cut_off_at_any_write_it_goes_on_to_the_same_bytes(layout, after, one, two, tmp_path):
    straight = tmp_path / "straight"
    lay_out(FolderStore(straight), one, two, layout=layout, shard_entries=4)
    want = tree(straight)
    for writes in range(200):
        folder = tmp_path / str(writes)
        try:
            lay_out(Dying(folder, writes, after=after), one, two, layout=layout, shard_entries=4)
        except Cut:
            FolderStore(folder).sweep_unfinished(older_than_s=0)
            lay_out(FolderStore(folder), one, two, layout=layout, shard_entries=4)
            assert tree(folder) == want
        else:
            break
    assert writes >= 10
    assert tree(folder) == want


@pytest.mark.parametrize("layout", DatasetLayout)
def test_what_a_cut_left_of_utterances_that_are_not_wanted_any_more_is_swept(layout, one, tmp_path):
    lay_out(FolderStore(tmp_path / "want"), one, layout=layout, selection=Selection(max_s=0.2))
    with pytest.raises(Cut):
        lay_out(Dying(tmp_path / "got", 4, after=True), one, layout=layout)
    lay_out(FolderStore(tmp_path / "got"), one, layout=layout, selection=Selection(max_s=0.2))
    audio = {name for name in tree(tmp_path / "got") if Path(name).suffix in AUDIO}
    if layout is not DatasetLayout.WEBDATASET:
        parts = [*Ledger(FolderStore(tmp_path / "got"), "").parts(one.record.job)]
        assert audio == {file for part in parts for file in part.files}
        assert len(audio) < len(TEXTS)
    else:
        assert audio == {"set-000000.tar"}


@pytest.mark.parametrize("layout", DatasetLayout)
def test_audio_that_was_deleted_comes_back(layout, one, two, tmp_path):
    lay_out(FolderStore(tmp_path), one, two, layout=layout, shard_entries=4)
    want = tree(tmp_path)
    for path in sorted(path for path in tmp_path.rglob("*") if path.suffix in AUDIO)[::2]:
        path.unlink()
    lay_out(FolderStore(tmp_path), one, two, layout=layout, shard_entries=4)
    assert tree(tmp_path) == want


@pytest.mark.parametrize("layout", DatasetLayout)
def test_what_a_cut_export_had_written_is_counted_by_the_next_export_of_another_job(layout, one, two, tmp_path):
    """No audio is there that no index names, and the cut one can still go on."""
    how = {"layout": layout, "shard_entries": 4}
    with pytest.raises(Cut):
        lay_out(Dying(tmp_path, 4 if layout is DatasetLayout.WEBDATASET else 9, after=True), one, **how)
    info, _ = lay_out(FolderStore(tmp_path), two, layout=layout, shard_entries=4)
    assert [source.job for source in info.sources] == [one.record.job, two.record.job]
    parts = [part for source in (one, two) for part in Ledger(FolderStore(tmp_path), "").parts(source.record.job)]
    audio = {name for name in tree(tmp_path) if Path(name).suffix in AUDIO}
    assert audio == {file for part in parts for file in part.files}
    assert info.utterances == len(held(tmp_path, one, two)) > 7
    assert [source.utterances for source in info.sources] == [len(held(tmp_path, one)), 7]
    assert list(info.speakers) == ["m_ann", "m_bob"]
    info, (added,) = lay_out(FolderStore(tmp_path), one, layout=layout, shard_entries=4)
    assert added.written + added.known == len(TEXTS)
    assert info.utterances == len(TEXTS) + 7


# ── a job's own dataset ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("layout", DatasetLayout)
def test_a_job_s_own_dataset_is_made_anew_where_the_job_changed(layout):
    """After a retry it has the bytes that it would have if the job had been so from the start."""
    first = Made(MemoryStore("same")).job(bad=[5], failed=[1])
    then = Made(MemoryStore("same")).job(bad=[2])
    assert first.record.job == then.record.job
    for shard_entries in (3, 4, 100):
        want, got = MemoryStore(), MemoryStore()
        how = {"layout": layout, "prefix": "own/", "replace": True, "shard_entries": shard_entries}
        lay_out(want, then, **how)
        lay_out(got, first, **how)
        lay_out(got, then, **how)
        assert all(key.startswith("own/") for key in got.list(""))
        assert {key: got.get(key) for key in got.list("")} == {key: want.get(key) for key in want.list("")}


@pytest.mark.parametrize("layout", DatasetLayout)
def test_a_step_that_runs_twice_at_once_writes_everything_once(layout, one):
    """The second one looked at the ledger before the first one had written anything, and writes after it."""
    want, got = MemoryStore(), MemoryStore()
    lay_out(want, one, layout=layout, shard_entries=4, replace=True)
    late, early = (Export(Place(got), Terms(layout, "set", shard_entries=4), replace=True) for _ in range(2))
    surveys = [export.survey(one, Selection()) for export in (late, early)]
    early.add(one, Selection(), surveys[1])
    late.add(one, Selection(), surveys[0])
    late.finish()
    early.finish()
    assert {key: got.get(key) for key in got.list("")} == {key: want.get(key) for key in want.list("")}


def test_all_voices_of_a_job_are_named(tmp_path):
    items = [{"id": "a", "text": "One."}, {"id": "b", "text": "Two.", "voice": "bob"}]
    source = Made().job("\n".join(map(json.dumps, items)))
    info, _ = lay_out(FolderStore(tmp_path), source, layout=DatasetLayout.AUDIOFOLDER)
    assert info.sources[0].voice == "ann, bob"
    assert info.licences == ("free",)
    assert "| ann, bob | 2 | none | free |" in (tmp_path / "README.md").read_text()


# ── audio ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("layout", DatasetLayout)
def test_an_item_of_several_takes_is_one_file_with_its_pauses(layout, tmp_path):
    text = "One sentence is here for a start. Another one follows it at once. And a third one ends it."
    source = Made().job(jsonl([("long", text), ("short", "Only this.")]))
    rows = list(source.utterances())
    assert [len(row.takes) for row in rows] == [2, 1]
    assert (rows[0].text, rows[0].spoken) == (text, text)
    lay_out(FolderStore(tmp_path), source, layout=layout)
    entries = [entry for part in Ledger(FolderStore(tmp_path), "").parts(source.record.job) for entry in part.entries]
    assert [entry.samples for entry in entries] == [row.samples for row in rows]
    if layout is DatasetLayout.WEBDATASET:
        return
    pcm, rate_hz = soundfile.read(tmp_path / entries[0].file, dtype="int16")
    assert pcm.size == rows[0].samples == sum(take.samples for take in rows[0].takes) + round(0.35 * rate_hz)
    for take in rows[0].takes:
        stored = samples_of(source, rows[0].model_copy(update={"takes": (take,)}))
        inside = pcm[take.start_sample : take.start_sample + take.samples]
        assert np.array_equal(inside[100:-100], stored[100:-100])
    pause = pcm[rows[0].takes[0].samples : rows[0].takes[1].start_sample]
    assert not pause.any()


@pytest.mark.parametrize("rate_hz", [8_000, 22_050, 44_100])
def test_another_rate_for_wav(one, tmp_path, rate_hz):
    info, _ = lay_out(FolderStore(tmp_path), one, layout=DatasetLayout.LJSPEECH, rate_hz=rate_hz)
    assert info.sample_rates_hz == (rate_hz,)
    for row in one.utterances():
        pcm, found_hz = soundfile.read(tmp_path / "wavs" / f"{row.id}.wav", dtype="int16")
        assert found_hz == rate_hz
        assert pcm.size == -(-row.samples * rate_hz // RATE_HZ)
        then, now = samples_of(one, row).astype(float), pcm.astype(float)
        assert np.sqrt(np.mean(now**2)) == pytest.approx(np.sqrt(np.mean(then**2)), rel=0.05)


@given(st.integers(0, 60), st.sampled_from([8_000, 24_000, 192_000]), st.sampled_from([4_000, 22_050, 192_000]))
def test_the_shortest_audio_has_its_length_at_any_rate(samples, from_hz, to_hz):
    pcm = np.full(samples, 1000, dtype=np.int16)
    assert resampled(pcm, from_hz, to_hz).size == -(-samples * to_hz // from_hz)


@pytest.mark.parametrize("layout", sorted(set(FILE_LAYOUTS) - {DatasetLayout.LJSPEECH, DatasetLayout.KALDI}))
def test_flac_is_not_resampled(one, tmp_path, layout):
    with pytest.raises(BadOption, match="--rate is not for layout"):
        lay_out(FolderStore(tmp_path), one, layout=layout, rate_hz=8000)
    assert tree(tmp_path) == {}


# ── disks ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("layout", DatasetLayout)
def test_a_store_that_refuses_leaves_nothing_half_and_goes_on_later(layout, one, tmp_path):
    class Full(FolderStore):
        full = True

        @contextmanager
        def _temporary(self, key: str, check: Callable[[], None]) -> Iterator[Path]:
            with super()._temporary(key, check) as path:
                yield path
                if self.full and Path(key).suffix in AUDIO and path.stat().st_size > 3000:
                    raise OSError(28, "No space left on device")

    store = Full(tmp_path / "a")
    with pytest.raises(StoreError, match=r"No space left.*free some space"):
        lay_out(store, one, layout=layout)
    ours = {name for name in tree(tmp_path / "a") if Path(name).name.startswith(".")}
    assert ours == set()
    store.full = False
    lay_out(store, one, layout=layout)
    lay_out(FolderStore(tmp_path / "b"), one, layout=layout)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


def test_each_voice_of_a_job_has_its_licence(one):
    spec = one.record.spec.model_copy(update={"voice_licence": "free", "item_licences": {"bob": "for research"}})
    source = source_info(one.record.model_copy(update={"spec": spec}), {})
    assert source.licence == f"{spec.voice}: free; bob: for research"
