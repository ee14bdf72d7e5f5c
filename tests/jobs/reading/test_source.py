"""The door: kinds by name, files that are not what they say, and what a person is told."""

import pytest

from jobs.errors import BadSource
from jobs.reading import kind_of, load_source, read_source, source
from jobs.spec import SourceKind
from tests.helpers_reading import archive, read


def code_of(call, *args, **named):
    with pytest.raises(BadSource) as caught:
        call(*args, **named)
    (problem,) = caught.value.problems
    return problem.code


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "txt"),
        ("b/A.TXT", "txt"),
        ("x.md", "md"),
        ("x.htm", "html"),
        ("x.epub", "epub"),
        ("x.ndjson", "jsonl"),
        ("x.VTT", "vtt"),
    ],
)
def test_kinds_by_ending(name, kind):
    assert kind_of(name) is SourceKind(kind)


@pytest.mark.parametrize("name", ["book", "book.pdf", "book.txt.gz", ".txt"])
def test_unknown_endings_are_errors_that_name_the_known(name):
    assert code_of(kind_of, name) == "unknown_kind"
    with pytest.raises(BadSource, match=r"\.epub"):
        kind_of(name)


def test_a_kind_that_is_told_goes_before_the_ending():
    document = read_source(b"# Title\n\ntext", "notes.dat", kind=SourceKind.MARKDOWN)
    assert document.chapters[0].title == "Title"


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xd8\xff\xe0" + bytes(100),
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"%PDF-1.7\nsome text",
        archive({"a": "b"}),
        b"\x1f\x8b\x08" + b"x" * 50,
        b"ID3\x03" + b"x" * 50,
        b"RIFF\x01\x02\x03\x04WAVEfmt",
        b"\x00" * 20,
        bytes(range(256)) * 4,
        b"{\\rtf1 text}",
    ],
)
@pytest.mark.parametrize("name", ["x.txt", "x.md", "x.jsonl", "x.srt", "x.html"])
def test_files_that_are_no_text(name, data):
    assert code_of(read_source, data, name) == "not_text"


@pytest.mark.parametrize("text", ["RIFFRAFF came.", "ID3 tags.", "PK zip.", "GIF89 was old.", "BM and MZ.", "%PD"])
def test_text_that_begins_like_a_file(text):
    assert read(text).text == text


def test_few_control_codes_are_no_reason_to_refuse():
    assert read("A\x00B\x1bC" + "text " * 30).chars == 155


@pytest.mark.parametrize("kind", SourceKind)
def test_an_empty_source_of_any_kind(kind):
    assert code_of(read_source, b"", "x", kind=kind) == "no_text"


@pytest.mark.parametrize("name", ["x.txt", "x.md", "x.html", "x.jsonl"])
def test_only_white_space(name):
    assert code_of(read_source, b" \n\t\n \xc2\xa0\n", name) == "no_text"


def test_too_large(monkeypatch, tmp_path):
    monkeypatch.setattr(source, "MAX_SOURCE_BYTES", 10)
    path = tmp_path / "x.txt"
    path.write_bytes(b"x" * 11)
    assert code_of(load_source, path) == "too_large"
    assert code_of(read_source, b"x" * 11, "x.txt") == "too_large"


def test_a_path_is_read_and_called_by_its_name(tmp_path):
    path = tmp_path / "My Book.txt"
    path.write_bytes(b"One line.")
    document = read_source(path)
    assert document.title == "My Book"
    assert load_source(path) == b"One line."


def test_folders_and_missing_files(tmp_path):
    assert code_of(load_source, tmp_path) == "directory"
    assert code_of(load_source, tmp_path / "none.txt") == "missing"
    file = tmp_path / "file"
    file.write_bytes(b"x")
    assert code_of(load_source, file / "below.txt") == "unreadable"
