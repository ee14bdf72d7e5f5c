"""Reference voices: kept once, found by id or name, and never two of one name."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile

from jobs import keys, references
from jobs.clips import read_clip
from jobs.errors import BadOption, BadSource, ObjectDamaged, ObjectMissing
from jobs.references import Offered, ReferenceTaken, TooManyReferences, add, clip_of, find, remove
from jobs.stores import FolderStore, MemoryStore
from tests.helpers_clips import sound_file, voice
from tests.helpers_jobs import OFFER

CLIP = sound_file(voice())
OTHER = sound_file(voice(5.0))
TAKEN = {"joe", "tone-low"}


def offered(name: str = "Ann", data: bytes = CLIP, consent: str = "Ann agreed", text: str = "") -> Offered:
    return Offered(name, consent, data, text)


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else FolderStore(tmp_path / "store")


def test_a_clip_is_kept_and_found(store):
    made, new = add(store, offered(text=" Hello there. "), taken=TAKEN)
    assert new
    assert (made.name, made.text, made.audio_s, made.sample_rate_hz) == ("Ann", "Hello there.", 4.0, 24_000)
    assert find(store, "ann") == find(store, "Ann") == find(store, made.voice) == made
    samples, rate_hz = soundfile.read(io.BytesIO(clip_of(store, made)), dtype="int16")
    assert rate_hz == 24_000
    assert np.array_equal(samples, read_clip(CLIP).pcm)
    assert find(store, "Bob") is find(store, "voice_0") is find(store, "voice_../x") is None


def test_the_same_again_changes_nothing(store):
    made, _ = add(store, offered(), taken=TAKEN)
    before = {key: store.get(key) for key in store.list("")}
    assert add(store, offered(consent="somebody else says so"), taken=TAKEN) == (made, False)
    assert {key: store.get(key) for key in store.list("")} == before


def test_one_clip_may_have_two_names_but_one_name_only_one_clip(store):
    first, _ = add(store, offered(), taken=TAKEN)
    second, _ = add(store, offered("Bob"), taken=TAKEN)
    assert first.voice != second.voice
    assert [one.name for one in references.references(store)] == ["Ann", "Bob"]
    with pytest.raises(ReferenceTaken, match="'Ann'"):
        add(store, offered("ANN", OTHER), taken=TAKEN)


def test_two_servers_at_one_time_do_not_both_win(store):
    """The other server's record appears between our look and our write."""
    rival, _ = add(MemoryStore(), offered("Ann", OTHER), taken=TAKEN)

    class Slow:
        """A store whose first listing is from before the other server's."""

        def __init__(self):
            self.listed = 0

        def list(self, prefix):
            self.listed += 1
            if self.listed == 2:
                store.put(keys.voice_object(rival.voice, "voice.json"), rival.model_dump_json().encode())
            return store.list(prefix)

        def __getattr__(self, name):
            return getattr(store, name)

    with pytest.raises(ReferenceTaken):
        add(Slow(), offered(), taken=TAKEN)
    assert references.references(store) == [rival]
    assert [key for key in store.list(keys.VOICES) if rival.voice not in key] == []


def test_a_removed_reference_is_gone(store):
    made, _ = add(store, offered(), taken=TAKEN)
    remove(store, made.voice)
    remove(store, made.voice)
    assert list(store.list("")) == []
    assert find(store, "Ann") is None
    with pytest.raises(ObjectMissing):
        clip_of(store, made)
    assert add(store, offered(), taken=TAKEN)[1]


def test_a_write_that_broke_off_leaves_no_reference(store):
    made, _ = add(store, offered(), taken=TAKEN)
    store.delete(keys.voice_object(made.voice, "voice.json"))
    assert references.references(store) == []
    assert add(store, offered(), taken=TAKEN)[1]


def test_a_damaged_clip_is_told(store):
    made, _ = add(store, offered(), taken=TAKEN)
    store.put(keys.voice_object(made.voice, "clip.flac"), b"fLaC")
    with pytest.raises(ObjectDamaged, match="'Ann'"):
        clip_of(store, made)


def test_what_is_no_record_of_ours_is_passed_over(store):
    store.put(keys.voice_object("voice_1", "voice.json"), b"{}")
    store.put(keys.VOICES + "notes", b"")
    assert references.references(store) == []


@pytest.mark.parametrize("name", ["Ann", "Ännchen", "安", "a", "O'Neil", "Dr. No", "ann_2", "x" * 64])
def test_names_that_are_allowed(name):
    assert references.checked_name(name, TAKEN) == name


@pytest.mark.parametrize(
    "name",
    ["", " ", "a/b", "../x", "x" * 65, "a\0b", "a\nb", "voice_1", "Voice_x", "ann.onnx", "-a", "a-", "a\u202eb", "<b>"],
)
def test_names_that_are_not(name):
    with pytest.raises(BadOption, match="not allowed"):
        references.checked_name(name, TAKEN)


@pytest.mark.parametrize("name", ["joe", "JOE", "Tone-Low"])
def test_names_of_the_models_own_voices_are_taken(name):
    with pytest.raises(ReferenceTaken, match="of its own"):
        references.checked_name(name, TAKEN)


@pytest.mark.parametrize(
    ("offer", "words"),
    [
        (offered(consent="  "), "consent has 0"),
        (offered(consent="x" * 2001), "consent has 2001"),
        (offered(text="x" * 2001), "ref_text has 2001"),
    ],
)
def test_consent_is_needed_and_texts_have_bounds(store, offer, words):
    with pytest.raises(BadOption, match=words):
        add(store, offer, taken=TAKEN)
    assert list(store.list("")) == []


def test_a_model_that_does_not_clone_refuses_a_reference_and_nothing_else(store):
    made, _ = add(store, offered(), taken=TAKEN)
    cloning = OFFER.model_copy(update={"clones": True})
    for name in ("Ann", "ANN", made.voice):
        with pytest.raises(BadOption, match="model m does not clone voices"):
            references.check_clones(store, OFFER, name)
        references.check_clones(store, cloning, name)
    for name in ("ann", "nobody"):  # "ann" is a voice of the model's own
        references.check_clones(store, OFFER, name)


def test_a_bad_clip_leaves_nothing(store):
    with pytest.raises(BadSource):
        add(store, offered(data=b"nothing"), taken=TAKEN)
    assert list(store.list("")) == []


def test_only_so_many_are_kept(store, monkeypatch):
    monkeypatch.setattr(references, "MAX_REFERENCES", 1)
    add(store, offered(), taken=TAKEN)
    with pytest.raises(TooManyReferences, match="at most 1"):
        add(store, offered("Bob"), taken=TAKEN)
