"""English phonemes by espeak-ng in a child process over a pipe (extra `espeak`: package espeak-english, GPL-3).

The package is a separate program here: it is never imported into this process. It drops punctuation, so the text goes
down clause by clause, one line each, and the marks are put back between the answers.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import threading

from models.errors import BadPrompt, MissingExtra
from models.phonemes import spans
from models.phonemes.reading import Part, Reading
from models.phonemes.tidy import num_letters

INSTALL_HINT = "pip install 'tts-batch[espeak]'"
_PACKAGE = "espeak_english"
_MARKS = re.compile(r"([,;:!?]+)(?=\s|$)")
"""What ends a clause within a sentence; a mark inside a word or number ("10,000") does not, nor does a full stop."""


class EspeakPhonemes:
    """Phonemes from one long-lived child; one instance may be shared by threads."""

    def __init__(self) -> None:
        """Find the package; the child starts with the first text.

        Raises:
            MissingExtra: the package is not installed.
        """
        if importlib.util.find_spec(_PACKAGE) is None:
            msg = f"espeak's phonemes need the package {_PACKAGE!r} (GPL-3), which is not installed: {INSTALL_HINT}"
            raise MissingExtra(msg)
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None

    def __call__(self, text: str) -> str:
        """IPA of one segment, with the marks that make pauses; it ends with one.

        Raises:
            BadPrompt: nothing in the text can be spoken, or espeak gives no phonemes.
        """
        return self.read(text).ipa

    def read(self, text: str) -> Reading:
        """The same, with the place of each word: only of a text of one word, since espeak joins words.

        Raises as a call does.
        """
        with self._lock:
            return spans.read(text, self._sentence)

    def close(self) -> None:
        """End the child; the next text would start a new one."""
        with self._lock:
            if self._child is not None:
                self._child.communicate()  # closes its input: the program ends with it
                self._child = None

    def _sentence(self, sentence: str) -> list[Part]:
        clauses = _MARKS.split(sentence)  # clause, mark, clause, mark, ..., clause
        spoken = [self._ask(clause.strip()) for clause in clauses[::2]]
        marks = [*clauses[1::2], ""]
        ipa = " ".join(clause + mark[:1] for clause, mark in zip(spoken, marks, strict=True) if clause)
        if not ipa:
            msg = f"espeak gives no phonemes for {sentence!r}; write it as words"
            raise BadPrompt(msg)
        return [Part(ipa, num_letters(sentence))]

    def _ask(self, clause: str) -> str:
        if self._child is None or self._child.poll() is not None:
            self._child = _start()
        assert self._child.stdin is not None, "the child was started with pipes"  # noqa: S101
        assert self._child.stdout is not None, "the child was started with pipes"  # noqa: S101
        try:
            self._child.stdin.write(clause + "\n")
            self._child.stdin.flush()
            answer = self._child.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            code = self._child.wait()
            self._child.stdin.close()
            self._child.stdout.close()
            self._child = None
            msg = f"the espeak process ended with code {code} on {clause!r}; write the clause in other words"
            raise BadPrompt(msg)
        return answer.strip()


def _start() -> subprocess.Popen[str]:
    """-u: answers come line by line; -P: the current folder stays off the import path."""
    command = [sys.executable, "-u", "-P", "-X", "utf8", "-m", f"{_PACKAGE}.cli"]
    return subprocess.Popen(  # noqa: S603  # our own interpreter, fixed arguments
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
