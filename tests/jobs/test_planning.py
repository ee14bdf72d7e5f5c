"""From a document to a plan, and from a plan to tasks."""

import dataclasses

import pytest

from jobs.errors import BadOption, BadSource
from jobs.narration import Limits
from jobs.plan import Break, take_seed
from jobs.planning import Origin, PlanOptions, build_plan
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind
from jobs.speaking.base import Addresses
from jobs.speaking.speaker import SpeakingOptions
from jobs.spec import JobSpec, SourceKind
from jobs.tasks import tasks_of
from tests.helpers_account import check_account
from tests.helpers_reading import plan_of, planned_of, spoken

SPEC = JobSpec(
    source_name="x.txt",
    source_kind=SourceKind.TXT,
    model="piper",
    voice="joe",
    language="en",
    voice_revision="r1",
    numerics="n1",
    store_url="file:///store",
    item_voices={"ann": "r2"},
    seed=5,
)
ITEMS = (
    '{"id": "a", "text": "Same text."}\n{"id": "b", "text": "Same text.", "voice": "ann"}\n'
    '{"id": "c", "text": "Same text.", "seed": 6}\n{"id": "d", "text": "Same text."}\n'
)


def breaks(text, name="book.txt", **limits):
    return [(segment.spoken, segment.break_after) for segment in plan_of(text, name, **limits).segments]


def body(text, kind=ParagraphKind.BODY):
    return Paragraph(kind, text, range(len(text)))


def document(*chapters):
    """The chapters with their paragraphs one after the other in the source."""
    pieces, made, at = [], [], 0
    for number, paragraphs in enumerate(chapters):
        placed = []
        for paragraph in paragraphs:
            placed.append(dataclasses.replace(paragraph, offsets=range(at, at + len(paragraph.text))))
            pieces.append(paragraph.text)
            at += len(paragraph.text) + 1
        made.append(Chapter(f"c{number}", tuple(placed)))
    return Document("T", "A", "en", tuple(made), "\n".join(pieces), "utf-8")


def build(made, **limits):
    planned = build_plan(
        made,
        Origin("x.txt", SourceKind.TXT, "d"),
        language="en",
        limits=Limits(**({"max_chars": 100, "pack_chars": 0} | limits)),
    )
    check_account(planned)
    return planned.plan


def test_what_stands_after_each_segment():
    text = "CHAPTER I\n\nOne. Two.\n\nThree.\n\n* * *\n\nFour.\n\nCHAPTER II\n\nFive."
    assert breaks(text) == [
        ("Chapter one", Break.HEADING),
        ("One.", Break.SENTENCE),
        ("Two.", Break.PARAGRAPH),
        ("Three.", Break.SCENE),
        ("Four.", Break.CHAPTER),
        ("Chapter two", Break.HEADING),
        ("Five.", Break.CHAPTER),
    ]


def test_cuts_inside_a_sentence_say_what_they_cut_at():
    assert breaks("one two three, four five six seven", max_chars=20) == [
        ("one two three,", Break.CLAUSE),
        ("four five six seven", Break.CHAPTER),
    ]
    assert breaks("one two three four five six seven", max_chars=20) == [
        ("one two three four", Break.NONE),
        ("five six seven", Break.CHAPTER),
    ]


def test_short_sentences_are_joined_up_to_the_packing_length_only():
    sentences = ["The first one is here.", "The second one is here.", "The third one is here.", "The last one is."]
    text = " ".join(sentences)
    assert spoken(plan_of(text, pack_chars=0)) == sentences
    assert spoken(plan_of(text, pack_chars=44)) == [*sentences[:2], " ".join(sentences[2:])]
    assert spoken(plan_of(text, pack_chars=46)) == [" ".join(sentences[:2]), " ".join(sentences[2:])]
    assert spoken(plan_of(text, pack_chars=500, max_chars=70)) == [" ".join(sentences[:3]), sentences[3]]


def test_a_tiny_rest_joins_its_neighbour_beyond_the_packing_length():
    assert spoken(plan_of("This is a sentence. No.", pack_chars=19)) == ["This is a sentence. No."]
    assert spoken(plan_of("No. This is a sentence.", pack_chars=19)) == ["No. This is a sentence."]
    assert spoken(plan_of("This is a sentence.\n\nNo.", pack_chars=19)) == ["This is a sentence.", "No."]
    assert spoken(plan_of("This is a sentence. No.", pack_chars=19, max_chars=20)) == ["This is a sentence.", "No."]


def test_headings_are_never_joined_or_split_when_they_fit():
    text = "Chapter 1. The Gate\n\nHi. It is."
    assert spoken(plan_of(text, pack_chars=100)) == ["Chapter one. The Gate", "Hi. It is."]


