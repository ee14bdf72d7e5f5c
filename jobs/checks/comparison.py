"""What a recogniser heard against what a take should say: the differences as figures, and which speak against it. Pure.

comparison = compare(spoken, transcript, language)
reasons = hearing_reasons(comparison)

Limits were measured with tiny.en, the worst of Whisper's models, on takes of Piper (`python -m tests.bench.hearing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from jobs.checks.aligning import Move, Step, aligned
from jobs.checks.words import by_characters, heard_units, text_units
from jobs.verdict import Reason

FEW_WORDS = 1.0
WORDS_FOR_ONE_MORE = 25
"""So many words may be missing, added or others: one, and one more for each 25 words of the text. Of 506 clean takes
seven had more; words were added in 190 of 200 that were said twice and in all 200 with babble at the end."""
CHARACTERS_FOR_A_WORD = 2
"""In scripts without spaces: what counts for words there counts for so many characters."""
LEAST_FOR_END = 3
"""In a text of fewer words the last one may be misheard altogether; in longer ones 2 of 506 clean takes ended so, and
178 of 200 that were cut."""
LEAST_REPEATED = 2
"""Words heard twice in a row that are so once in the text: no clean take, 165 of 200 that were said twice."""
COST = 1.5
COST_OF_A_WORD = 0.15
"""All differences together may cost so much, and so much more for each word: 4 of the clean takes cost more, 197 of
200 with the audio of another text."""
SURE_OF_LANGUAGE = 0.8
"""A recogniser that gives another language at least this probability means it. Not measured: a convention."""
_LEAST = 1e-6
"""Reasons are for scores that reach a limit; of some limits the score itself is allowed."""
_LETTERS_OF_A_WORD = 4
_LOUD = frozenset({Move.OTHER, Move.MISSING, Move.ADDED})


@dataclass(frozen=True, slots=True)
class Comparison:
    """Words of a text against those heard; in scripts without spaces (`characters`) all counts are of characters.

    `cost` is the sum of the differences: 1 for a word that is missing, added or another, less for one that is like it.
    `missing_run` and `added_run` are the longest stretches, `missing_end` the words after the last that was heard,
    `added_end` those heard after the last of the text; `repeated` the longest stretch that was heard twice in a row and
    is so only once in the text.
    """

    said: int
    heard: int
    same: int
    near: int
    other: int
    missing: int
    added: int
    cost: float
    missing_run: int
    added_run: int
    missing_end: int
    added_end: int
    repeated: int
    characters: bool

    @property
    def errors(self) -> int:
        """Words that are missing, added, or not the same."""
        return self.near + self.other + self.missing + self.added

    @property
    def error_rate(self) -> float:
        """Errors for each word of the text."""
        return self.errors / max(1, self.said)

    @property
    def unlikeness(self) -> float:
        """Cost for each word of the text."""
        return self.cost / max(1, self.said)


def compare(spoken: str, transcript: str, language: str) -> Comparison:
    """The differences, with the transcript's numbers read in the way that fits the text best."""
    said = text_units(spoken, language)
    characters = by_characters(language)
    found = [
        _comparison(said, heard, aligned(said, heard, sounds=not characters), characters=characters)
        for heard in heard_units(transcript, language)
    ]
    return min(found, key=lambda one: one.cost)


def _comparison(said: Sequence[str], heard: Sequence[str], steps: Sequence[Step], *, characters: bool) -> Comparison:
    def words(move: Move) -> int:
        return sum(max(step.said, step.heard) for step in steps if step.move is move)

    spots = _spots(said, heard, steps)
    last = spots[-1] if spots and steps[-1].move in _LOUD else _Spot()
    return Comparison(
        said=len(said),
        heard=len(heard),
        same=words(Move.SAME),
        near=words(Move.NEAR),
        other=words(Move.OTHER),
        missing=sum(spot.missing for spot in spots),
        added=sum(spot.added for spot in spots),
        cost=round(sum(step.cost for step in steps), 4),
        missing_run=max((spot.missing for spot in spots), default=0),
        added_run=max((spot.added for spot in spots), default=0),
        missing_end=last.missing + last.other,
        added_end=last.added,
        repeated=_repeated(said, heard),
        characters=characters,
    )


@dataclass(frozen=True, slots=True)
class _Spot:
    """One place where text and transcript differ: words that are others, missing and added."""

    other: int = 0
    missing: int = 0
    added: int = 0


