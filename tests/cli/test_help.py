"""Help: an example in every command, every documented option, and nothing heavy loaded for it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Door

COMMANDS = (
    *("plan", "submit", "jobs", "status", "watch", "listen", "fetch", "cancel", "pause", "resume", "retry", "purge"),
    *(
        "models",
        "voices",
        "up",
        "workers",
        "worker",
        "worker gpu",
        "worker cpu",
        "worker check",
        "doctor",
        "warm",
        "bench",
        "acx",
    ),
    *("export", "serve", "top", "token", "token add", "token list", "token remove"),
)
GROUPS = ("worker", "token")
"""Commands that only hold others."""
PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
HEAVY = ("torch", "redis", "av", "numpy", "celery", "soundfile", "lxml")


def documented() -> list[tuple[str, str]]:
    """Every (command, option) that the table of commands names."""
    table = PAGE.read_text().split("## 2.")[1].split("## 3.")[0]
    found = []
    for row in re.findall(r"^\| (`.*) \|$", table, re.MULTILINE):
        left, right = row.split(" | ", 1)
        for words in re.findall(r"`(\w[^`]*)`", left):
            name = " ".join(re.findall(r"\b[a-z]+\b", words.split("--")[0]))
            options = re.findall(r"--[a-z-]+", f"{words} {right if left.count('`') == 2 or 'submit' in words else ''}")
            found += [(name, option) for option in options]
    found += [("watch", "--events"), ("worker gpu", "--device")]
    return found


def test_the_list_of_commands_is_whole(door: Door):
    listed = re.findall(r"^  ([a-z]+) ", door.run("--help").stdout.split("Commands:")[1], re.MULTILINE)
    for group in GROUPS:
        shown = door.run(group, "--help").stdout.split("Commands:")[1]
        listed += [f"{group} {name}" for name in re.findall(r"^  ([a-z]+) ", shown, re.MULTILINE)]
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_help_has_an_example_that_names_the_command(door: Door, command):
    shown = door.run(*command.split(), "--help").stdout
    example = shown.split("Example")[1]
    assert f"tts-batch {command or 'submit'}" in example
    for line in re.findall(r"tts-batch .*", example):
        assert line.split()[1] in COMMANDS


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in GROUPS])
def test_every_command_has_json(door: Door, command):
    assert "--json" in door.run(*command.split(), "--help").stdout


def test_every_documented_option_exists(door: Door):
    assert len(documented()) > 20
    assert {"submit", "listen", "purge", "retry", "watch"} <= {name for name, _ in documented()}
    for command, option in documented():
        assert option in door.run(*command.split(), "--help").stdout, (command, option)


@pytest.mark.parametrize("words", [["--help"], ["submit", "--help"], ["listen", "--help"], ["worker", "gpu", "--help"]])
def test_help_loads_nothing_heavy(words):
    code = f"""
import sys
from cli.app import app
try:
    app({words!r}, prog_name="tts-batch")
except SystemExit as done:
    assert done.code == 0
print(",".join(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage: tts-batch" in done.stdout
    assert done.stderr.strip() == ""


def test_without_a_command_the_help_is_shown(door: Door):
    result = door.run(code=2)
    assert "Commands:" in result.stdout + result.stderr
