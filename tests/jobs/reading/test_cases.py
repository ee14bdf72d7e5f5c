"""The cases: what `cases.tsv` says must hold of what is spoken. `written` is the text of sentences, `spoken` "
"the reading."""

import re

import pytest

from jobs.errors import BadSource
from jobs.plan import Break
from jobs.planning import PlanOptions
from jobs.reading import read_source
from jobs.reading.cleaning import clean, speakable
from jobs.reading.document import ParagraphKind
from jobs.spec import SourceKind
from tests.helpers_account import check_account
from tests.helpers_reading import case, expected, plan_of, planned_of, spoken

EXPECTED = expected()
READABLE = sorted(name for name, held in EXPECTED.items() if "error" not in held and not name.startswith(("30", "38")))


LICENCE_WORDS = ("Project", "stand-in", "licence", "CONTENTS", "Contents", "bones", "dusk")
"""What case 11 calls the words of its licence, and of all else that is not spoken."""


def planned(name, **more):
    return planned_of(case(name), name, **more)


def written(name):
    return [sentence.text for sentence in planned(name).sentences]


def labels(name, why):
    account = planned(name).plan.account
    return [(one.was, one.now) for one in (*account.replaced, *account.skipped) if one.why.value == why]


def paragraphs(name):
    document = read_source(case(name), name)
    return [paragraph for chapter in document.chapters for paragraph in chapter.paragraphs]


@pytest.mark.parametrize("name", [*READABLE, "38_prompts.jsonl"])
def test_every_character_has_its_fate(name):
    check_account(planned(name))


@pytest.mark.parametrize("name", [name for name in READABLE if "sentences" in EXPECTED[name]])
def test_sentence_counts(name):
    plan = plan_of(case(name), name)
    headings = sum(segment.break_after is Break.HEADING for segment in plan.segments)
    assert len(plan.segments) - headings == EXPECTED[name]["sentences"]
    assert len(written(name)) - headings == EXPECTED[name]["sentences"]


@pytest.mark.parametrize("name", [name for name in READABLE if "paragraphs" in EXPECTED[name]])
def test_paragraph_counts(name):
    assert len(paragraphs(name)) == EXPECTED[name]["paragraphs"]


@pytest.mark.parametrize("name", [name for name in READABLE if "chapters" in EXPECTED[name]])
def test_chapter_counts(name):
    assert len(plan_of(case(name), name).chapters) == EXPECTED[name]["chapters"]


@pytest.mark.parametrize("name", [name for name in READABLE if "encoding" in EXPECTED[name]])
def test_encodings(name):
    plan = plan_of(case(name), name)
    assert plan.source.encoding == EXPECTED[name]["encoding"]
    assert not re.search("[\ufffd\x00\x80-\x9f]", "".join(spoken(plan)))


@pytest.mark.parametrize("name", [name for name in READABLE if "must_keep_words" in EXPECTED[name]])
def test_words_that_must_be_kept(name):
    said = " ".join(written(name))
    assert [word for word in EXPECTED[name]["must_keep_words"] if word not in said] == []


@pytest.mark.parametrize("name", [name for name in READABLE if "must_not_speak" in EXPECTED[name]])
def test_words_that_must_not_be_spoken(name):
    said = " ".join(spoken(plan_of(case(name), name)))
    words = [*EXPECTED[name]["must_not_speak"], *(LICENCE_WORDS if name.startswith("11") else ())]
    assert [word for word in words if word in said] == []


@pytest.mark.parametrize("name", READABLE)
def test_what_must_not_reach_the_model(name):
    said = " ".join(spoken(plan_of(case(name), name)))
    assert [sign for sign in EXPECTED[name].get("must_not_reach_model", ()) if sign in said] == []
    assert not re.search("[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2060\ufeff\ufffd]", said)


@pytest.mark.parametrize("name", READABLE)
def test_no_segment_is_too_long_or_holds_nothing_to_say(name):
    for segment in plan_of(case(name), name).segments:
        assert 0 < len(segment.spoken) <= 200
        assert speakable(segment.spoken)
        assert segment.spoken == segment.spoken.strip()


@pytest.mark.parametrize("name", [name for name in READABLE if "max_segment_chars" in EXPECTED[name]])
def test_no_segment_is_longer_than_the_model_can(name):
    limit = EXPECTED[name]["max_segment_chars"]
    assert max(map(len, spoken(plan_of(case(name), name, max_chars=limit)))) <= limit


