"""The house plan, held: arrows between rooms, budgets, one file for each thing, words; and that each check bites."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import helpers_house_plan as plan
from tests.helpers_house_plan import ROOMS, Source

ROOT = Path(__file__).parent.parent
TOP_LEVEL = {
    *ROOMS,
    *(
        "tests",
        "deploy",
        "docs",
        "examples",
        ".ci",
        ".dockerignore",
        ".gitignore",
        ".pre-commit-config.yaml",
        "docker-compose.yml",
    ),
    *("pyproject.toml", "Makefile", "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"),
}

TYPER = "Typer reads a command line from a function's parameters: one for each option"
EXCEPTIONS: dict[str, str] = {
    "cli/bench.py: bench": TYPER,
    "cli/control.py: purge": TYPER,
    "cli/control.py: retry": TYPER,
    "cli/export.py: export": TYPER,
    "cli/listen.py: listen": TYPER,
    "cli/plan.py: plan": TYPER,
    "cli/serve.py: serve": TYPER,
    "cli/submit.py: submit": TYPER,
    "cli/tokens.py: add": TYPER,
}
"""What is over a budget and why: "path" for a file, "path: function" for one of its functions; hard limits stay."""

ROOM_CHECKS = [
    plan.check_arrows,
    plan.check_absolute,
    plan.check_environment,
    plan.check_output,
    plan.check_celery,
    plan.check_keys,
    plan.check_broad_handlers,
    plan.check_docstring,
    plan.check_units,
    plan.check_forgotten_f,
]
BUDGETS = [plan.check_file_lines, plan.check_body_lines, plan.check_parameters, plan.check_nesting]


def sources(*folders: str) -> list[Source]:
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return [Source(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths]


def excused(line: str) -> str | None:
    """The exception a broken budget falls under."""
    path, _, rest = line.partition(":")
    function = rest.partition(": ")[2].split(" ")[0]
    return next((name for name in (path, f"{path}: {function}") if name in EXCEPTIONS), None)


def broken_budgets() -> list[str]:
    return [line for source in sources(*ROOMS) for check in BUDGETS for line in check(source)]


@pytest.mark.parametrize("check", ROOM_CHECKS, ids=lambda check: check.__name__)
def test_the_rooms_hold(check):
    assert [line for source in sources(*ROOMS) for line in check(source)] == []


def test_budgets_hold():
    assert [line for line in broken_budgets() if excused(line) is None] == []


def test_hard_limits_hold_everywhere():
    broken = [
        line
        for source in sources(*ROOMS, "tests")
        for line in (
            *plan.check_file_lines(source, plan.FILE_LINES_HARD),
            *plan.check_body_lines(source, plan.BODY_LINES_HARD),
        )
    ]
    assert broken == []


def test_every_exception_is_still_needed_and_has_a_reason():
    assert {excused(line) for line in broken_budgets()} - {None} == set(EXCEPTIONS)
    assert all(len(reason) > 10 for reason in EXCEPTIONS.values())


def test_the_top_level_is_the_users():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: built or ignored files cannot be told from ours")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split("/")[0] for line in listed.stdout.splitlines()} == TOP_LEVEL


# ── each check bites ────────────────────────────────────────────────────────────────────────────────────────────────
def lines(count: int) -> str:
    return "".join(f"    x{i} = {i}\n" for i in range(count))


def nested(depth: int) -> str:
    return "def f():\n" + "".join(f"{'    ' * (i + 1)}if x:\n" for i in range(depth)) + "    " * (depth + 1) + "y()\n"


ELIFS = "def f():\n    if a:\n        pass\n" + "".join(f"    elif b{i}:\n        pass\n" for i in range(9))
KERNEL = "@triton.jit\ndef f(a, b, c, d, e, g, h):\n"
METHOD = "class A:\n    def f(self, a, b, c, *, d, e, g): pass\n"

BAD = [
    (plan.check_arrows, "engine/a.py", "from jobs.plan import Plan"),
    (plan.check_arrows, "engine/a.py", "import models"),
    (plan.check_arrows, "engine/a.py", "def f():\n    import redis.asyncio"),
    (plan.check_arrows, "engine/a.py", "import pydantic as p"),
    (plan.check_arrows, "models/a.py", "from workers import room"),
    (plan.check_arrows, "models/a.py", "import boto3"),
    (plan.check_arrows, "jobs/a.py", "def f():\n    import torch"),
    (plan.check_arrows, "jobs/a.py", "import_module('torch.nn')"),
    (plan.check_arrows, "jobs/a.py", "if TYPE_CHECKING:\n    from engine.request import Delta"),
    (plan.check_arrows, "workers/a.py", "import typer"),
    (plan.check_arrows, "workers/a.py", "from cli.output import say"),
    (plan.check_arrows, "cli/a.py", "from workers.node import start"),
    (plan.check_arrows, "cli/a.py", "def f():\n    from models import registry"),
    (plan.check_arrows, "engine/scheduler.py", "import numpy as np"),
    (plan.check_arrows, "jobs/state.py", "import redis"),
    (plan.check_absolute, "jobs/a.py", "from . import plan"),
    (plan.check_absolute, "jobs/a.py", "from .plan import Plan"),
    (plan.check_environment, "workers/a.py", "import os\nos.environ['A'] = '1'"),
    (plan.check_environment, "jobs/a.py", "from os import getenv as g\ng('A')"),
    (plan.check_environment, "jobs/a.py", "import os as o\no.environ.get('A')"),
    (plan.check_output, "jobs/a.py", "print('x')"),
    (plan.check_output, "cli/a.py", "import sys\nsys.stdout.write('x')"),
    (plan.check_output, "cli/a.py", "from sys import stdout\nstdout.write('x')"),
    (plan.check_output, "cli/a.py", "from rich.console import Console\nConsole()"),
    (plan.check_output, "cli/a.py", "import typer\ntyper.echo('x')"),
    (plan.check_celery, "workers/a.py", "from celery import Celery"),
    (plan.check_celery, "cli/a.py", "def f():\n    import celery.result"),
    (plan.check_keys, "workers/a.py", "x = f'tts:job:{job}'"),
    (plan.check_keys, "jobs/a.py", "x = 'takes/' + take"),
    (plan.check_broad_handlers, "jobs/a.py", "try:\n    f()\nexcept Exception:\n    pass"),
    (
        plan.check_broad_handlers,
        "jobs/a.py",
        "try:\n    f()\nexcept (OSError, BaseException) as e:\n    raise X from e",
    ),
    (plan.check_broad_handlers, "jobs/a.py", "try:\n    f()\nexcept:\n    pass"),
    (plan.check_broad_handlers, "jobs/a.py", "with contextlib.suppress(Exception):\n    f()"),
    (plan.check_broad_handlers, "workers/room.py", "try:\n    f()\nexcept Exception:\n    pass\n"),
    (plan.check_docstring, "jobs/a.py", "x = 1"),
    (plan.check_docstring, "jobs/__init__.py", ""),
    (plan.check_units, "jobs/a.py", "def f(*, timeout): pass"),
    (plan.check_units, "jobs/a.py", "class A:\n    retry_delay: float = 1.0"),
    (plan.check_units, "jobs/a.py", "TTL = 5"),
    (plan.check_forgotten_f, "jobs/a.py", "raise X('no {name} here')"),
    (plan.check_forgotten_f, "jobs/a.py", "msg = 'a {job.id!r} ' f'{b}'"),
    (plan.check_file_lines, "jobs/a.py", "x = 1\n" * 301),
    (plan.check_body_lines, "jobs/a.py", "def f():\n" + lines(41)),
    (plan.check_body_lines, "jobs/a.py", "class A:\n    async def f(self):\n" + lines(41).replace("    ", " " * 8)),
    (plan.check_body_lines, "engine/a.py", KERNEL + lines(61)),
    (plan.check_body_lines, "engine/a.py", KERNEL.replace("jit", "compile") + lines(41)),
    (plan.check_parameters, "engine/a.py", KERNEL.replace("jit", "compile") + lines(1)),
    (plan.check_parameters, "jobs/a.py", "def f(a, b, c, /, d, *, e, g, h): pass"),
    (plan.check_parameters, "jobs/a.py", "def f(a, b, c, d, e, *args, **kwargs): pass"),
    (plan.check_nesting, "jobs/a.py", nested(5)),
    (plan.check_nesting, "jobs/a.py", "class A:\n" + "".join(f"    {line}\n" for line in nested(5).splitlines())),
]

GOOD = [
    (plan.check_arrows, "engine/a.py", "import torch\nfrom engine.request import Delta"),
    (plan.check_arrows, "cli/a.py", "from jobs import plan\ndef f():\n    from workers.node import start"),
    (plan.check_arrows, "workers/a.py", "import jobs.plan, models.registry, engine.engine, redis, torch"),
    (plan.check_environment, "jobs/settings.py", "import os\nos.environ"),
    (plan.check_environment, "jobs/a.py", "import os\nos.replace(a, b)\nself.environ"),
    (plan.check_output, "cli/output.py", "print('x')"),
    (plan.check_output, "jobs/a.py", "import sys\nsys.stderr.fileno()\nself.print(1)"),
    (plan.check_celery, "workers/celery_app.py", "from celery import Celery"),
    (plan.check_keys, "jobs/keys.py", "x = 'tts:jobs'"),
    (plan.check_keys, "jobs/a.py", '"""Reads `tts:jobs`."""\nx = "/jobs/{job}"'),
    (plan.check_broad_handlers, "jobs/a.py", "try:\n    f()\nexcept BaseException:\n    g()\n    raise"),
    (plan.check_units, "jobs/a.py", "def f(*, timeout_s, delays, ttl_frames): pass"),
    (plan.check_forgotten_f, "jobs/a.py", "raise X(f'no {name} here')\nlog = '{name}'"),
    (plan.check_file_lines, "jobs/a.py", "x = 1\n" * 300),
    (plan.check_body_lines, "jobs/a.py", 'def f():\n    """One.\n\n    Two.\n    """\n' + lines(40)),
    (plan.check_body_lines, "engine/a.py", KERNEL + lines(60)),
    (plan.check_parameters, "engine/a.py", KERNEL + lines(1)),
    (plan.check_parameters, "engine/a.py", KERNEL.replace("jit", "jit(do_not_specialize=[1])") + lines(1)),
    (plan.check_parameters, "jobs/a.py", METHOD),
    (plan.check_nesting, "jobs/a.py", nested(4)),
    (plan.check_nesting, "jobs/a.py", ELIFS),
]


@pytest.mark.parametrize(("check", "path", "text"), BAD)
def test_a_bad_text_is_caught(check, path, text):
    (first, *_) = check(Source(path, text))
    assert first.startswith(f"{path}:")


@pytest.mark.parametrize(("check", "path", "text"), GOOD)
def test_a_good_text_passes(check, path, text):
    assert check(Source(path, text)) == []


def test_every_check_is_shown_to_bite():
    assert {check for check, _, _ in BAD} == {*ROOM_CHECKS, *BUDGETS}


def test_an_exception_excuses_a_function_or_a_file_by_name(monkeypatch):
    monkeypatch.setitem(EXCEPTIONS, "jobs/a.py: f", "a table that reads better in one piece")
    (line,) = plan.check_body_lines(Source("jobs/a.py", "def f():\n" + lines(41)))
    assert excused(line) == "jobs/a.py: f"
    (line,) = plan.check_body_lines(Source("jobs/a.py", "def g():\n" + lines(41)))
    assert excused(line) is None
