"""How long a plan takes, by kind and size of source: that it grows no faster than the source, and what a book takes.

python -m tests.bench.reading [--json]

Every row is one process' time on one core; `x 10` is the ratio to the row above, for ten times the characters.
"""

from __future__ import annotations

import argparse
import json
import random
import time

from jobs.reading import kind_of
from tests.fault import test_reading_fuzz as fuzz
from tests.helpers_account import check_account
from tests.helpers_reading import epub, planned_of, xhtml

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
PAGE_CHARS = 1_900
"""Characters of a printed page of a novel."""
VOCABULARY = (
    "the of and to in a river gate lantern morning walked said quietly because water old house children street window "
    "never again looked well-known pears winter table letter behind garden without among shadows, together; answered"
)
ATOMS = (
    "Mr. Harlow",
    "Dr. Penrose",
    "1884",
    "12",
    "$5.30",
    "e.g.",
    "St. Bride's",
    "9:05 a.m.",
    "Chapter IV",
    "No. 9",
    "BBC",
)
"""What needs a rule: in one sentence of six in prose, in every one where the text is dense."""


def prose(chars: int, *, seed: int = 1, paragraph_words: int = 90, dense: bool = False) -> str:
    """Text of about `chars` characters; the same for the same seed."""
    draw = random.Random(seed)
    vocabulary = VOCABULARY.split()
    paragraphs: list[str] = []
    size = 0
    while size < chars:
        sentences, left = [], paragraph_words
        while left > 0:
            words = draw.choices(vocabulary, k=draw.randint(5, 18))
            left -= len(words)
            if dense or draw.random() < 1 / 6:
                words.insert(draw.randint(1, len(words)), draw.choice(ATOMS))
            sentences.append(f"{words[0].capitalize()} {' '.join(words[1:])}{draw.choice('.....?!')}")
        paragraphs.append(" ".join(sentences))
        size += len(paragraphs[-1]) + 2
    return "\n\n".join(paragraphs)[:chars]


def book(pages: int) -> bytes:
    """An EPUB of a novel: chapters of about twelve pages with notes, page marks and a copyright page."""
    files: dict[str, str | bytes] = {
        "copyright.xhtml": xhtml('<section epub:type="copyright-page"><p>All rights reserved.</p></section>')
    }
    for chapter in range(max(1, pages // 12)):
        text = prose(12 * PAGE_CHARS, seed=chapter).split("\n\n")
        body = "".join(
            f'<span epub:type="pagebreak" title="{n}">{n}</span>'
            f'<p>{p}<a epub:type="noteref" href="#n{n}"><sup>{n}</sup></a></p>'
            for n, p in enumerate(text)
        )
        notes = "".join(f'<aside epub:type="footnote" id="n{n}"><p>A note.</p></aside>' for n in range(len(text)))
        files[f"c{chapter:03}.xhtml"] = xhtml(f"<h1>Chapter {chapter + 1}</h1>{body}{notes}")
    return epub(files)


def sources(chars: int) -> dict[str, str]:
    """One source of each shape."""
    text = prose(chars)
    return {
        "prose.txt": text,
        "dense.txt": prose(chars, dense=True),
        "one_paragraph.txt": text.replace("\n\n", " "),
        "no_marks.txt": ("and the river went on " * (chars // 22 + 1))[:chars],
        "dropped_signs.txt": "~ " * (chars // 2 - 3) + "word.",
        "prose.md": text,
        "prose.html": "<p>" + text.replace("\n\n", "</p>\n<p>") + "</p>",
        "items.jsonl": "".join(
            json.dumps({"id": str(n), "text": p}) + "\n"
            for n, p in enumerate(prose(chars, paragraph_words=30).split("\n\n"))
        ),
    }


def measure(data: str | bytes, name: str) -> dict[str, float | str | int]:
    """Plan one source and check its account."""
    start_s = time.process_time()
    planned = planned_of(data, name, max_chars=300)
    seconds = time.process_time() - start_s
    check_account(planned)
    return {
        "source": name,
        "kind": kind_of(name).value,
        "chars": len(planned.text),
        "segments": len(planned.plan.segments),
        "plan_s": round(seconds, 3),
        "chars_per_s": round(len(planned.text) / seconds),
    }


def hostile() -> dict[str, float | str | int]:
    """The slowest of the 10,000 hostile sources of `tests/fault/test_reading_fuzz.py`."""
    names = list(fuzz.SEEDS)
    slowest_s = 0.0
    for seed in range(fuzz.INPUTS):
        draw, name = random.Random(seed), names[seed % len(names)]
        data = fuzz.mutated(fuzz.SEEDS[name], draw) if seed < fuzz.MUTATED else fuzz.noise(draw)
        start_s = time.process_time()
        fuzz.outcome(data, name)
        slowest_s = max(slowest_s, time.process_time() - start_s)
    return {"source": f"{fuzz.INPUTS} hostile ones", "slowest_s": round(slowest_s, 3)}


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="largest source in characters")
    options = parser.parse_args()
    planned_of("Warm up: 12 March 1884, $5.30, Dr. Who.")  # imports and tables
    rows: list[dict[str, float | str | int]] = []
    for name in sources(1000):
        last_s = 0.0
        for chars in (size for size in SIZES if size <= options.largest):
            row = measure(sources(chars)[name], name)
            row["x 10"] = round(float(row["plan_s"]) / last_s, 1) if last_s else 0.0
            last_s = float(row["plan_s"])
            rows.append(row)
    rows.append({**measure(book(300), "book.epub"), "x 10": 0.0})
    rows.append(hostile())
    if options.json:
        print(json.dumps({"rows": rows}))
        return
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
