"""Checks of the house plan on one parsed file each: a check takes a Source and gives the lines that break a rule.

`tests/test_house_plan.py` runs them over the repository and over small bad texts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Room:
    """What a room may import of ours (`inside`: only inside a function) and which packages it must never import."""

    ours: frozenset[str]
    never: frozenset[str]
    inside: frozenset[str] = frozenset()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROOMS = {
    "engine": Room(_words("engine"), _words("redis celery boto3 transformers pydantic")),
    "models": Room(_words("models engine"), _words("redis celery boto3")),
    "jobs": Room(_words("jobs"), _words("torch")),
    "workers": Room(_words("workers jobs models engine"), _words("typer fastapi")),
    "cli": Room(_words("cli jobs"), _words("torch"), inside=_words("workers")),
}
PURE = {name: _words("torch numpy redis") for name in ("engine/scheduler.py", "engine/slots.py", "jobs/state.py")}

FILE_LINES, FILE_LINES_HARD = 300, 500
BODY_LINES, BODY_LINES_HARD = 40, 60
MAX_PARAMETERS = 6
MAX_NESTING = 4

TIMES = re.compile(r"(^|_)(timeout|delay|ttl|interval|duration)(_|$)", re.IGNORECASE)
UNITS = re.compile(r"_(s|ms|us|ns|hz|frames|samples|steps|bytes|tokens)$", re.IGNORECASE)
FORGOTTEN_F = re.compile(r"\{[a-z_][\w.]*(\[\w+\])?(\(\))?(![rsa])?(:[^{}]*)?\}")


@dataclass(frozen=True)
class Source:
    """One Python file; `path` is relative to the repository, with slashes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def room(self) -> str:
        return self.path.split("/")[0]

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def at(self, node: ast.AST, what: str) -> str:
        return f"{self.path}:{getattr(node, 'lineno', 1)}: {what}"


# ── arrows ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def imports(source: Source) -> Iterator[tuple[ast.AST, str, bool]]:
    """(node, dotted module, is it inside a function) of each import, also by `import_module("name")`."""
    inner = {id(node) for function in source.functions() for node in ast.walk(function) if node is not function}
    for node in ast.walk(source.tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call) and _dotted(node.func).endswith(("import_module", "__import__")):
            names = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        for name in names:
            yield node, name, id(node) in inner


def check_arrows(source: Source) -> list[str]:
    """Imports against the table of rooms and the list of pure files."""
    room = ROOMS[source.room]
    bad = []
    for node, module, inside in imports(source):
        top = module.split(".")[0]
        if top in ROOMS and top not in room.ours and not (inside and top in room.inside):
            bad.append(source.at(node, f"{source.room} must not import {module} here"))
        if top in room.never | PURE.get(source.path, frozenset()):
            bad.append(source.at(node, f"{top} must not be imported in {source.path}"))
    return bad


def check_absolute(source: Source) -> list[str]:
    """Relative imports hide which room is meant."""
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, ast.ImportFrom) and node.level]
    return [source.at(node, "relative import; write the whole path") for node in nodes]


# ── budgets ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def check_file_lines(source: Source, limit: int = FILE_LINES) -> list[str]:
    """Length of the file."""
    lines = source.text.count("\n")
    return [f"{source.path}: {lines} lines, allowed are {limit}"] if lines > limit else []


def check_body_lines(source: Source, limit: int = BODY_LINES) -> list[str]:
    """Length of each function from its first statement after the docstring; a Triton kernel may use the hard limit."""
    bad = []
    for function in source.functions():
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        lines = (function.end_lineno or 0) - body[0].lineno + 1 if body else 0
        allowed = BODY_LINES_HARD if _is_kernel(function) else limit
        if lines > allowed:
            bad.append(source.at(function, f"{function.name} has {lines} body lines, allowed are {allowed}"))
    return bad


def check_parameters(source: Source) -> list[str]:
    """Parameters of each function, without self and cls; a Triton kernel has one for each pointer and stride."""
    bad = []
    for function in source.functions():
        if _is_kernel(function):
            continue
        given = function.args
        names = [
            arg.arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if arg
        ]
        num_names = len([name for name in names if name not in {"self", "cls"}])
        if num_names > MAX_PARAMETERS:
            bad.append(source.at(function, f"{function.name} has {num_names} parameters, allowed are {MAX_PARAMETERS}"))
    return bad


def _is_kernel(function: Function) -> bool:
    """Decorated with `triton.jit`, bare or called with options."""
    calls = (one.func if isinstance(one, ast.Call) else one for one in function.decorator_list)
    return any(_dotted(one) == "triton.jit" for one in calls)


