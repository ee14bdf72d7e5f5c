"""Pictures of the page for docs/screenshots: `python -m tests.bench.screenshots [--to FOLDER]`.

Starts `tts-batch serve` with a data folder of its own, submits the example book through the page with the real voice,
and takes the pictures while it is spoken. Needs chromium and the extras [test] and [voice-joe].
"""

from __future__ import annotations

import argparse
import json
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.doors.page_browser import BOOK, PHONE, Window, browser, job_of, window
from tests.helpers_cli import Home, wait_until

MOST_BYTES = 150_000
SIZE = {"width": 1100, "height": 760}
TALL = {"width": 1100, "height": 1060}
OTHERS = (
    "Title: Letters from the Lighthouse\nAuthor: Ida Marsh\n\nThe lamp was lit at six.\n\nNobody came.",
    "Title: A Field Guide to Clouds\nAuthor: Tom Perrin\n\nLook up.\n\nThis one cannot be spoken [[fault:error]].",
    "Title: דרך ארוכה הביתה\nAuthor: נועה לוי\n\nשלום.",
)
"""Texts of jobs that have ended already, spoken by the fake model."""
SAMPLES_MS = 16_000
"""Until the history of the workers has some samples."""


@contextmanager
def served() -> Iterator[str]:
    """The address of a server with a worker."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        process = home.start("serve", "--port", "0", "--json")
        try:
            wait_until(lambda: b"url" in (home.root / "background.out").read_bytes(), "the server listens")
            url = str(json.loads((home.root / "background.out").read_text())["url"])
            wait_until(lambda: bool(httpx.get(f"{url}/v1/models").json()["data"]), "a worker is up")
            yield url
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


def speak_others(url: str) -> None:
    """Have some jobs in the list."""
    for number, text in enumerate(OTHERS):
        form = {"text": text, "name": f"other-{number}.txt", "model": "fake", "takes": 1}
        httpx.post(f"{url}/v1/jobs", json=form).raise_for_status()
    ended = {"done", "done_with_failures"}
    wait_until(lambda: {one["state"] for one in httpx.get(f"{url}/v1/jobs").json()["data"]} <= ended, "they have ended")


def take(view: Window, path: Path) -> None:
    """One picture."""
    view.page.screenshot(path=path)
    size_bytes = path.stat().st_size
    assert size_bytes <= MOST_BYTES, f"{path} has {size_bytes} bytes"
    print(f"{path} {size_bytes} bytes")


def pictures(view: Window, dark: Window, phone: Window, to: Path) -> None:
    """Submit, follow and listen; the same job in dark and on a phone."""
    speak_others(view.url)
    view.go("#/submit", "Submit")
    view.drop(("book.txt", BOOK.read_bytes()))
    view.page.get_by_role("button", name="Queue it").scroll_into_view_if_needed()
    take(view, to / "submit.png")
    view.page.get_by_role("button", name="Queue it").click()
    view.page.wait_for_url("**/#/jobs/**")
    job = job_of(view)
    view.page.get_by_role("button", name="Play", exact=True).click()
    view.page.wait_for_function("() => document.getElementById('audio').currentTime > 2")
    view.page.locator(".chapter summary").first.click()
    view.page.wait_for_timeout(3000)
    view.page.evaluate("scrollTo(0, 0)")
    view.page.set_viewport_size(TALL)
    take(view, to / "job.png")
    view.page.set_viewport_size(SIZE)
    for other, name in ((phone, "phone.png"), (dark, "dark.png")):
        other.go(f"#/jobs/{job}")
        other.page.locator(".chapter").first.wait_for()
        other.page.wait_for_function("() => document.getElementById('seek').max > 0")
        take(other, to / name)
    view.go("#/", "Jobs")
    take(view, to / "jobs.png")
    view.go("#/workers", "Workers")
    view.page.wait_for_timeout(SAMPLES_MS)
    take(view, to / "workers.png")


def main() -> None:
    """Take them all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--to", type=Path, default=Path("docs/screenshots"))
    to = parser.parse_args().to
    to.mkdir(parents=True, exist_ok=True)
    with (
        browser() as started,
        served() as url,
        window(started, url, viewport=SIZE, color_scheme="light") as view,
        window(started, url, viewport=SIZE, color_scheme="dark") as dark,
        window(started, url, viewport=PHONE, color_scheme="light", is_mobile=True) as phone,
    ):
        pictures(view, dark, phone, to)


if __name__ == "__main__":
    main()
