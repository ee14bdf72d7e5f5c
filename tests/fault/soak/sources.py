"""What is submitted: sources of many kinds, made by a seed, each with what must become of it."""

from __future__ import annotations

import io
import json
import random
import zipfile
from dataclasses import dataclass, field

from jobs.drafts import Draft, Source, Wishes, make_draft
from jobs.kinds import OnBad, SubtitleFormat
from jobs.spec import AudioFormat, Checks, ModelOffer, Priority

WORDS = (
    *("the", "quiet", "river", "carried", "old", "letters", "past"),
    *("seven", "stone", "bridges", "while", "nobody", "counted", "them", "again"),
)


KINDS = ("book", "live", "items", "epub", "faulty", "poison", "voice")


@dataclass
class Sent:
    """One job: what was asked and what is expected of it."""

    kind: str
    source: Source
    options: dict[str, object]
    bad: int = 0
    """Segments that must fail, and no others may."""
    job: str = ""
    end: str = ""
    """What we did to it at last: cancel, purge; empty: let it end."""
    notes: list[str] = field(default_factory=list)

    def draft(self, offer: ModelOffer, store_url: str) -> Draft:
        """Plan it."""
        return make_draft(self.source, Wishes(offer=offer, store_url=store_url, **self.options))  # type: ignore[arg-type]


def make(kind: str, number: int, chance: random.Random) -> Sent:
    """A source of a kind; every number gives another text."""
    maker = {
        "book": _book,
        "live": _live,
        "items": _items,
        "epub": _epub,
        "faulty": _faulty,
        "poison": _poison,
        "voice": _voice,
    }[kind]
    sent = maker(number, chance)
    sent.kind = kind
    return sent


def _sentence(number: int, chance: random.Random, *, mark: str = "") -> str:
    words = [chance.choice(WORDS) for _ in range(chance.randint(5, 14))]
    slow = "[[fault:slow:s=0.003]] " if chance.random() < 0.4 else ""
    return f"{mark}{slow}{words[0].title()} {' '.join(words[1:])} {_spelled(number)}."


def _spelled(number: int) -> str:
    """The number in letters, so that no two texts are alike."""
    return " ".join("abcdefghij"[int(digit)] * 3 for digit in str(number))


def _chapters(number: int, chance: random.Random, count: int, sentences: int) -> str:
    parts = []
    for chapter in range(count):
        lines = [_sentence(number, chance) for _ in range(sentences)]
        parts.append(f"# Chapter {_spelled(chapter)}\n\n" + "\n\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _book(number: int, chance: random.Random) -> Sent:
    text = _chapters(number, chance, chance.randint(2, 4), chance.randint(6, 16))
    options = {"formats": (AudioFormat.M4B, AudioFormat.FLAC), "subtitles": (SubtitleFormat.SRT,)}
    return Sent("", Source(f"book-{number}.md", text.encode()), options)


def _live(number: int, chance: random.Random) -> Sent:
    text = _chapters(number, chance, 2, chance.randint(6, 12))
    return Sent("", Source(f"live-{number}.md", text.encode()), {"live": True, "formats": (AudioFormat.FLAC,)})


def _items(number: int, chance: random.Random) -> Sent:
    lines = [{"id": f"line {place}", "text": _sentence(number, chance)} for place in range(chance.randint(10, 40))]
    data = "\n".join(map(json.dumps, lines)).encode()
    return Sent("", Source(f"items-{number}.jsonl", data), {"priority": Priority.BULK})


def _epub(number: int, chance: random.Random) -> Sent:
    pages = ["".join(f"<p>{_sentence(number, chance)}</p>" for _ in range(8)) for _ in range(2)]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="p.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        )
        items = "".join(f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(2))
        book.writestr(
            "p.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
            f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Epub {number}</dc:title><dc:language>en'
            f'</dc:language></metadata><manifest>{items}</manifest><spine><itemref idref="c0"/><itemref idref="c1"/>'
            "</spine></package>",
        )
        for place, page in enumerate(pages):
            text = f'<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Part {place}</h1>{page}</body></html>'
            book.writestr(f"c{place}.xhtml", text)
    return Sent("", Source(f"epub-{number}.epub", data.getvalue()), {})


def _faulty(number: int, chance: random.Random) -> Sent:
    """Takes that fail half of the time, and some segments that can never be spoken."""
    bad = chance.randint(1, 2)
    marks = ["[[fault:error]] "] * bad
    marks += [f"[[fault:{chance.choice(('tail', 'mute', 'repeat', 'silence'))}:p=0.25]] " for _ in range(5)]
    marks += [""] * 12
    chance.shuffle(marks)
    lines = [{"id": f"line {place}", "text": _sentence(number, chance, mark=mark)} for place, mark in enumerate(marks)]
    checks = Checks(takes=12, on_bad=OnBad.KEEP)
    data = "\n".join(map(json.dumps, lines)).encode()
    return Sent("", Source(f"faulty-{number}.jsonl", data), {"checks": checks}, bad=bad)


def _poison(number: int, chance: random.Random) -> Sent:
    """One segment kills whoever speaks it."""
    lines = [{"id": f"line {place}", "text": _sentence(number, chance)} for place in range(8)]
    lines[3]["text"] = "[[fault:crash]] " + lines[3]["text"]
    data = "\n".join(map(json.dumps, lines)).encode()
    return Sent("", Source(f"poison-{number}.jsonl", data), {}, bad=1)


def _voice(number: int, chance: random.Random) -> Sent:
    """A few sentences for the real voice."""
    lines = [f"{' '.join(chance.choice(WORDS) for _ in range(6)).capitalize()}." for _ in range(4)]
    return Sent("", Source(f"voice-{number}.txt", "\n\n".join(lines).encode()), {"formats": (AudioFormat.FLAC,)})
