"""What is seen of a plan: the public form, rows and lines, all from one plan that is made by hand."""

from __future__ import annotations

import json

import pytest

from jobs.account import Account, Passage, Why
from jobs.errors import SourceProblem
from jobs.plan import Break, ChapterPlan, Plan, SegmentPlan, SentencePlan, SourceInfo
from jobs.plan_view import (
    chapter_rows,
    plan_document,
    problem_document,
    short_line,
    shown,
    sum_rows,
    sums,
    totals_line,
)
from jobs.planning import Planned
from jobs.reading.document import SourceFile
from jobs.spec import SourceKind

TEXT = "One.[1] It cost $5.30. & Two.\n" + "x" * 300
SKIPPED = (
    Passage(start=4, end=7, was="[1]", why=Why.NOTE_MARKS),
    Passage(start=29, end=30, was="\n", why=Why.WHITE_SPACE),
    Passage(start=30, end=330, was="x" * 200, why=Why.LICENCE),
)
REPLACED = (
    Passage(start=16, end=21, was="$5.30", why=Why.MONEY, now="five dollars thirty"),
    Passage(start=23, end=24, was="&", why=Why.SYMBOL, now="and"),
)
ACCOUNT = Account(chars=330, spoken_chars=20, replaced=REPLACED, skipped=SKIPPED)


def sentence(start: int, end: int, *, paragraph: int = 0, voice: str | None = None, chapter: int = 0) -> SentencePlan:
    text = TEXT[start:end]
    return SentencePlan(
        chapter=chapter, paragraph=paragraph, text=text, spoken=text.upper(), source_start=start, source_end=end,
        language="en", voice=voice,
    )  # fmt: skip


def segment(number: int, start: int, end: int, *, chapter: int = 0, voice: str | None = None) -> SegmentPlan:
    text = TEXT[start:end]
    return SegmentPlan(
        segment=number, chapter=chapter, text=text, spoken=text.upper(), source_start=start, source_end=end,
        break_after=Break.SENTENCE, language="en", voice=voice,
    )  # fmt: skip


def planned(*, files: tuple[SourceFile, ...] = (), problems: tuple[SourceProblem, ...] = ()) -> Planned:
    source = SourceInfo(
        name="b.md", kind=SourceKind.MARKDOWN, sha256="00", chars=330, encoding="utf-8", title="T", author="A",
        language="en", warnings=("odd",),
    )  # fmt: skip
    plan = Plan(
        source=source,
        chapters=(ChapterPlan(chapter=0, title="First", segments=2), ChapterPlan(chapter=1, title="", segments=1)),
        segments=(segment(0, 0, 4), segment(1, 8, 22, voice="bob"), segment(2, 25, 29, chapter=1)),
        account=ACCOUNT,
    )
    sentences = (sentence(0, 4), sentence(8, 22, paragraph=1, voice="bob"), sentence(25, 29, chapter=1))
    return Planned(plan, sentences, TEXT, files, problems)


def test_the_public_form():
    document = plan_document(planned(problems=(SourceProblem("bad_json", "no", 6), SourceProblem("no_text", "none"))))
    assert json.loads(json.dumps(document)) == document
    assert document["source"] == {
        "name": "b.md", "kind": "md", "chars": 330, "encoding": "utf-8", "warnings": ["odd"], "title": "T",
        "author": "A", "language": "en",
    }  # fmt: skip
    first, second = document["chapters"]
    assert first == {
        "title": "First",
        "paragraphs": [
            {"sentences": [{"text": "One.", "spoken": "ONE.", "source": [0, 4], "lang": "en"}]},
            {
                "sentences": [
                    {
                        "text": "It cost $5.30.", "spoken": "IT COST $5.30.", "source": [8, 22], "lang": "en",
                        "voice": "bob",
                    }
                ]
            },
        ],
        "segments": [
            {"index": 0, "spoken": "ONE.", "source": [0, 4]},
            {"index": 1, "spoken": "IT COST $5.30.", "source": [8, 22], "voice": "bob"},
        ],
    }  # fmt: skip
    assert [one["index"] for one in second["segments"]] == [2]
    assert document["errors"] == [
        {"line": 6, "code": "bad_json", "message": "no"},
        {"code": "no_text", "message": "none"},
    ]


def test_the_account_of_the_form_has_whole_texts_and_adds_up():
    account = plan_document(planned())["account"]
    assert account["replaced"][0] == {
        "source": [16, 21],
        "was": "$5.30",
        "now": "five dollars thirty",
        "why": "money",
    }
    assert account["skipped"][2] == {"source": [30, 330], "was": "x" * 300, "why": "licence"}
    ranges = [one["source"] for one in (*account["replaced"], *account["skipped"])]
    assert account["spoken_chars"] + sum(end - start for start, end in ranges) == 330