def _spots(said: Sequence[str], heard: Sequence[str], steps: Sequence[Step]) -> list[_Spot]:
    """The places where they differ, in order.

    Where one word was heard as three ("between": "the point in") two are not added: what is missing or added beside
    others is as many words as the letters that there are fewer or more would make.
    """
    spots: list[_Spot] = []
    i = j = 0
    for loud, group in groupby(steps, key=lambda step: step.move in _LOUD):
        run = list(group)
        of_text, of_transcript = sum(step.said for step in run), sum(step.heard for step in run)
        if loud:
            more = len("".join(heard[j : j + of_transcript])) - len("".join(said[i : i + of_text]))
            spots.append(_spot([step.move for step in run], more / _LETTERS_OF_A_WORD))
        i, j = i + of_text, j + of_transcript
    return spots


def _spot(moves: Sequence[Move], words_more: float) -> _Spot:
    other, missing, added = (moves.count(move) for move in (Move.OTHER, Move.MISSING, Move.ADDED))
    if other:
        missing, added = min(missing, max(0, round(-words_more))), min(added, max(0, round(words_more)))
    return _Spot(other, missing, added)


def _repeated(said: Sequence[str], heard: Sequence[str]) -> int:
    """The longest n for which the transcript says n words twice in a row, and the text does not say them as often."""
    for length in range(len(heard) // 2, 0, -1):
        for start in range(len(heard) - 2 * length + 1):
            phrase = list(heard[start : start + length])
            if phrase == list(heard[start + length : start + 2 * length]) and not _contains(said, phrase * 2):
                return length
    return 0


def _contains(words: Sequence[str], phrase: Sequence[str]) -> bool:
    size = len(phrase)
    return any(list(words[start : start + size]) == list(phrase) for start in range(len(words) - size + 1))


def hearing_reasons(
    found: Comparison, *, language: str = "", guess: tuple[str, float] = ("", 0.0)
) -> tuple[Reason, ...]:
    """What speaks against a take; nothing: empty.

    `guess`: the base language that it sounded like with its probability, where the recogniser tells one; `language`:
    the one it should be in.
    """

    def told(count: int) -> str:
        return f"{count} {'character' if found.characters else 'word'}{'' if count == 1 else 's'}"

    unit = CHARACTERS_FOR_A_WORD if found.characters else 1
    many = unit * (FEW_WORDS + found.said / (unit * WORDS_FOR_ONE_MORE))
    most_cost = unit * COST + COST_OF_A_WORD * found.said
    end_limit = float(unit) if found.said >= LEAST_FOR_END * unit else found.said + 1.0
    checks = (
        ("missing", found.missing, many + _LEAST, f"of the text not heard: {told(found.missing)}"),
        ("end", found.missing_end, end_limit, f"not heard at the end of the text: {told(found.missing_end)}"),
        ("added", found.added, many + _LEAST, f"heard, but not in the text: {told(found.added)}"),
        ("tail", found.added_end, unit, f"heard after the end of the text: {told(found.added_end)}"),
        ("other", found.other, many + _LEAST, f"heard as others: {told(found.other)}"),
        ("repeated", found.repeated, LEAST_REPEATED * unit, f"heard twice in a row: {told(found.repeated)}"),
        (
            "unlike",
            found.cost,
            most_cost + _LEAST,
            f"unlike the text: {found.errors} differences in {told(found.said)}",
        ),
    )
    if not found.heard:
        return (Reason(check="heard_nothing", score=0.0, limit=1.0, text="nothing was heard"),) if found.said else ()
    reasons = [
        Reason(check=f"heard_{check}", score=round(score, 4), limit=round(limit, 4), text=text)
        for check, score, limit, text in checks
        if score >= limit
    ]
    if guess[0] and guess[0] != language and guess[1] >= SURE_OF_LANGUAGE:
        text = f"it sounds like language {guess[0]}, not {language}"
        reasons.append(Reason(check="heard_language", score=guess[1], limit=SURE_OF_LANGUAGE, text=text))
    return tuple(reasons)


def scores_of(found: Comparison, guess: tuple[str, float] = ("", 0.0)) -> dict[str, float]:
    """All figures of a comparison by name, for people and programs that draw other conclusions."""
    unit = "characters" if found.characters else "words"
    counts = {
        "said": found.said,
        "heard": found.heard,
        "near": found.near,
        "other": found.other,
        "missing": found.missing,
        "added": found.added,
        "missing_run": found.missing_run,
        "added_run": found.added_run,
        "missing_end": found.missing_end,
        "added_end": found.added_end,
        "repeated": found.repeated,
    }
    scores = {f"{name}_{unit}": float(count) for name, count in counts.items()}
    scores["unlikeness"] = round(found.unlikeness, 4)
    return scores | ({"language_probability": guess[1]} if guess[0] else {})