def check_nesting(source: Source) -> list[str]:
    """Depth of blocks in each function."""
    depths = ((function, max((_depth(node) for node in function.body), default=0)) for function in source.functions())
    return [
        source.at(function, f"{function.name} is nested {depth} deep, allowed are {MAX_NESTING}")
        for function, depth in depths
        if depth > MAX_NESTING
    ]


def _depth(node: ast.AST) -> int:
    if isinstance(node, Function | ast.ClassDef | ast.Lambda):
        return 0  # counted on its own
    blocks = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Try | ast.TryStar | ast.Match
    step = int(isinstance(node, blocks))
    deepest = 0
    for child in ast.iter_child_nodes(node):
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, _depth(child) - int(is_elif))
    return step + deepest


# ── one file for each thing ─────────────────────────────────────────────────────────────────────────────────────────
def check_environment(source: Source) -> list[str]:
    """The environment is read in jobs/settings.py."""
    names = {"environ", "environb", "getenv", "putenv", "unsetenv"}
    return _uses(source, {f"os.{name}" for name in names}, "jobs/settings.py")


def check_output(source: Source) -> list[str]:
    """stdout and the terminal belong to cli/output.py."""
    names = {"print", "sys.stdout", "sys.__stdout__", "typer.echo", "typer.secho", "click.echo", "click.secho"}
    return _uses(source, names | {"rich.console.Console", "rich.print", "rich.get_console"}, "cli/output.py")


def check_celery(source: Source) -> list[str]:
    """Celery is imported in workers/celery_app.py."""
    nodes = [node for node, module, _ in imports(source) if module.split(".")[0] == "celery"]
    return [source.at(node, "only workers/celery_app.py imports celery") for node in nodes if source.path != _CELERY]


_CELERY = "workers/celery_app.py"


def check_keys(source: Source) -> list[str]:
    """Redis keys and object paths are made in jobs/keys.py."""
    if source.path == "jobs/keys.py":
        return []
    made = [node for node in _strings(source) if "tts:" in node.value or node.value.startswith(("takes/", "jobs/"))]
    return [source.at(node, f"{node.value!r}: keys and object paths are made in jobs/keys.py") for node in made]


def check_broad_handlers(source: Source) -> list[str]:
    """`except Exception` and its like; one that ends by raising again hides nothing and is allowed anywhere."""
    found: list[ast.AST] = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and not _raises_again(node)
    ]
    found += [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and _dotted(node.func).endswith("suppress") and any(map(_is_broad, node.args))
    ]
    text = "catches everything; name what is expected: a process that meets the unforeseen ends and is started anew"
    return [source.at(node, text) for node in found]


def _is_broad(kind: ast.expr | None) -> bool:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(one is None or _dotted(one) in {"Exception", "BaseException"} for one in kinds)


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def check_docstring(source: Source) -> list[str]:
    """Every file says what it is."""
    return [] if ast.get_docstring(source.tree) else [f"{source.path}: no module docstring"]


def check_units(source: Source) -> list[str]:
    """A name of a time says its unit at its end."""
    named: list[tuple[ast.AST, str]] = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.arg):
            named.append((node, node.arg))
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named += [(node, target.id) for target in targets if isinstance(target, ast.Name)]
    bad = [(node, name) for node, name in named if TIMES.search(name) and not UNITS.search(name)]
    return [source.at(node, f"{name} has no unit at its end (_s, _ms, _frames …)") for node, name in bad]


def check_forgotten_f(source: Source) -> list[str]:
    """`{name}` in a plain string of an error text or of `msg`."""
    homes = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Raise)
        or (isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "msg" for t in node.targets))
    ]
    found = {id(node): node for home in homes for node in _strings(source, home) if FORGOTTEN_F.search(node.value)}
    return [source.at(node, f"{node.value!r} looks like a forgotten f-string") for node in found.values()]


# ── reading the tree ────────────────────────────────────────────────────────────────────────────────────────────────
def _dotted(node: ast.AST | None) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _uses(source: Source, names: set[str], home: str) -> list[str]:
    """Uses of `names` (dotted) outside `home`, also when imported by `from … import …` or under another name."""
    if source.path == home:
        return []
    known: dict[str, str] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            known |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    bad = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute):
            first, dot, rest = _dotted(node).partition(".")
            if known.get(first, first) + dot + rest in names:
                bad.append(source.at(node, f"{_dotted(node)} is for {home} only"))
    return bad


def _strings(source: Source, inside: ast.AST | None = None) -> list[ast.Constant]:
    """String constants, also those that are parts of f-strings; docstrings are left out."""
    top = inside or source.tree
    bare = {id(node.value) for node in ast.walk(top) if isinstance(node, ast.Expr)}
    return [
        node
        for node in ast.walk(top)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare
    ]
