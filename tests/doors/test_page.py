"""The page in a real browser: over a real node a book is dropped, heard while made, and fetched; and first visits."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import httpx
import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from jobs.access.gate import Scope
from tests.doors.page_browser import BOOK, LISTEN, WAIT_MS, job_of, window
from tests.helpers_api import api, running_server, working
from tests.helpers_cli import Home, wait_until

expect.set_options(timeout=20_000)

pytestmark = [pytest.mark.slow]

FINAL = {"done", "done_with_failures", "cancelled", "failed"}
HEARD_BYTES = 24_000
"""Of an MP3 stream: some seconds."""
LEAST_RMS = 0.01
WATCH = """() => {
  globalThis.shares = new Set();
  const share = document.querySelector(".job-head .share");
  new MutationObserver(() => globalThis.shares.add(share.textContent)).observe(share, { childList: true });
}"""
"""Keeps every share of the work that is shown."""
PARAGRAPHS = 3
"""Of each chapter: its heading and two."""


@dataclass
class Served:
    """`tts-batch serve` with a node of its own."""

    home: Home
    url: str
    browser: Browser


@pytest.fixture(scope="module")
def served(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = Home(tmp_path_factory.mktemp("page"))
    process = home.start("serve", "--port", "0", "--json")
    try:
        wait_until(lambda: b"url" in (home.root / "background.out").read_bytes(), "the server listens")
        url = json.loads((home.root / "background.out").read_text())["url"]
        wait_until(lambda: bool(httpx.get(f"{url}/v1/models").json()["data"]), "a worker is up")
        yield Served(home, url, chromium)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


def audio_of(data: bytes) -> tuple[np.ndarray, int]:
    """Samples (float, 1 is full scale) and rate of encoded audio, also of a part of a stream."""
    with av.open(io.BytesIO(data)) as container:
        resampler = av.AudioResampler(format="flt", layout="mono")
        rate_hz = container.streams.audio[0].rate
        blocks = []
        try:
            for frame in container.decode(audio=0):
                blocks += [made.to_ndarray()[0] for made in resampler.resample(frame)]
        except av.error.InvalidDataError:  # cut off in the middle of a frame
            assert blocks
    return np.concatenate(blocks), rate_hz


def short_book() -> bytes:
    """The example book with two paragraphs of each chapter: speaking all takes half a minute on two cores."""
    chapters = BOOK.read_text().split("\n\nCHAPTER ")
    return "\n\nCHAPTER ".join("\n\n".join(one.split("\n\n")[:PARAGRAPHS]) for one in chapters).encode()


def first_bytes(url: str) -> bytes:
    """The beginning of a live stream."""
    got = b""
    with httpx.stream("GET", url, timeout=WAIT_MS / 1000) as answer:
        assert answer.status_code == 200
        for part in answer.iter_bytes():
            got += part
            if len(got) >= HEARD_BYTES:
                break
    return got


@pytest.mark.services
@pytest.mark.voice
def test_a_book_is_dropped_looked_at_heard_while_it_is_made_and_fetched(served: Served, tmp_path: Path) -> None:
    with window(served.browser, served.url) as view:
        page = view.page
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        view.go("#/submit", "Submit")
        page.get_by_label("Model", exact=True).select_option("piper")
        expect(page.locator("#licence")).to_contain_text("research")
        view.drop(("book.txt", short_book()))
        plan = page.get_by_role("region", name="The plan", exact=True)
        expect(plan.get_by_role("heading", name="The Clockmaker of Harrow Street")).to_be_visible()
        expect(plan).to_contain_text("3 chapters")
        expect(plan.get_by_role("rowheader", name="Chapter One: The Shop with the Green Door")).to_be_visible()
        expect(plan).to_contain_text("Not spoken")
        expect(plan).to_contain_text("Mr. → Mister")
        assert view.get("jobs")["data"] == []  # nothing is queued by looking

        plan.get_by_role("button", name="Queue it").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("The Clockmaker of Harrow Street")
        job = job_of(view)
        page.evaluate(WATCH)
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_function("() => document.getElementById('audio').currentTime > 0.5")
        assert view.get(f"jobs/{job}")["state"] not in FINAL, "it was to be heard before the job ends"
        assert page.evaluate(LISTEN) > LEAST_RMS
        heard = first_bytes(f"{served.url}/v1/jobs/{job}/audio?format=mp3")
        samples, _ = audio_of(heard)
        assert float(np.sqrt(np.mean(samples**2))) > LEAST_RMS
        expect(page.locator(".player .sentence")).not_to_be_empty()

        while (now := view.get(f"jobs/{job}"))["state"] not in FINAL:
            page.wait_for_timeout(100)
        seen = page.evaluate("() => [...globalThis.shares]")
        assert len(seen) > 3, f"progress was to be seen, not only {seen}"
        assert any("/events?" in url for url in asked), "its events were to be followed"
        assert now["state"] == "done"
        expect(page.locator(".job-head .badge")).to_have_text("done")
        expect(page.locator(".job-head .share")).to_have_text("100 %")
        assert page.title().startswith("done · The Clockmaker")

        with page.expect_download() as waiting:
            page.get_by_role("link", name="book.m4b").click()
        waiting.value.save_as(tmp_path / "book.m4b")
        samples, rate_hz = audio_of((tmp_path / "book.m4b").read_bytes())
        assert samples.size / rate_hz > now["audio_s"]
        assert float(np.sqrt(np.mean(samples**2))) > LEAST_RMS
        assert f"{now['files'][0]['name']}" in page.locator(".files").inner_text()


def test_an_empty_house_says_what_to_do(chromium: Browser) -> None:
    with api(works=False) as door, running_server(door.service) as url, window(chromium, url) as view:
        view.go("#/", "Jobs")
        expect(view.page.get_by_text("tts-batch submit book.epub")).to_be_visible()
        assert view.violations() == []
        view.go("#/workers", "Workers")
        expect(view.page.get_by_text("No worker is up.")).to_be_visible()
        view.go("#/submit", "Submit")
        none = view.page.get_by_text("No worker is up, so nothing can be planned")
        expect(none).to_be_visible()
        with working(door.service):
            expect(view.page.get_by_label("Model", exact=True)).to_have_value("fake")  # without another look
            expect(none).to_be_hidden()
        view.go("#/jobs/no-such-job", "No such job")
        expect(view.page.get_by_role("alert").filter(has_text="no-such-job")).to_be_visible()


def test_signing_in_and_out(chromium: Browser) -> None:
    with api(works=False) as door, running_server(door.service) as url, window(chromium, url) as view:
        secret, looking = door.token(*Scope), door.token(Scope.READ)
        page = view.page
        view.go("#/", "Sign in")
        assert view.violations() == []
        page.get_by_label("Token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#token-problem").get_by_role("alert")).to_be_visible()
        page.get_by_label("Token").fill(secret)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
        assert secret not in str(page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])"))
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        page.get_by_label("Token").fill(looking)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
        expect(page.get_by_role("link", name="Submit")).to_be_hidden()  # this token may only look
        view.go("#/submit", "Submit")
        expect(page.get_by_text("This token may look, not submit")).to_be_visible()
        expect(page.locator(".drop")).to_have_count(0)