@pytest.mark.parametrize("name", [name for name in READABLE if "all_text_once" in EXPECTED[name]])
@pytest.mark.parametrize("max_chars", [40, 200, 400])
def test_all_text_is_spoken_once(name, max_chars):
    text = case(name).decode()
    assert "".join("".join(spoken(plan_of(case(name), name, max_chars=max_chars))).split()) == "".join(text.split())


@pytest.mark.parametrize("name", ["28_empty.txt", "29_whitespace_only.txt"])
def test_nothing_to_speak(name):
    with pytest.raises(BadSource) as caught:
        read_source(case(name), name)
    assert [problem.code for problem in caught.value.problems] == [EXPECTED[name]["error"]]


def test_01_abbreviations_are_words():
    said = " ".join(spoken(plan_of(case("01_titles_abbrev.txt"))))
    words = ("Doctor Amal", "Missus Penrose", "Saint Bride", "that is far", "for example pears", "Professor Lindqvist")
    assert [word for word in (*words, "Number nine", "Hale and Company", "Incorporated") if word not in said] == []


def test_02_initials_are_letters():
    said = spoken(plan_of(case("02_initials_us.txt")))
    assert said[0] == "J R Whitcombe sailed to the U S in May."
    assert said[3:] == ["Was it the U S?", "It was."]


def test_04_dates_and_times_are_words():
    planned = planned_of(case("04_dates_times.txt"))
    assert spoken(planned.plan) == [
        "The deed is dated the twelfth of March eighteen eighty-four.",
        "It was copied on May sixth, twenty twenty-four at fourteen thirty.",
        "The nineteen nineties were kinder.",
        "Call between nine oh five a m and five p m on March fourth, twenty twenty-one.",
        "From nineteen fourteen to eighteen the mill stood still.",
        "Room one thousand nine hundred five is not a year.",
    ]
    assert any("3/4/2021" in warning for warning in planned.plan.source.warnings), "a guess is never silent"
    british = spoken(plan_of(case("04_dates_times.txt"), language="en-GB"))
    assert "third of April" in british[3]


def test_05_money_and_units_are_words():
    assert spoken(plan_of(case("05_money_units.txt"))) == [
        ("It cost five dollars thirty, then one thousand two hundred pounds, then three point five million euros."),
        "The rope is twelve meters long and weighs four kilograms.",
        "Speed rose seven percent to thirty kilometers per hour.",
        "A loss of minus five is fine.",
        "He owed nine hundred yen.",
    ]


def test_07_addresses_and_paths_are_not_split():
    kept = written("07_urls_mail.txt")
    for atom in ("kit.lowe@example.org", "https://www.example.com/a/b_c?x=1&y=2", "notes.v2.txt", "C:\\data\\old"):
        assert any(atom in sentence for sentence in kept)
    assert ("https://www.example.com/a/b_c?x=1&y=2", "example dot com") in labels("07_urls_mail.txt", "address")


def test_08_both_ellipses_behave_alike_and_dashes_keep_their_neighbours():
    dots = case("08_ellipsis_dash.txt").decode()
    plan = plan_of(dots.replace("…", "..."))
    assert spoken(plan) == [text.replace("…", "...") for text in spoken(plan_of(dots))]
    assert spoken(plan_of(dots))[-3:] == ["Well... no.", "Who is it?", "Me."]
    assert written("08_ellipsis_dash.txt")[-2:] == ["- Who is it?", "- Me."]
    assert ("10–20", "ten to twenty") in labels("08_ellipsis_dash.txt", "range")
    assert labels("08_ellipsis_dash.txt", "punctuation") == [("- ", "")] * 2


def test_09_closing_quotes_stay_with_their_sentence():
    assert spoken(plan_of(case("09_quotes_nested.txt"))) == [
        "“Stay,” said Ines.",
        "“He told me, ‘Not yet.’”",
        "She left.",
        "“Moths? Here?”",
        "“Yes!” he shouted.",
        "«Vraiment?» she asked.",
        "„Genau“, sagte er.",
        'He said "fine."',
        "Then (as if asleep.) he nodded.",
    ]


def test_11_a_transcribed_book_is_only_its_text():
    plan = plan_of(case("11_gutenberg_wrapped.txt"))
    assert [chapter.title for chapter in plan.chapters] == ["The Gate", "The Well"]
    assert written("11_gutenberg_wrapped.txt") == [
        "I",
        "THE GATE",
        (
            "When the rain had stopped at last the two of them walked down to the gate, and neither said a word until "
            "Mr. Harlow lifted the latch."
        ),
        "It was very old.",
        "The wood had been mended with a well-known kind of glue.",
        "II",
        "THE WELL",
        "Nothing moved.",
    ]
    assert spoken(plan)[:2] == ["one", "The gate"]
    totals = plan.account.totals().skipped
    assert {"licence", "contents", "illustrations", "notes", "note_marks", "scene_break"} <= set(totals)
    assert labels("11_gutenberg_wrapped.txt", "notes") == [("[Footnote 1: Made from bones.]", "")]


