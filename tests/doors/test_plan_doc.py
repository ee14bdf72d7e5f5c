"""docs/plan.md says what the program does: its example is run, its tables are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from jobs.account import DEFAULT_SKIP, Why
from jobs.speaking.lexicon import Lexicon
from tests.helpers_cli import Home

PAGE = (Path(__file__).parents[2] / "docs" / "plan.md").read_text(encoding="utf-8")
OPTIONS = PAGE.split("## 1. ")[1].split("## 2. ")[0]


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return found


def test_the_example_of_the_page_is_what_the_command_prints(home: Home) -> None:
    (home.work / "ferry.md").write_text(block("markdown"), encoding="utf-8")
    shown = home.json("plan", "ferry.md")
    assert shown == json.loads(block("json"))
    assert shown == home.json("plan", "ferry.md", "--model", "piper")


def test_every_why_is_explained_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \| \S", PAGE.split("## 3. ")[1].split("## 4. ")[0], re.MULTILINE)
    assert rows[1:] == [why.value for why in Why]


def test_what_is_left_out_by_default_is_named() -> None:
    section = PAGE.split("## 4. ")[1].split("## 5. ")[0]
    default, chosen = section.split("unless `--keep`")
    assert set(re.findall(r"`([^`]+)`", default)[0].split()) == {why.value for why in DEFAULT_SKIP}
    others = {why.value for why in Why.choosable() - DEFAULT_SKIP}
    assert others <= set(re.findall(r"`([a-z_]+)`", chosen))


@pytest.mark.parametrize("command", ["plan", "submit"])
def test_the_options_of_the_page_are_those_of_both_commands(home: Home, command: str) -> None:
    shown = home.run(command, "--help").stdout
    rows = re.findall(r"^\| (`--.*?) \|", OPTIONS, re.MULTILINE)
    options = re.findall(r"--[a-z-]+", " ".join(rows))
    assert len(options) >= 11
    for option in options:
        assert option in shown


def test_the_lexicon_of_the_page_is_one() -> None:
    lexicon = Lexicon.parse(block("tsv"), "page")
    assert lexicon.has_phonemes
