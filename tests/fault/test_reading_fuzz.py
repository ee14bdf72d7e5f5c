"""Hostile sources: random bytes and mutated books, pages, items and subtitles end in a clear error or in a right plan.

The same inputs are tried in every run.
"""

from __future__ import annotations

import json
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from jobs.errors import BadSource
from tests.helpers_account import check_account
from tests.helpers_reading import epub, planned_of, xhtml

INPUTS = 10_000
MUTATED = 7_000
"""So many of them are mutated sources, the others random."""
HANG_S = 30
"""No input is larger than a few kB: what takes this long hangs (a slow machine is no reason to fail)."""
BOOK = epub(
    {
        "nav.xhtml": xhtml('<nav epub:type="toc"><ol><li><a href="a.xhtml#x">One</a></li></ol></nav>'),
        "a.xhtml": xhtml(
            '<h1 id="x">One</h1><p>Dr. Who<a epub:type="noteref" href="#n">1</a> paid $5.30.</p><aside id="n">N</aside>'
        ),
        "b.xhtml": xhtml(
            "<p>It was 9:05 a.m.</p><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>"
        ),
    },
    manifest='<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
)
PAGE = (
    b"<!doctype html><html lang=en><title>T</title><body><nav>Home</nav><h1>One</h1><p>Salt &amp; oil&nbsp;&#8212; "
    b"<b>bold</b><ruby>a<rt>b</rt></ruby><br>12 March 1884.<table><tr><td>A<td>B</table>"
    b"<pre><code>x</code></pre><ol><li>i"
)
ITEMS = "".join(
    json.dumps({"id": f"i{n}", "text": f'Say "{n}" \\ \u00e9 \U0001f600 no. {n}'}) + "\n" for n in range(5)
).encode()
MARKDOWN = (
    b"# One\n\nSome **bold** `code` [a](http://b) &amp; \\* x[^1].\n\n"
    b"| a | b |\n|---|---|\n| 1 | 2 |\n\n1. x\n2. y\n\n[^1]: n\n"
)
CUES = b"1\n00:00:00,000 --> 00:00:02,500\n<i>Hello</i> there.\n\n2\n00:00:02,400 --> 00:00:03,000\n- A\n- B\n"
TALE = (
    "\ufeffTitle: X\r\n\r\nCONTENTS\r\nI. A\r\nII. B\r\n\r\nI\r\n\r\nDr. Who met the well-\r\nknown _man_.[1]\r\n\r\n"
    "* * *\r\n\r\n[Illustration: x]\r\n\r\nANNA: yes\r\nBEN: no\r\n\r\n[Footnote 1: y]\r\n\r\nINDEX\r\nA, 1, 2\r\n"
).encode()
SEEDS = {
    "book.epub": BOOK,
    "page.html": PAGE,
    "set.jsonl": ITEMS,
    "notes.md": MARKDOWN,
    "film.srt": CUES,
    "web.vtt": b"WEBVTT\n\n" + CUES.replace(b",", b"."),
    "tale.txt": TALE,
}
TOKENS = [
    *(b"<", b">", b"&", b"&#", b"&#x110000;", b"]]>", b"<!--"),
    *(b"<![CDATA[", b"<table>", b"</p>", b"\x00", b"\xff", b"\xfe"),
    *(b"[", b"]", b"(", b"{", b"}", b'"', b"\\u", b"\\ud83d"),
    *(b"```", b"|", b"***", b"[^1]: ", b"\r", b"\n\n", b"\xc2\x85"),
    *("\u2028".encode(), "😀".encode(), "\u202e".encode(), b"1e999", b"-5"),
    *(b"$", b"12/12/12", b"MMMMCMXC", b"--> ", b"a" * 300),
]  # fmt: skip


@contextmanager
def no_hang(seed: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        msg = f"input {seed} is still being read after {HANG_S} s"
        raise TimeoutError(msg)

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANG_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """A few bytes or passages changed, cut out, doubled or put in."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 8)):
        at = draw.randrange(len(changed) + 1)
        end = min(len(changed), at + draw.choice((0, 1, 1, 2, 5, 40)))
        changed[at:end] = draw.choice(
            (
                b"",
                draw.randbytes(draw.randint(1, 4)),
                draw.choice(TOKENS),
                bytes(changed[at:end]) * draw.choice((2, 20)),
            )
        )
    return bytes(changed)


def noise(draw: random.Random) -> bytes:
    """Random bytes, or random characters of a few scripts, or tokens of all formats."""
    kind = draw.randrange(3)
    if kind == 0:
        return draw.randbytes(draw.randint(1, 400))
    if kind == 1:
        ranges = (
            (32, 127),
            (32, 127),
            (0xA0, 0x250),
            (0x590, 0x700),
            (0x3040, 0x30FF),
            (0x4E00, 0x4F00),
            (0x1F300, 0x1F700),
        )
        return "".join(chr(draw.randrange(*draw.choice(ranges))) for _ in range(draw.randint(1, 200))).encode()
    return b"".join(draw.choice(TOKENS) for _ in range(draw.randint(1, 60)))


def outcome(data: bytes, name: str) -> str:
    """`plan`, or the code of the error."""
    try:
        planned = planned_of(data, name, max_chars=80, pack_chars=40)
    except BadSource as error:
        return error.problems[0].code if all(problem.message for problem in error.problems) else "no message"
    check_account(planned)
    return "plan"


def run(make: Callable[[random.Random, str], bytes], seeds: range) -> Counter[str]:
    found: Counter[str] = Counter()
    names = list(SEEDS)
    for seed in seeds:
        draw = random.Random(seed)
        name = names[seed % len(names)]
        with no_hang(seed):
            found[outcome(make(draw, name), name)] += 1
    return found


@pytest.mark.timeout(600)
def test_mutated_sources_end_in_an_error_or_a_plan():
    found = run(lambda draw, name: mutated(SEEDS[name], draw), range(MUTATED))
    assert found["plan"] > INPUTS // 4
    assert "no message" not in found
    assert len(found) > 5, "mutations reach many kinds of error"


@pytest.mark.timeout(600)
def test_random_sources_end_in_an_error_or_a_plan():
    found = run(lambda draw, _: noise(draw), range(MUTATED, INPUTS))
    assert found["plan"] > 100
    assert "no message" not in found
    assert len(found) > 3