def test_13_headings_and_paragraphs_without_full_stop_stay_apart():
    plan = plan_of(case("13_no_end_punct_headings.txt"))
    assert [(segment.spoken, segment.break_after) for segment in plan.segments] == [
        ("Chapter One", Break.HEADING),
        ("The Quiet House", Break.HEADING),
        ("Rain fell on the slates", Break.PARAGRAPH),
        ("The first guest arrived before dawn.", Break.CHAPTER),
    ]


def test_14_words_and_letters():
    held, plan = EXPECTED["14_all_caps.txt"], plan_of(case("14_all_caps.txt"))
    said = " ".join(spoken(plan))
    assert [word for word in held["letters"] if " ".join(word) not in said] == []
    assert [word for word in held["words"] if word.casefold() not in said.casefold()] == []
    assert spoken(plan)[0] == "The harbour at night"
    assert "This was the second day of the storm." in said


def test_15_lines_of_symbols_are_pauses():
    plan = plan_of(case("15_scene_breaks_symbols.txt"))
    assert [(segment.spoken, segment.break_after) for segment in plan.segments] == [
        ("He slept.", Break.SCENE),
        ("Morning came.", Break.SCENE),
        ("She rang twice.", Break.SCENE),
        ("No one came.", Break.CHAPTER),
    ]
    breaks = [was for was, _ in labels("15_scene_breaks_symbols.txt", "scene_break")]
    assert breaks == ["* * *", "***", "~~~", "---", "⁂", "#", "•"]
    assert labels("15_scene_breaks_symbols.txt", "punctuation") == [(" (!!!) ???", "")]


def test_16_what_is_left_out_is_labelled():
    whys = {why: labels("16_markdown_mix.md", why) for why in ("tables", "code", "images", "note_marks", "notes")}
    assert {why: len(found) for why, found in whys.items()} == dict.fromkeys(whys, 1)
    assert spoken(plan_of(case("16_markdown_mix.md"), "16_markdown_mix.md"))[2:4] == [
        "one. First step",
        "two. Second step",
    ]


def test_19_offsets_lead_back_to_the_source():
    data = case("19_invisible_chars.txt")
    plan = plan_of(data)
    text = data.decode()
    assert [segment.text for segment in plan.segments] == [
        clean(text[segment.source_start : segment.source_end])[0] for segment in plan.segments
    ]
    assert text[plan.segments[0].source_start :].startswith("zero\u200bwidth")
    assert {"invisible", "control"} <= set(plan.account.totals().skipped)
    assert plan.segments[0].spoken.startswith("zerowidth and softhyphen and wordjoiner and no break and inner bom")
    assert not re.search("[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2060\ufeff]", "".join(spoken(plan)))


def test_20_marks_and_line_ends_of_all_kinds():
    plan = plan_of(case("20_bom_crlf.txt"))
    assert spoken(plan)[0].split()[0] == EXPECTED["20_bom_crlf.txt"]["first_word"]


def test_25_a_sentence_without_spaces_is_cut_and_quotes_stay_closed():
    plan = plan_of(case("25_cjk_long_no_space.txt"), language="zh")
    assert spoken(plan)[-1] == "「行こう」と彼は言った。"
    assert plan.segments[0].break_after is Break.NONE


def test_26_each_paragraph_has_its_language():
    sentences = planned("26_rtl_mixed.txt").sentences
    languages = dict.fromkeys((sentence.paragraph, sentence.language) for sentence in sentences)
    assert [language for _, language in languages] == EXPECTED["26_rtl_mixed.txt"]["langs"]
    assert any("Python 3.12" in sentence.text for sentence in sentences)
    assert not re.search("[\u200e\u200f]", " ".join(sentence.spoken for sentence in sentences))


def test_30_a_huge_paragraph_keeps_all_its_sentences():
    sentences = [f"This is plain sentence number {number} of one very long paragraph." for number in range(1, 1501)]
    planned = planned_of(" ".join(sentences))
    assert [sentence.text for sentence in planned.sentences] == sentences
    assert spoken(planned.plan)[41] == "This is plain sentence number forty-two of one very long paragraph."


def test_31_cuts_in_an_endless_sentence_are_no_pauses():
    plan = plan_of(case("31_endless_sentence.txt"), max_chars=400)
    assert {segment.break_after for segment in plan.segments[:-1]} == {Break.NONE}
    assert " ".join(spoken(plan)) == case("31_endless_sentence.txt").decode().strip()


