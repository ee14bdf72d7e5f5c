"""`tts-batch plan` from outside: what becomes of every character, for people and for programs, with nothing running."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers_cli import Home
from tests.helpers_reading import CASES, epub, xhtml

ITEMS = '{"id": "a", "text": "First item."}\n{"id": "b"\n{"id": "a", "text": "Again."}\n'
SOURCES: dict[str, str | bytes] = {
    "book.txt": "CHAPTER ONE\n\nIt was late.[1] Nobody\ncame.\n\n* * *\n\nThe end.\n",
    "book.md": "# One\n\nHello *there*.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n# Two\n\nGood night.\n",
    "page.html": "<html><head><title>T</title></head><body><h1>One</h1><p>Hello &amp; <b>bye</b>.</p></body></html>",
    "book.epub": epub({"one.xhtml": xhtml("<h1>One</h1><p>Hello.</p>"), "two.xhtml": xhtml("<h1>Two</h1><p>Bye.</p>")}),
    "set.jsonl": '{"id": "a", "text": "First \\u00e9 item."}\n\n{"id": "b", "text": "Second."}\n',
    "film.srt": "1\n00:00:01,000 --> 00:00:02,000\n<i>Hello.</i>\n",
    "old.txt": "He said \u201cyes\u201d \u2013 to me.\n".encode("cp1252"),
    "wide.txt": "\ufeffHello there.\n".encode("utf-16"),
}


def put(home: Home, name: str, data: str | bytes) -> str:
    (home.work / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return name


def check(document: dict) -> None:
    """Every character is exactly one of the three, in order and in place."""
    account = document["account"]
    places: list[int] = []
    for part in (account["replaced"], account["skipped"]):
        ranges = [one["source"] for one in part]
        assert ranges == sorted(ranges)
        assert all(len(one["was"]) == one["source"][1] - one["source"][0] for one in part)
        places += [place for start, end in ranges for place in range(start, end)]
    assert len(places) == len(set(places))
    assert account["spoken_chars"] + len(places) == document["source"]["chars"]


def spoken(document: dict) -> str:
    return " ".join(one["spoken"] for chapter in document["chapters"] for one in chapter["segments"])


@pytest.mark.parametrize("name", SOURCES)
def test_each_kind_of_source(home: Home, name: str) -> None:
    document = home.json("plan", put(home, name, SOURCES[name]), "--model", "fake")
    assert set(document) == {"source", "chapters", "account", "errors"}
    assert set(document["source"]) == {
        *("name", "kind", "chars", "encoding", "warnings", "title", "author", "language"),
    }
    assert document["source"]["name"] == name
    assert document["errors"] == []
    check(document)
    sentences = [
        sentence
        for chapter in document["chapters"]
        for paragraph in chapter["paragraphs"]
        for sentence in paragraph["sentences"]
    ]
    segments = [segment for chapter in document["chapters"] for segment in chapter["segments"]]
    assert [segment["index"] for segment in segments] == list(range(len(segments)))
    files = {"file"} if name.endswith("epub") else set()
    assert all({"text", "spoken", "source", "lang"} | files == set(one) - {"voice"} for one in sentences)
    assert all({"index", "spoken", "source"} | files == set(one) - {"voice"} for one in segments)
    assert " ".join(one["spoken"] for one in sentences) == spoken(document)


def test_people_see_chapters_what_is_left_out_and_sums(home: Home) -> None:
    done = home.run("plan", put(home, "book.txt", SOURCES["book.txt"]), "--model", "fake")
    assert done.returncode == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[1].startswith("txt, ")
    assert any(line.split()[:3] == ["chapter", "title", "paragraphs"] for line in lines)
    assert any(line.startswith("note_marks") and '"[1]"' in line for line in lines)
    assert "not spoken:" in lines
    assert f"{len(SOURCES['book.txt'])} characters: " in lines[-1]
    everything = home.run("plan", "book.txt", "--model", "fake", "--all").stdout
    place = str(SOURCES["book.txt"]).index("[1]")
    assert any(line.split()[:2] == ["note_marks", f"{place}-{place + 3}"] for line in everything.splitlines())


def test_what_is_kept_is_spoken_and_what_is_skipped_is_not(home: Home) -> None:
    name = put(home, "book.md", SOURCES["book.md"])
    plain = home.json("plan", name, "--model", "fake")
    assert {one["why"] for one in plain["account"]["skipped"]} >= {"tables", "markup"}
    kept = home.json("plan", name, "--model", "fake", "--keep", "tables")
    assert "tables" not in {one["why"] for one in kept["account"]["skipped"]}
    assert len(spoken(kept)) > len(spoken(plain))
    bare = home.json("plan", name, "--model", "fake", "--skip", "headings")
    assert "headings" in {one["why"] for one in bare["account"]["skipped"]}
    assert "One" not in spoken(bare)
    for document in (plain, kept, bare):
        check(document)


def test_the_plan_is_what_a_dry_run_queues(home: Home) -> None:
    name = put(home, "book.md", SOURCES["book.md"])
    document = home.json("plan", name, "--model", "fake")
    (job,) = home.json("submit", name, "--model", "fake", "--dry-run")["plans"]
    assert job["segments"] == sum(len(chapter["segments"]) for chapter in document["chapters"])
    assert job["account"]["spoken_chars"] == document["account"]["spoken_chars"]
    assert job["account"]["source_chars"] == document["source"]["chars"]


def test_the_document_is_one_line_whatever_the_text_holds(home: Home) -> None:
    text = "One is here.\u2028Two\u2029is\x85here.\x0bThree \u200bis\x0chere.\n"
    done = home.run("plan", put(home, "odd.txt", text), "--model", "fake", "--json")
    (line,) = done.stdout.splitlines()
    document = json.loads(line)
    assert document["source"]["chars"] == len(text)
    assert spoken(document).split() == ["One", "is", "here.", "Two", "is", "here.", "Three", "is", "here."]
    check(document)


def test_standard_input_and_several_files(home: Home) -> None:
    document = home.json("plan", "-", "--model", "fake", text=b"Hello there.")
    assert (document["source"]["name"], spoken(document)) == ("stdin.txt", "Hello there.")
    document = home.json("plan", "-", "--type", "md", "--model", "fake", text=b"# A\n\nOne.\n")
    assert document["source"]["kind"] == "md"
    put(home, "book.txt", SOURCES["book.txt"])
    put(home, "film.srt", SOURCES["film.srt"])
    plans = home.json("plan", "book.txt", "film.srt", "--model", "fake")["plans"]
    assert [plan["source"]["name"] for plan in plans] == ["book.txt", "film.srt"]
    one_bad = home.json("plan", "book.txt", "none.txt", "film.srt", "--model", "fake", code=2)["plans"]
    assert [[error["code"] for error in plan["errors"]] for plan in one_bad] == [[], ["missing"], []]
    assert one_bad[0] == plans[0]


def test_bad_lines_are_listed_and_the_good_ones_planned(home: Home) -> None:
    name = put(home, "set.jsonl", ITEMS)
    document = home.json("plan", name, "--model", "fake")
    assert [(error["line"], error["code"]) for error in document["errors"]] == [(2, "bad_json"), (3, "duplicate_id")]
    assert spoken(document) == "First item."
    assert [one["was"] for one in document["account"]["skipped"] if one["why"] == "bad_line"]
    check(document)
    done = home.run("plan", name, "--model", "fake")
    assert "error: line 2: " in done.stdout
    assert home.json("submit", name, "--model", "fake", "--dry-run", code=2)["error"]["problems"][0]["line"] == 2
    (job,) = home.json("submit", name, "--model", "fake", "--dry-run", "--skip-bad-lines")["plans"]
    assert job["segments"] == 1


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("empty.txt", b"", "no_text"),
        ("blank.txt", b" \n\t\n", "no_text"),
        ("stars.txt", b"* * *\n", "no_text"),
        ("picture.txt", b"\x89PNG\r\n\x1a\n" + bytes(64), "not_text"),
        ("broken.epub", b"PK\x03\x04 no archive", "bad_zip"),
        ("set.jsonl", b'{"id": "a"\n', "bad_json"),
        ("book.docx", b"Hello.", "unknown_kind"),
        ("missing.txt", None, "missing"),
    ],
)
def test_a_source_of_which_nothing_can_be_spoken(home: Home, name: str, data: bytes | None, code: str) -> None:
    if data is not None:
        put(home, name, data)
    document = home.json("plan", name, "--model", "fake", code=2)
    assert document["source"]["name"] == name
    assert document["chapters"] == []
    assert document["account"] == {"spoken_chars": 0, "replaced": [], "skipped": []}
    assert [error["code"] for error in document["errors"]] == [code]
    done = home.run("plan", name, "--model", "fake")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (("--skip", "poems"), "bibliography"),
        (("--skip", ""), "bibliography"),
        (("--keep", "numbers"), "note_marks"),
        (("--keep", "notes", "--skip", "notes"), "both"),
        (("--addresses", "shout"), "host, spell, drop"),
        (("--type", "pdf"), "epub"),
        (("--cast", "ANNA"), "ANNA=alice"),
        (("--voice", "nobody", "--model", "fake"), "tone"),
        (("--voice", "nobody", "--model", "piper"), "joe"),
        (("--model", "nothing"), "piper"),
    ],
)
def test_a_wrong_option_names_what_is_allowed(home: Home, words: tuple[str, ...], allowed: str) -> None:
    put(home, "good.txt", "Hello there.")
    error = home.json("plan", "good.txt", *words, code=2)["error"]
    assert error["code"] == "bad_option"
    assert allowed in error["message"]
    done = home.run("plan", "good.txt", *words)
    assert (done.returncode, done.stdout) == (2, "")


def test_an_encoding_that_was_named_is_used(home: Home) -> None:
    put(home, "old.txt", "Ein Gr\u00fc\u00dfchen.".encode("cp1250"))
    document = home.json("plan", "old.txt", "--model", "fake", "--encoding", "cp1250")
    assert "cp1250" in document["source"]["encoding"].replace("-", "")
    assert "Gr\u00fc\u00dfchen" in spoken(document)
    done = home.run("plan", "old.txt", "--model", "fake", "--encoding", "nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr


def test_a_lexicon_goes_before_everything_and_its_wrong_lines_are_named(home: Home) -> None:
    put(home, "good.txt", "Hello Worcester.")
    put(home, "words.tsv", "Worcester\tWooster\n")
    document = home.json("plan", "good.txt", "--model", "fake", "--lexicon", "words.tsv")
    assert spoken(document) == "Hello Wooster."
    assert [(one["was"], one["now"], one["why"]) for one in document["account"]["replaced"]] == [
        ("Worcester", "Wooster", "lexicon")
    ]
    put(home, "words.tsv", "Worcester\n")
    error = home.json("plan", "good.txt", "--model", "fake", "--lexicon", "words.tsv", code=2)["error"]
    assert (error["code"], error["problems"][0]["line"]) == ("bad_lexicon", 1)
    put(home, "words.tsv", b"\xff\xfe\xfa")
    assert "UTF-8" in home.json("plan", "good.txt", "--lexicon", "words.tsv", code=2)["error"]["message"]
    assert home.json("plan", "good.txt", "--lexicon", "none.tsv", code=2)["error"]["code"] == "missing"


def test_marks_and_cast_are_obeyed_only_when_asked(home: Home) -> None:
    put(home, "marks.txt", "One is here. [pause: 2s] [voice: tone-low] Two is here.\n")
    plain = home.json("plan", "marks.txt", "--model", "fake")
    assert "pause" in spoken(plain)
    marked = home.json("plan", "marks.txt", "--model", "fake", "--markup")
    assert spoken(marked) == "One is here. Two is here."
    assert "mark" in {one["why"] for one in marked["account"]["skipped"]}
    assert [one.get("voice") for one in marked["chapters"][0]["segments"]] == [None, "tone-low"]
    put(home, "script.txt", "ANNA: Did it land?\nBEN: It did.\nANNA: Good.\n")
    cast = home.json("plan", "script.txt", "--model", "fake", "--cast", "ANNA=tone,BEN=tone-low")
    assert spoken(cast) == "Did it land? It did. Good."
    assert [one["voice"] for one in cast["chapters"][0]["segments"]] == ["tone", "tone-low", "tone"]
    for document in (plain, marked, cast):
        check(document)
    wrong = ("script.txt", "--model", "fake", "--cast", "ANNA=tome,BEN=tone")
    (warning,) = home.json("plan", *wrong)["source"]["warnings"]
    assert "'tome' (did you mean 'tone'?)" in warning
    assert home.json("submit", *wrong, "--dry-run", code=2)["error"]["message"] == warning


def test_a_model_that_is_not_installed_can_be_planned_for(home: Home) -> None:
    put(home, "good.txt", "Hello there.")
    assert spoken(home.json("plan", "good.txt", "--model", "orpheus", "--voice", "leo")) == "Hello there."


def test_nothing_is_started_or_written(home: Home) -> None:
    put(home, "good.txt", "Hello there.")
    home.extra["TTS_BATCH_BROKER"] = "redis://127.0.0.1:1/0"
    assert home.run("plan", "good.txt").returncode == 0
    assert not home.data.exists()
    assert [path.name for path in home.work.iterdir()] == ["good.txt"]


def test_no_broker_and_no_device_is_even_loaded(home: Home) -> None:
    put(home, "good.txt", "Hello there.")
    code = """
import sys
from cli.app import app
try:
    app(["plan", "good.txt", "--json"], prog_name="tts-batch")
except SystemExit as done:
    assert done.code == 0
heavy = ("torch", "redis", "celery", "av")
print(",".join(name for name in heavy if name in sys.modules), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=home.work, env=home.environment
    )
    assert json.loads(done.stdout)["errors"] == []
    assert done.stderr.strip() == ""


def test_the_cases_are_accounted_for_from_outside(home: Home) -> None:
    paths = sorted(str(path) for path in CASES.glob("[0-9]*"))
    plans = home.json("plan", *paths, "--model", "fake", code=2)["plans"]
    assert [plan["source"]["name"] for plan in plans] == [Path(path).name for path in paths]
    for plan in plans:
        check(plan)
    silent = [plan["source"]["name"] for plan in plans if not plan["chapters"]]
    assert silent == ["28_empty.txt", "29_whitespace_only.txt"]
