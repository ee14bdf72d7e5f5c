"""A long text of our own for benchmarks: three chapters, made from sentence patterns and a word list, without digits.

`python -m tests.bench.long_text 360 > long.txt` writes that many sentences; the same number gives the same text.
"""

from __future__ import annotations

import random
import sys

PEOPLE = ("the captain", "her brother", "the baker", "an old sailor", "the teacher", "my neighbour", "the young doctor")
PLACES = ("harbour", "market", "garden", "library", "station", "kitchen", "valley", "lighthouse", "village", "bridge")
THINGS = (
    "lantern",
    "letter",
    "basket of apples",
    "silver key",
    "wooden box",
    "painted map",
    "heavy coat",
    "blue bottle",
)
DEEDS = ("carried", "found", "opened", "lost", "remembered", "repaired", "painted", "described")
WEATHER = (
    "rain had stopped",
    "wind came from the north",
    "sun was already low",
    "fog covered the road",
    "snow began to fall",
)
TIMES = ("In the morning", "After supper", "Before the storm", "On the second day", "Late in the evening", "At first")
FEELINGS = (
    "quietly",
    "with great care",
    "without a word",
    "for the last time",
    "as quickly as possible",
    "with a smile",
)
PATTERNS = (
    "{time}, {person} {deed} the {thing} near the {place}.",
    "The {weather}, and {person} walked {feeling} towards the {place}.",
    "Nobody in the {place} had ever seen a {thing} like that.",
    "{time} the {weather}, so they waited in the {place} until it was over.",
    '"Where did you leave the {thing}?" asked {person}, looking at the {place}.',
    "Between the {place} and the {place2} there was nothing but grass and stones.",
    "It took {person} most of the week, but the {thing} was finished {feeling}.",
    "When {person} came back from the {place}, the {thing} was gone.",
    "Every child knew the story of the {thing} and how {person2} {deed} it.",
    "The road to the {place} was long, and {person} {deed} the {thing} all the way.",
)
CHAPTERS = ("CHAPTER ONE", "CHAPTER TWO", "CHAPTER THREE")
SENTENCES_PER_PARAGRAPH = 4


def sentences(count: int) -> list[str]:
    """`count` sentences, the same ones for the same count."""
    chance = random.Random(count)
    made: list[str] = []
    while len(made) < count:
        person, person2 = chance.sample(PEOPLE, 2)
        place, place2 = chance.sample(PLACES, 2)
        words = {"person": person, "person2": person2, "place": place, "place2": place2}
        words |= {"thing": chance.choice(THINGS), "deed": chance.choice(DEEDS), "weather": chance.choice(WEATHER)}
        words |= {"time": chance.choice(TIMES), "feeling": chance.choice(FEELINGS)}
        sentence = chance.choice(PATTERNS).format(**words)
        made.append(sentence[0].upper() + sentence[1:] if sentence[0] != '"' else sentence)
    return made


def book(count: int) -> str:
    """A book of three chapters with `count` sentences."""
    made = sentences(count)
    share = -(-count // len(CHAPTERS))
    parts = ["Title: The Long Road\nAuthor: The tts-batch authors"]
    for number, heading in enumerate(CHAPTERS):
        mine = made[number * share : (number + 1) * share]
        parts.append(heading)
        parts += [
            " ".join(mine[start : start + SENTENCES_PER_PARAGRAPH])
            for start in range(0, len(mine), SENTENCES_PER_PARAGRAPH)
        ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(book(int(sys.argv[1])))