def test_33_tiny_sentences_are_joined_inside_their_paragraph():
    data = case("33_tiny_segments.txt")
    assert spoken(plan_of(data, pack_chars=60)) == [
        "Hi! Why? Yes. No. A. seven. “Oh.”",
        "Then a normal sentence follows here.",
    ]
    assert len(plan_of(data, pack_chars=0).segments) > 2


def test_35_real_repetition_is_kept():
    said = spoken(plan_of(case("35_repeats.txt")))
    assert said[-2:] == ["It was the end, the end, the end."] * 2


def test_37_a_cast_speaks_the_turns():
    name, cast = "37_dialogue_script.txt", {"ANNA": "alice", "BEN": "bob", "NARRATOR": "nora"}
    planned = planned_of(case(name), name, options=PlanOptions(cast=cast))
    check_account(planned)
    turns = [(segment.voice, segment.spoken) for segment in planned.plan.segments]
    assert turns == [
        ("alice", "Did it land?"),
        ("bob", "(laughs) It did."),
        ("nora", "They sat down."),
        ("alice", "Good."),
    ]
    assert len(turns) == EXPECTED[name]["turns"]
    skipped = [one.was.rstrip(": ") for one in planned.plan.account.skipped if one.why.value == "speaker"]
    assert sorted(set(skipped)) == sorted(EXPECTED[name]["speakers"])
    assert skipped == ["ANNA", "BEN", "NARRATOR", "ANNA"]
    assert planned.plan.source.warnings == ()


def test_37_without_a_cast_labels_are_text():
    assert written("37_dialogue_script.txt")[0] == "ANNA: Did it land?"
    assert len(paragraphs("37_dialogue_script.txt")) == EXPECTED["37_dialogue_script.txt"]["turns"]


def test_38_every_bad_line_is_named_at_once():
    document = read_source(case("38_prompts.jsonl"), "38_prompts.jsonl")
    found = {str(problem.line): problem.code for problem in document.problems}
    assert found == EXPECTED["38_prompts.jsonl"]["errors"]
    assert len(paragraphs("38_prompts.jsonl")) == EXPECTED["38_prompts.jsonl"]["valid"]


def test_38_the_good_lines_are_items_in_one_chapter():
    lines = case("38_prompts.jsonl").decode().splitlines()
    good = "\n".join(line for number, line in enumerate(lines, 1) if number not in {4, 5, 6})
    plan = plan_of(good, "prompts.jsonl")
    assert len(plan.chapters) == 1
    assert [(segment.item, segment.voice, segment.language) for segment in plan.segments] == [
        ("a.b.c-1", "v1", "en"),
        ("dir/x y", "v2", "en"),
        ("dup", None, "en"),
        ("last", None, "en"),
    ]
    assert spoken(plan)[1] == "Second line with newline."


def test_39_cues_keep_their_times():
    plan = plan_of(case("39_cues.srt"), "39_cues.srt")
    assert [segment.start_s for segment in plan.segments] == [0.0, 2.4, 36005.0]
    assert len(paragraphs("39_cues.srt")) == EXPECTED["39_cues.srt"]["cues"]
    assert spoken(plan)[0] == "Hello there."
    assert [paragraph.kind for paragraph in paragraphs("39_cues.srt")] == [ParagraphKind.CUE] * 3


def test_41_chapters_are_in_the_order_of_the_source():
    plan = plan_of(case("41_order_1_to_12.md"), "41_order_1_to_12.md")
    assert [chapter.title for chapter in plan.chapters] == [str(number) for number in range(1, 13)]
    assert written("41_order_1_to_12.md")[1::2] == [f"This is chapter {number}." for number in range(1, 13)]
    assert spoken(plan)[-1] == "This is chapter twelve."


def test_42_the_spine_is_the_order():
    plan = plan_of(case("42_spine_order.epub"), "42_spine_order.epub")
    assert [chapter.title for chapter in plan.chapters] == EXPECTED["42_spine_order.epub"]["order"]
    assert (plan.source.title, plan.source.author, plan.source.language) == ("Synthetic Book", "Test Author", "en")
    assert plan.source.kind is SourceKind.EPUB


def test_44_notes_are_not_spoken_and_ruby_once():
    name = "44_notes_and_ruby.epub"
    assert written(name) == ["Notes", "The tower fell.", "Water is H2O.", "二", "彼は今日来た。"]
    assert spoken(plan_of(case(name), name))[2] == "Water is H two O."
    assert labels(name, "page_numbers") == [("12", "")]
    assert labels(name, "ruby") == [("(きょう)", "")]
