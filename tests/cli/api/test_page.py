"""The page's files as they are served: types, tags, HEAD, nothing but the package's own; and what they hold to."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from cli.api import errors, page

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "cli" / "page"
NAMES = sorted(path.name for path in PAGE.iterdir())
SCRIPTS = sorted(PAGE.glob("*.js"))
MOST_LINES = 300
MOST_CHARS = 120


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    errors.add_to(app)
    app.include_router(page.router)
    return TestClient(app, raise_server_exceptions=False)


def test_the_page_is_at_the_root_and_every_file_has_its_type(client: TestClient) -> None:
    start = client.get("/")
    assert start.status_code == 200
    assert start.headers["content-type"] == "text/html; charset=utf-8"
    assert start.content == (PAGE / "index.html").read_bytes()
    types = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
    for name in NAMES:
        answer = client.get(f"/page/{name}")
        assert answer.status_code == 200, name
        assert answer.content == (PAGE / name).read_bytes()
        assert answer.headers["content-type"] == types.get(Path(name).suffix, "text/html; charset=utf-8")
        assert answer.headers["cache-control"] == "no-cache"


def test_head_says_what_get_would(client: TestClient) -> None:
    for path in ("/", "/page/main.js"):
        got, told = client.get(path), client.head(path)
        assert told.status_code == 200
        assert told.content == b""
        for name in ("content-length", "content-type", "etag", "cache-control"):
            assert told.headers[name] == got.headers[name]


def test_a_browser_that_has_a_file_is_sent_nothing(client: TestClient) -> None:
    tag = client.get("/page/main.js").headers["etag"]
    assert re.fullmatch(r'"[0-9a-f]{32}"', tag)
    for known in (tag, f'"other", W/{tag}', "*"):
        answer = client.get("/page/main.js", headers={"If-None-Match": known})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
    for other in ('"other"', client.get("/page/dom.js").headers["etag"], tag.strip('"')):
        assert client.get("/page/main.js", headers={"If-None-Match": other}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/page/none.js",
        "/page/",
        "/page/..%2fapi%2fpage.py",
        "/page/../api/page.py",
        "/page/%2e%2e/app.py",
        "/page/..%5capp.py",
        "/page//etc/passwd",
        "/page/main.js%00",
        "/page/page.py",
    ],
)
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "not_found_error"


def test_other_methods_are_refused(client: TestClient) -> None:
    assert client.post("/").status_code == 405
    assert client.delete("/page/main.js").status_code == 405


def test_what_the_page_asks_for_is_there() -> None:
    """Every script, style sheet and picture that is named is a file of the page; nothing comes from elsewhere."""
    named = re.findall(r'(?:src|href)="(?!#)([^"]+)"', (PAGE / "index.html").read_text("utf-8"))
    assert named
    assert {name.removeprefix("page/") for name in named} <= set(NAMES)
    for script in SCRIPTS:
        text = script.read_text("utf-8")
        imported = re.findall(r'^(?:import|export) .* from "([^"]+)";$', text, re.MULTILINE)
        assert all(name.startswith("./") and name[2:] in NAMES for name in imported), script.name
        assert "import(" not in text
    for path in PAGE.iterdir():
        addresses = set(re.findall(r"https?://[^\s\"'`<>)]+", path.read_text("utf-8")))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path.name


def test_data_never_becomes_markup_or_script() -> None:
    """The page works where scripts and styles within a document are forbidden, and puts text in as text alone."""
    html = (PAGE / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]* src=)", html) == []
    assert "<style" not in html
    assert re.findall(r"\s(?:style|on\w+)=", html) == []
    forbidden = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", 'style: "')
    for script in SCRIPTS:
        assert [word for word in forbidden if word in script.read_text("utf-8")] == [], script.name


def test_files_stay_within_their_budget() -> None:
    long = {path.name: len(lines_of(path)) for path in PAGE.iterdir()}
    assert {name: lines for name, lines in long.items() if lines > MOST_LINES} == {}
    wide = [path.name for path in PAGE.glob("*.[jc]s*") if any(len(line) > MOST_CHARS for line in lines_of(path))]
    assert wide == []


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def test_a_wheel_has_the_page(tmp_path: Path) -> None:
    """Built from a copy, so that nothing is left in the checkout."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for path in [*(ROOT / "cli").rglob("*.py"), *PAGE.iterdir()]:
        copy = source / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    build = "import sys; from setuptools import build_meta as b; b.build_wheel(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", build, str(tmp_path)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in NAMES:
            assert archive.read(f"cli/page/{name}") == (PAGE / name).read_bytes()
