"""Sentences in segments: cut where too long, joined where short."""

from jobs.plan import Break
from jobs.reading.splitting.segments import segment_pieces
from jobs.reading.splitting.sentences import sentence_spans


def segments(text, *, max_chars=60, pack_chars=0, spans=None):
    found = segment_pieces(text, spans or sentence_spans(text, "en"), max_chars=max_chars, pack_chars=pack_chars)
    return [text[piece.start : piece.end].strip() for piece in found]


def test_each_sentence_is_one_without_packing():
    assert segments("Hi! Why? Because it rained all day.") == ["Hi!", "Why?", "Because it rained all day."]


def test_neighbours_are_joined_up_to_the_wanted_length():
    text = "It rained all day. Nobody came by. The cat slept on."
    assert segments(text, pack_chars=40) == ["It rained all day. Nobody came by.", "The cat slept on."]


def test_tiny_sentences_join_a_neighbour():
    text = "It rained all the long day and the night too. Yes. She was gone by then, he said."
    assert segments(text, max_chars=80, pack_chars=30) == [
        "It rained all the long day and the night too. Yes.",
        "She was gone by then, he said.",
    ]


def test_the_spans_given_are_the_sentences():
    text = "One two. Three four. "
    assert segments(text, spans=[(0, len(text))]) == ["One two. Three four."]
    assert segments(text, spans=[(0, 4), (4, 9), (9, len(text))]) == ["One", "two.", "Three four."]


def test_what_says_nothing_joins_what_does():
    text = "Stop it. ??? !!!"
    assert segments(text, spans=[(0, 9), (9, 13), (13, 16)]) == ["Stop it. ??? !!!"]


def test_no_paragraph_gives_no_segment():
    assert segment_pieces("", [], max_chars=10, pack_chars=0) == []


def test_a_cut_is_told_from_an_end():
    text = "One two three four, five six seven eight. Nine."
    found = segment_pieces(text, sentence_spans(text, "en"), max_chars=25, pack_chars=0)
    assert [piece.after for piece in found] == [Break.CLAUSE, Break.SENTENCE, Break.SENTENCE]