def test_segments_and_chapters_are_numbered_in_order():
    plan = plan_of("Chapter 1\n\nOne. Two.\n\nChapter 2\n\nThree.")
    assert [segment.segment for segment in plan.segments] == list(range(5))
    assert [segment.chapter for segment in plan.segments] == [0, 0, 0, 1, 1]
    assert [(chapter.chapter, chapter.title, chapter.segments) for chapter in plan.chapters] == [
        (0, "Chapter 1", 3),
        (1, "Chapter 2", 2),
    ]


def test_chapters_without_speech_are_left_out():
    made = document((body("***"),), (body("One."), body("---", ParagraphKind.SCENE_BREAK)), (), (body("Two."),))
    plan = build(made)
    assert [(chapter.chapter, chapter.title) for chapter in plan.chapters] == [(0, "c1"), (1, "c3")]
    assert [segment.break_after for segment in plan.segments] == [Break.CHAPTER, Break.CHAPTER]


def test_nothing_to_speak():
    with pytest.raises(BadSource, match=r"x\.txt") as caught:
        build(document((body("…"),), ()))
    assert caught.value.problems[0].code == "no_text"


def test_the_source_is_described():
    made = dataclasses.replace(document((body("One."),)), cover=b"c", cover_type="image/png", warnings=("w",))
    source = build(made).source
    assert (source.name, source.sha256, source.chars, source.encoding) == ("x.txt", "d", 4, "utf-8")
    assert (source.title, source.author, source.language) == ("T", "A", "en")
    assert (source.warnings, source.cover_type) == (("w",), "image/png")


def test_declared_languages_of_paragraphs_do_not_go_before_the_jobs():
    planned = planned_of("<p lang=fr>Un. Deux.", "x.html", language="en")
    assert {segment.language for segment in planned.plan.segments} == {"en"}
    assert {sentence.language for sentence in planned.sentences} == {"fr"}


def test_the_job_s_own_form_of_a_language_is_kept():
    planned = planned_of("<p lang=en>On 3/4/2021.<p lang=en-GB>Yes.", "x.html", language="en-GB")
    assert {sentence.language for sentence in planned.sentences} == {"en-GB"}


def part(text, **more):
    return Paragraph(ParagraphKind.BODY, text, range(len(text)), **more)


def test_parts_of_one_paragraph_are_told_by_what_stands_between_them():
    parts = (
        part("One,", voice="ann"),
        part("two.", continues=True, pause_s=1.5),
        part("Three", continues=True),
        part("four.", continues=True, voice="bob"),
        part("Next."),
    )
    planned = build_plan(
        document(parts), Origin("x.txt", SourceKind.TXT, "d"), language="en", limits=Limits(max_chars=99, pack_chars=0)
    )
    assert [(s.spoken, s.voice, s.break_after, s.pause_s) for s in planned.plan.segments] == [
        ("One,", "ann", Break.CLAUSE, None),
        ("two.", None, Break.SENTENCE, 1.5),
        ("Three", None, Break.NONE, None),
        ("four.", "bob", Break.PARAGRAPH, None),
        ("Next.", None, Break.CHAPTER, None),
    ]
    assert [sentence.paragraph for sentence in planned.sentences] == [0, 0, 0, 0, 1]


def test_the_pause_of_a_paragraph_that_is_not_spoken_is_kept():
    text = "Hello.\n\nhttps://example.com\n\n[pause: 5s]\n\nBye."
    options = PlanOptions(markup=True, speaking=SpeakingOptions(addresses=Addresses.DROP))
    planned = planned_of(text, options=options)
    assert [(s.spoken, s.pause_s, s.break_after) for s in planned.plan.segments] == [
        ("Hello.", 5.0, Break.PARAGRAPH),
        ("Bye.", None, Break.CHAPTER),
    ]
    check_account(planned)


def test_only_ornaments_are_a_scene_break():
    planned = planned_of("One.\n\n?!\n\nTwo.\n\n😀\n\nThree.\n\n* * *\n\nFour.")
    assert [segment.break_after for segment in planned.plan.segments] == [
        Break.PARAGRAPH,
        Break.PARAGRAPH,
        Break.SCENE,
        Break.CHAPTER,
    ]
    labels = {passage.was: passage.why.value for passage in planned.plan.account.skipped}
    assert (labels["?!"], labels["😀"], labels["* * *"]) == ("punctuation", "emoji", "scene_break")
    check_account(planned)


