"""The files of a job, listed once until its record says that there may be more."""

from __future__ import annotations

from jobs.file_lists import KEPT_JOBS, FileLists
from tests.helpers_jobs import World


def test_files_are_listed_again_when_the_job_has_moved():
    world, lists = World(), FileLists()
    record = world.submit()
    assert lists.of(record, world.store).names == ()
    world.store.put(f"jobs/{record.job}/chapters/001-one.flac", b"12345")
    assert lists.of(record, world.store).names == ()
    for task in world.lease():
        world.speak(task)
    world.truth.chapter_assembled(record.job, 0)
    files = lists.of(world.truth.job(record.job), world.store)
    assert files.names == ("chapters/001-one.flac",)
    assert [(file.name, file.size_bytes, file.media_type) for file in files.shown] == [
        ("chapters/001-one.flac", 5, "audio/flac")
    ]


def test_of_a_dataset_its_description_is_shown():
    world, lists = World(), FileLists()
    record = world.submit()
    names = ["datasets/kaldi/dataset.json", "datasets/kaldi/wav/1.wav", "report.json", "odd.name"]
    for name in names:
        world.store.put(f"jobs/{record.job}/{name}", b"1")
    files = lists.of(record, world.store)
    assert files.names == (names[0], names[1], names[3], names[2])
    assert [file.name for file in files.shown] == [names[0], names[3], names[2]]
    (odd, gone_too) = files.of_names(world.store, ["odd.name", "gone", "report.json"])
    assert (odd.media_type, gone_too.name) == ("application/octet-stream", "report.json")


def test_so_many_jobs_are_kept():
    world, lists = World(), FileLists()
    record = world.submit()
    world.store.put(f"jobs/{record.job}/report.json", b"1")
    assert lists.of(record, world.store).names
    for number in range(KEPT_JOBS):
        lists.of(record.model_copy(update={"job": f"j{number}"}), world.store)
    world.store.delete(f"jobs/{record.job}/report.json")
    assert lists.of(record, world.store).names == ()
