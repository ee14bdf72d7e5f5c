"""The files of a job, listed once until its record says that there may be more."""

from __future__ import annotations

from jobs.shelf import KEPT_JOBS, Shelf, files_of
from tests.helpers_jobs import World


def test_files_are_listed_again_when_the_job_has_moved():
    world, shelf = World(), Shelf()
    record = world.submit()
    assert shelf.of(record, world.store).names == ()
    world.store.put(f"jobs/{record.job}/chapters/001-one.flac", b"12345")
    assert shelf.of(record, world.store).names == ()
    for task in world.lease():
        world.speak(task)
    world.truth.chapter_assembled(record.job, 0)
    row = shelf.of(world.truth.job(record.job), world.store)
    assert row.names == ("chapters/001-one.flac",)
    assert [(file.name, file.size_bytes, file.media_type) for file in row.shown] == [
        ("chapters/001-one.flac", 5, "audio/flac")
    ]


def test_of_a_dataset_its_description_is_shown():
    world, shelf = World(), Shelf()
    record = world.submit()
    names = ["datasets/kaldi/dataset.json", "datasets/kaldi/wav/1.wav", "report.json", "odd.name"]
    for name in names:
        world.store.put(f"jobs/{record.job}/{name}", b"1")
    row = shelf.of(record, world.store)
    assert row.names == (names[0], names[1], names[3], names[2])
    assert [file.name for file in row.shown] == [names[0], names[3], names[2]]
    (odd, gone_too) = files_of(row, world.store, ["odd.name", "gone", "report.json"])
    assert (odd.media_type, gone_too.name) == ("application/octet-stream", "report.json")


def test_so_many_jobs_are_kept():
    world, shelf = World(), Shelf()
    record = world.submit()
    world.store.put(f"jobs/{record.job}/report.json", b"1")
    assert shelf.of(record, world.store).names
    for number in range(KEPT_JOBS):
        shelf.of(record.model_copy(update={"job": f"j{number}"}), world.store)
    world.store.delete(f"jobs/{record.job}/report.json")
    assert shelf.of(record, world.store).names == ()
