"""The documents say what the program does: commands, options, settings and files they name are there."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from jobs.settings import PREFIX, Settings
from tests.helpers_cli import Home

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_setting_is_documented_with_its_default() -> None:
    page = (ROOT / "docs" / "commands.md").read_text()
    for field in fields(Settings):
        (row,) = re.findall(rf"^\| `{PREFIX}{field.name.upper()}` \| (.*?) \|", page, re.MULTILINE)
        if isinstance(field.default, int | float) and field.default:
            assert f"{field.default:.0f}" in row


def test_every_command_and_only_real_ones_are_documented(home: Home) -> None:
    page = (ROOT / "docs" / "commands.md").read_text().split("## 2.")[1].split("## 3.")[0]
    table = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    documented = {name.split()[0] for name in re.findall(r"`([a-z]+(?: [^`]*)?)`", table.replace("--", "`--"))}
    listed = re.findall(r"^  ([a-z]+) ", home.run("--help").stdout.split("Commands:")[1], re.MULTILINE)
    assert set(listed) <= documented


def test_options_of_submit_in_the_page_exist(home: Home) -> None:
    (row,) = [line for line in (ROOT / "docs" / "commands.md").read_text().splitlines() if line.startswith("| `submit")]
    shown = home.run("submit", "--help").stdout
    for option in re.findall(r"--[a-z-]+", row):
        assert option in shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_a_page_names_exist(page: Path) -> None:
    text = page.read_text()
    linked = re.findall(r"\]\(([^)#:]+)\)", text)
    named = re.findall(r"`((?:engine|models|jobs|workers|cli|tests|docs|examples)/[\w./-]+\.\w+)`", text)
    for name in linked:
        assert (page.parent / name).exists(), name
    for name in named:
        assert (ROOT / name).exists(), name


def test_version_stands_at_the_top_of_the_changelog() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    top = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert top is not None
    assert top.group(1) == version


def test_commands_in_the_readme_parse(home: Home) -> None:
    """Every `tts-batch …` line of the README's blocks is a command with options that exist."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    lines = [line.split("#")[0].split() for block in blocks for line in block.splitlines()]
    calls = [words[1:] for words in lines if words and words[0] == "tts-batch"]
    assert len(calls) >= 4
    for call in calls:
        shown = home.run(call[0], "--help")
        assert shown.returncode == 0
        for option in (word for word in call if word.startswith("--")):
            assert option in shown.stdout


def test_make_targets_named_in_pages_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        for target in re.findall(r"^make ([a-z-]+)", page.read_text(), re.MULTILINE):
            assert target in targets, (page.name, target)