def test_parts_of_a_source_of_several_files_name_theirs():
    document = plan_document(planned(files=(SourceFile(0, "a.xhtml"), SourceFile(8, "b.xhtml"), SourceFile(25, "c"))))
    first, second = document["chapters"]
    assert [one["sentences"][0]["file"] for one in first["paragraphs"]] == ["a.xhtml", "b.xhtml"]
    assert [one["file"] for one in second["segments"]] == ["c"]
    assert [one["file"] for one in document["account"]["skipped"]] == ["a.xhtml", "c", "c"]
    assert [one["file"] for one in document["account"]["replaced"]] == ["b.xhtml", "b.xhtml"]


@pytest.mark.parametrize(("kind", "shown_kind"), [(SourceKind.TXT, "txt"), (None, "")])
def test_a_source_without_anything_has_the_same_form(kind, shown_kind):
    document = problem_document("a.txt", kind, [SourceProblem("no_text", "none")])
    good = plan_document(planned())
    assert document.keys() == good.keys()
    assert document["source"].keys() == good["source"].keys()
    assert document["account"].keys() == good["account"].keys()
    assert (document["chapters"], document["source"]["kind"]) == ([], shown_kind)
    assert document["errors"] == [{"code": "no_text", "message": "none"}]


def test_rows_of_chapters():
    assert chapter_rows(planned(), chars_per_s=1.0) == [
        ("1", "First", "2", "2", "2", "18", "0:18"),
        ("2", "", "1", "1", "1", "4", "0:04"),
    ]


def test_rows_of_sums_begin_with_what_a_listener_may_miss():
    assert [(one.why, one.chars) for one in sums(SKIPPED)] == [
        (Why.LICENCE, 300),
        (Why.NOTE_MARKS, 3),
        (Why.WHITE_SPACE, 1),
    ]
    rows = sum_rows(SKIPPED)
    assert rows[0][:3] == ("licence", "1", "300")
    assert rows[0][3].startswith('"xxx')
    assert rows[0][3].endswith('…"')
    assert rows[2] == ("white_space", "1", "1", '"\\n"')
    assert sum_rows(REPLACED)[0] == ("money", "1", "5", '"$5.30" -> "five dollars thirty"')


def test_examples_are_few_and_each_is_another():
    many = [Passage(start=n, end=n + 1, was=was, why=Why.NUMBER, now=f"n{was}") for n, was in enumerate("11123456")]
    ((_, number, chars, examples),) = sum_rows(many)
    assert (number, chars) == ("8", "8")
    assert examples == '"1" -> "n1", "2" -> "n2", "3" -> "n3", …'


def test_every_passage_can_be_shown():
    assert sum_rows(SKIPPED, everything=True) == [
        ("note_marks", "4-7", "3", '"[1]"'),
        ("white_space", "29-30", "1", '"\\n"'),
        ("licence", "30-330", "300", f'"{"x" * 200}"'),
    ]


def test_the_totals_add_up():
    assert totals_line(ACCOUNT) == "330 characters: 20 spoken as they stand, 6 replaced, 304 skipped"


def test_one_line_names_what_a_listener_may_miss():
    assert short_line(ACCOUNT) == (
        "not spoken: licence, note mark (303 characters); replaced: amount of money, symbol; see `tts-batch plan`"
    )
    several = [Passage(start=n, end=n + 1, was="1", why=Why.NOTE_MARKS) for n in range(0, 2400, 2)]
    numbers = [
        Passage(start=n, end=n + 1, was="1", why=why, now="one")
        for n, why in enumerate([Why.NUMBER, Why.DATE, Why.DATE, Why.TIME, Why.UNIT, Why.YEAR, Why.RANGE])
    ]
    account = Account(chars=9999, spoken_chars=1, skipped=tuple(several), replaced=tuple(numbers))
    line = short_line(account)
    assert line.startswith("not spoken: 1,200 note marks (1,200 characters); replaced: 2 dates, ")
    assert ", 2 more;" in line


def test_of_signs_that_nobody_hears_nothing_is_said():
    silent = Account(chars=9, spoken_chars=8, skipped=(Passage(start=0, end=1, was="*", why=Why.MARKUP),))
    assert short_line(silent) == ""
    assert short_line(Account(chars=9, spoken_chars=9)) == ""


@pytest.mark.parametrize(
    ("text", "line"), [("a b", "a b"), ("a\nb", "a\\nb"), ("\x1b[2J", "\\x1b[2J"), ("\u202eé", "\\u202eé")]
)
def test_texts_cannot_do_anything_to_a_terminal(text, line):
    assert shown(text) == line