def test_one_language_is_one_take_however_it_is_written():
    lines = "".join(
        f'{{"id": "{n}", "text": "Same.", "lang": "{tag}"}}\n' for n, tag in enumerate(("en-us", "en_US", "en"))
    )
    tasks = tasks_of(planned_of(lines, "x.jsonl", language="en-US").plan, SPEC, "j")
    assert {(task.language, task.take) for task in tasks} == {("en-US", tasks[0].take)}


def test_marks_and_casts_are_obeyed_only_when_asked_for():
    text = "[voice: ann] Hello. [pause: 2s] Bye.\n\nBEN: Yes."
    assert spoken(plan_of(text))[0].startswith("[voice")
    planned = planned_of(text, options=PlanOptions(markup=True, cast={"ben": "bob"}))
    assert [(s.spoken, s.voice, s.pause_s) for s in planned.plan.segments] == [
        ("Hello.", "ann", 2.0),
        ("Bye.", "ann", None),
        ("Yes.", "bob", None),
    ]
    check_account(planned)


@pytest.mark.parametrize("limits", [{"max_chars": 0}, {"max_chars": -5}, {"pack_chars": -1}])
def test_limits_that_mean_nothing(limits):
    with pytest.raises(BadOption, match="must be 1 or more"):
        Limits(**({"max_chars": 10, "pack_chars": 0} | limits))


def test_a_paragraph_needs_an_offset_for_each_character():
    with pytest.raises(ValueError, match="3 characters and 2 offsets"):
        Paragraph(ParagraphKind.BODY, "abc", range(2))


def test_tasks_carry_what_a_worker_needs():
    plan = plan_of("One. Two.")
    tasks = tasks_of(plan, SPEC.model_copy(update={"live": True, "speed": 1.5}), "job-1")
    assert [(task.job, task.segment, task.chapter, task.spoken) for task in tasks] == [
        ("job-1", 0, 0, "One."),
        ("job-1", 1, 0, "Two."),
    ]
    task = tasks[0]
    assert (task.model, task.voice, task.language, task.speed) == ("piper", "joe", "en", 1.5)
    assert (task.seed, task.store_url, task.live) == (take_seed(5, "One."), "file:///store", True)


def test_an_item_s_own_voice_and_seed_go_before_the_job_s():
    one, two, three, four = tasks_of(plan_of(ITEMS, "x.jsonl"), SPEC, "j")
    assert [task.voice for task in (one, two, three, four)] == ["joe", "ann", "joe", "joe"]
    assert one.seed == two.seed == four.seed == take_seed(5, "Same text.")
    assert three.seed == take_seed(6, "Same text.")
    assert one.take == four.take
    assert len({one.take, two.take, three.take}) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"voice": "ann"},
        {"voice_revision": "r9"},
        {"numerics": "n2"},
        {"speed": 1.1},
        {"seed": 7},
    ],
)
def test_whatever_changes_the_sound_changes_the_take(change):
    plan = plan_of("One.")
    (before,), (after,) = tasks_of(plan, SPEC, "j"), tasks_of(plan, SPEC.model_copy(update=change), "j")
    assert before.take != after.take


@pytest.mark.parametrize("change", [{"store_url": "file:///b"}, {"live": True}, {"source_name": "y.txt"}])
def test_what_does_not_change_the_sound_keeps_the_take(change):
    plan = plan_of("One.")
    (before,), (after,) = tasks_of(plan, SPEC, "j"), tasks_of(plan, SPEC.model_copy(update=change), "k")
    assert before.take == after.take


def test_the_language_and_the_revision_of_an_item_s_voice_are_part_of_its_take():
    first = tasks_of(plan_of(ITEMS, "x.jsonl"), SPEC, "j")
    other = tasks_of(plan_of(ITEMS, "x.jsonl"), SPEC.model_copy(update={"item_voices": {"ann": "r3"}}), "j")
    assert [one.take == two.take for one, two in zip(first, other, strict=True)] == [True, False, True, True]
    german = tasks_of(plan_of(ITEMS, "x.jsonl", language="de"), SPEC, "j")
    assert all(one.take != two.take for one, two in zip(first, german, strict=True))


def test_a_take_does_not_hang_on_its_place():
    alone, after = plan_of("The end."), plan_of("Something new. The end.")
    assert tasks_of(alone, SPEC, "j")[0].take == tasks_of(after, SPEC, "j")[1].take


def test_a_voice_without_revision_is_refused():
    with pytest.raises(BadOption, match="asks for voice 'ann'; this job knows joe"):
        tasks_of(plan_of(ITEMS, "x.jsonl"), SPEC.model_copy(update={"item_voices": {}}), "j")
