"""From a source to a job: its id, its voices and languages, its room, and what becomes of one that is there already."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from jobs import drafts, keys, submit
from jobs.errors import BadOption, BadOutput, BadSource, StoreError
from jobs.offers import find_voice
from jobs.plan_store import load_plan
from jobs.spec import AudioFormat, Priority, SourceKind, VoiceOffer
from jobs.state import JobState
from jobs.stores import FolderStore
from jobs.submit import accept, check_space, queue_segments
from tests.helpers_jobs import BOOK, OFFER, World
from tests.helpers_reading import epub, xhtml

ONE = World()


def item(**fields: object) -> str:
    return json.dumps({"id": "a", "text": "Hello there."} | fields)


def test_the_id_of_a_job_is_stable_and_readable():
    draft = ONE.draft()
    assert draft.job == World(ONE.store).draft().job
    assert draft.job.startswith("book-")
    assert ONE.draft(name="Größe & Maß.txt").job.startswith("grösse-mass-")
    assert ONE.draft(name="….txt").job.startswith("job-")


@pytest.mark.parametrize(
    "wishes",
    [
        {"voice": "bob"},
        {"language": "en-GB"},
        {"seed": 1},
        {"speed": 1.5},
        {"formats": (AudioFormat.MP3,)},
        {"priority": Priority.BULK},
        {"live": True},
        {"store_url": "memory://other"},
        {"name": "other.txt"},
        {"text": BOOK + "More."},
        {"offer": OFFER.model_copy(update={"numerics": "n2"})},
    ],
    ids=lambda wishes: next(iter(wishes)),
)
def test_another_option_is_another_job(wishes):
    assert ONE.draft(**wishes).job != ONE.draft().job


def test_none_means_the_models_or_the_sources_own():
    spec = ONE.draft().spec
    assert (spec.voice, spec.voice_revision, spec.language, spec.voice_licence) == ("ann", "r1", "en-US", "free")
    assert (spec.model, spec.numerics, spec.source_kind) == ("m", "n1", SourceKind.TXT)
    assert ONE.draft(voice="eva").spec.language == "de"


@pytest.mark.parametrize(
    ("asked", "spoken"), [("en", "en-US"), ("EN", "en-US"), ("en-US", "en-US"), ("en-GB", "en-GB"), ("en_GB", "en-GB")]
)
def test_a_voice_speaks_the_kinds_of_its_own_language(asked, spoken):
    assert ONE.draft(language=asked).spec.language == spoken
    assert ONE.draft(f'<html lang="{asked}"><p>Hello there.', "page.html").spec.language == spoken


def test_another_language_is_refused_with_who_asked_for_it():
    with pytest.raises(BadOption, match=r"voice ann speaks en-US, not de \(asked for\).*--lang en-US"):
        ONE.draft(language="de")
    page = '<html lang="de"><p>Guten Tag.'
    with pytest.raises(BadOption, match=r"voice ann speaks en-US, not de \(declared by the source\)"):
        ONE.draft(page, "page.html")
    assert ONE.draft(page, "page.html", language="en-US").spec.language == "en-US"
    assert ONE.draft(page, "page.html", voice="eva").spec.language == "de"


def test_a_voice_may_be_asked_to_read_what_else_it_can():
    jan = VoiceOffer(name="jan", language="ja", revision="r5", licence="free", reads=("en", "ja"))
    kim = VoiceOffer(name="kim", language="ko", revision="r6", licence="free", reads=("en",))
    given = partial(ONE.draft, offer=OFFER.model_copy(update={"voices": (*OFFER.voices, jan, kim)}))
    assert given(voice="jan").spec.language == "ja"
    assert given(voice="jan", language="en").spec.language == "en"
    assert given('<html lang="en-GB"><p>Hello.', "page.html", voice="jan").spec.language == "en-GB"
    with pytest.raises(BadOption, match=r"voice jan reads en, ja, not de \(asked for\).*--lang en"):
        given(voice="jan", language="de")
    with pytest.raises(BadOption, match=r"voice kim reads en, not ko \(its own; see `tts-batch voices`\).*--lang en "):
        given(voice="kim")
    with pytest.raises(BadOption, match="item 'a' is in de, voice kim reads en;"):
        given(item(voice="kim", lang="de"), "set.jsonl")
    assert given(item(voice="kim"), "set.jsonl").spec.item_voices == {"kim": "r6"}


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_speeds_in_the_models_range(speed):
    assert ONE.draft(speed=speed).audio_s == pytest.approx(ONE.draft().audio_s / speed)


@pytest.mark.parametrize("speed", [0.49, 2.01, 0.0, -1.0, float("nan"), float("inf")])
def test_other_speeds_are_refused(speed):
    with pytest.raises(BadOption, match=f"speed {speed:g} is not possible with model m; 0.5 to 2 is"):
        ONE.draft(speed=speed)


def test_voices_that_are_not_there():
    with pytest.raises(BadOption, match="model m has no voice 'zoe'; its voices are ann, bob, eva, far"):
        ONE.draft(voice="zoe")
    with pytest.raises(BadOption, match="voice 'far' of model m is not installed: pip install far"):
        ONE.draft(voice="far")
    assert find_voice(OFFER, "bob").revision == "r2"


def test_items_may_have_voices_of_their_own():
    items = item(), item(id="b", voice="bob"), item(id="c", voice="eva", lang="de-AT"), item(id="d", voice="bob")
    assert ONE.draft("\n".join(items), "set.jsonl").spec.item_voices == {"bob": "r2", "eva": "r3"}
    for voice, text in (("zoe", "no voice 'zoe'"), ("far", "not installed")):
        with pytest.raises(BadOption, match=text):
            ONE.draft(item(voice=voice), "set.jsonl")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"lang": "de"}, "item 'a' is in de, voice ann speaks en-US"),
        ({"voice": "eva"}, "item 'a' is in en-US, voice eva speaks de"),
        ({"voice": "bob", "lang": "fr"}, "item 'a' is in fr, voice bob speaks en-GB"),
    ],
)
def test_an_item_is_never_spoken_by_a_voice_of_another_language(fields, text):
    with pytest.raises(BadOption, match=text):
        ONE.draft(item(**fields), "set.jsonl")


def test_estimates_grow_with_the_formats():
    small, large = ONE.draft(), ONE.draft(formats=(AudioFormat.M4B, AudioFormat.WAV))
    assert small.audio_s == pytest.approx(small.plan.prompt_chars / OFFER.chars_per_s)
    pcm_bytes = round(small.audio_s * OFFER.sample_rate_hz * 2)
    assert large.out_bytes - small.out_bytes == pytest.approx(2 * pcm_bytes, abs=2)
    assert small.store_bytes - small.out_bytes == pytest.approx(pcm_bytes, abs=2)


def test_what_cannot_be_read_is_no_draft():
    with pytest.raises(BadSource):
        ONE.draft(" \n")
    with pytest.raises(BadSource):
        ONE.draft("not json", "set.jsonl")


def test_accepting_stores_first_and_queues_every_segment():
    world = World()
    draft = world.draft()
    record = accept(draft, world.truth, world.store)
    assert (record.state, record.total, record.chapters) == (JobState.QUEUED, 6, 2)
    assert (record.title, record.total_chars) == (draft.title, draft.plan.prompt_chars)
    assert load_plan(world.store, record.job) == draft.plan
    assert world.store.get(keys.job_object(record.job, "source")) == BOOK.encode()
    assert not world.store.exists(keys.job_object(record.job, "cover"))
    assert [task.segment for task in world.lease()] == list(range(6))


def test_the_cover_of_an_epub_is_kept():
    manifest = '<item id="c" href="c.png" media-type="image/png" properties="cover-image"/>'
    picture = b"\x89PNG\r\n\x1a\n" + bytes(50)
    data = epub({"one.xhtml": xhtml("<p>Hello there.</p>"), "c.png": picture}, manifest=manifest)
    world = World()
    asked = drafts.Wishes(offer=OFFER, store_url=world.store.url)
    record = accept(drafts.make_draft(drafts.Source("b.epub", data), asked), world.truth, world.store)
    assert world.store.get(keys.job_object(record.job, "cover")) == picture


def test_the_same_again_goes_on_with_the_job_that_is_there():
    world = World()
    first = world.submit()
    world.speak(world.lease()[0])
    again = world.submit()
    assert (again.job, again.done, again.created_at_s) == (first.job, 1, first.created_at_s)
    assert len(world.truth.jobs()) == 1


def test_a_paused_job_is_let_go_on():
    world = World()
    job = world.submit().job
    world.truth.pause(job)
    assert world.lease() == []
    assert world.submit().state is JobState.QUEUED
    assert len(world.lease()) == 6


@pytest.mark.parametrize("end", [JobState.CANCELLED, JobState.FAILED])
def test_a_job_that_was_given_up_starts_anew_and_keeps_its_takes(end):
    world = World()
    job = world.submit().job
    for task in world.lease()[:2]:
        world.speak(task)
    world.truth.move_job(job, end, reason="so")
    again = world.submit()
    assert (again.job, again.state, again.reason) == (job, JobState.QUEUED, "")
    assert (again.done, again.reused, again.failed) == (2, 2, 0)
    assert [task.segment for task in world.lease()] == [2, 3, 4, 5]


def test_a_job_that_is_done_is_left_alone():
    world = World()
    job = world.submit().job
    world.speak_all()
    for chapter in (0, 1):
        world.truth.chapter_assembled(job, chapter)
    world.truth.move_job(job, JobState.DONE)
    before = world.truth.job(job)
    assert world.submit() == before


def test_a_job_whose_takes_are_all_there_has_nothing_to_speak():
    world = World()
    world.submit()
    world.speak_all()
    other = world.submit(name="copy.txt")
    assert (other.state, other.done, other.reused) == (JobState.ASSEMBLING, 6, 6)
    assert world.lease() == []


def test_queueing_twice_queues_once():
    world = World()
    record = world.submit()
    tasks = world.lease()
    queue_segments(world.truth, world.store, record)
    assert world.lease() == []
    assert world.truth.job(record.job).total == len(tasks) == 6


def test_a_store_that_refuses_leaves_no_job():
    world = World()
    draft = world.draft()

    class Refusing(type(world.store)):
        def put(self, key: str, data: bytes) -> None:
            msg = "no"
            raise StoreError(msg)

    with pytest.raises(StoreError):
        accept(draft, world.truth, Refusing())
    assert world.truth.jobs() == []


def test_too_little_room_is_told_before_anything_is_stored(tmp_path, monkeypatch):
    asked: list[Path] = []

    def usage(path: Path) -> object:
        asked.append(path)
        return type(real)(real.total, real.total - 1000, 1000)

    real = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(submit.shutil, "disk_usage", usage)
    root = tmp_path / "a#b?c"  # no part of a URL: a folder may be called so
    root.mkdir()
    world = World(FolderStore(root / "store"))
    with pytest.raises(BadOutput, match=r"0\.0 MB free, this job is expected to need .*--out .* TTS_BATCH_DATA_DIR"):
        world.submit()
    assert asked == [root]
    assert world.truth.jobs() == []
    assert list(root.iterdir()) == []


def test_room_is_looked_for_where_the_folder_will_be(tmp_path):
    check_space(tmp_path / "not" / "yet" / "there", 1)
    with pytest.raises(BadOutput, match="MB free"):
        check_space(tmp_path / "not" / "yet", 10**18)
