"""Every view of the page in a real browser, over a server in this process with the fake voice."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, expect
from starlette.types import Receive, Scope, Send

from cli.api.app import make_app
from jobs.history import take_sample
from tests import helpers_api
from tests.doors.page_browser import HIDE, PHONE, SLOW_PAGES, Window, Wire, job_of, window
from tests.helpers_api import Door, api, running_server

pytestmark = [pytest.mark.slow]
expect.set_options(timeout=20_000)

WORDS = "one two three four five six seven eight nine ten eleven twelve"
LONG_BOOK = "\n\n".join(
    f"CHAPTER {name}\n\n" + "\n\n".join(f"Line {letter}: {WORDS}." for letter in "abcdef") for name in ("ONE", "TWO")
)
BAD_BOOK = "CHAPTER ONE\n\nA good line to begin.\n\nA bad line [[fault:error]].\n\nCHAPTER TWO\n\nThe last line.\n"
SLOW_BOOK = "CHAPTER ONE\n\n" + "\n\n".join(
    f"Line {letter} goes rather slowly by here [[fault:slow:s=0.03]]." for letter in "abcdefghijklmnopqrstuvwxyz"
)
VIEWS = {"#/": "Jobs", "#/submit": "Submit", "#/workers": "Workers"}
HISTORY = 4


@dataclass
class House:
    """A server with a worker and a browser."""

    door: Door
    url: str
    browser: Browser

    def submit(self, text: str, name: str = "book.txt", **options: Any) -> str:
        """Queue a text; returns the job's id."""
        answer = self.door.client.post("/v1/jobs", json={"text": text, "name": name, "model": "fake", **options})
        assert answer.status_code in {200, 202}, answer.text
        return str(answer.json()["id"])


@pytest.fixture(scope="module")
def house(chromium: Browser) -> Iterator[House]:
    with api(judged=True) as door, running_server(door.service) as url:
        for _ in range(HISTORY):
            door.service.history.add(take_sample(door.truth))
        yield House(door, url, chromium)


@pytest.fixture(scope="module")
def long_job(house: House) -> str:
    job = house.submit(LONG_BOOK, "long.txt")
    assert house.door.wait(job).state == "done"
    return job


@pytest.fixture(scope="module")
def bad_job(house: House) -> str:
    job = house.submit(BAD_BOOK, "bad.txt", takes=1)
    assert house.door.wait(job).state == "done_with_failures"
    return job


def open_chapters(view: Window) -> None:
    view.page.locator(".chapter summary").first.wait_for()
    for summary in view.page.locator(".chapter summary").all():
        summary.click()
    expect(view.page.locator(".segments > li").first).to_be_visible()


def test_no_view_has_a_serious_barrier(house: House, bad_job: str) -> None:
    with window(house.browser, house.url, reduced_motion="reduce") as view:
        found: dict[str, list[str]] = {}

        def look(name: str) -> None:
            view.page.emulate_media(color_scheme="light")
            found[name] = view.violations()
            view.page.emulate_media(color_scheme="dark")
            found[f"{name} in the dark"] = view.violations("color-contrast")  # nothing else is another there

        for place, heading in VIEWS.items():
            view.go(place, heading)
            look(place)
        view.go(f"#/jobs/{bad_job}", "bad")
        open_chapters(view)
        look("job")
        view.go("#/submit", "Submit")
        view.page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        view.drop(("a.txt", BAD_BOOK.encode()))
        view.page.get_by_role("button", name="Queue it").wait_for()
        look("plan")
        for broken in ("#/nowhere", "#/jobs/%E0%A4"):
            view.go(broken, "Nothing here")
        look("nothing")
        view.go("#/jobs/no-such-job", "No such job")
        look("no such job")
        assert {place: problems for place, problems in found.items() if problems} == {}


def test_a_phone_is_wide_enough(house: House, bad_job: str, long_job: str) -> None:
    with window(house.browser, house.url, viewport=PHONE, is_mobile=True, has_touch=True) as view:
        for place, heading in VIEWS.items():
            view.go(place, heading)
            assert view.overflow_px() == 0, place
        view.page.get_by_text("The same as a table").click()
        assert view.overflow_px() == 0
        view.go(f"#/jobs/{bad_job}", "bad")
        open_chapters(view)
        assert view.overflow_px() == 0
        view.go("#/submit", "Submit")
        view.page.get_by_text("More options").click()
        view.drop(("x" * 120 + ".txt", LONG_BOOK.encode()))
        view.page.get_by_role("button", name="Queue it").wait_for()
        assert view.overflow_px() == 0


def test_everything_is_reached_by_keys(house: House, long_job: str) -> None:
    with window(house.browser, house.url) as view:
        page = view.page
        view.go("#/", "Jobs")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("main")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_label("Show")).to_be_focused()
        page.keyboard.press("Tab")
        link = page.locator(".job h2 a").first
        expect(link).to_be_focused()
        assert link.evaluate("node => getComputedStyle(node).outlineStyle") != "none"
        view.go(f"#/jobs/{long_job}", "long")
        page.locator(".back a").focus()
        expected = ["All jobs", "Play", "Back 10 seconds", "On 10 seconds"]
        reached = set()
        for _ in range(12):
            name = page.evaluate("() => document.activeElement.ariaLabel ?? document.activeElement.textContent")
            reached.add(name)
            page.keyboard.press("Tab")
        assert set(expected) <= reached
        page.locator(".chapter summary").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".segments > li").first).to_be_visible()


def test_the_keys_of_a_player(house: House, long_job: str) -> None:
    with window(house.browser, house.url) as view:
        page = view.page
        view.go(f"#/jobs/{long_job}", "long")
        time = page.locator(".player .time")
        expect(time).not_to_contain_text("/ 0:00")
        page.keyboard.press("Space")
        page.wait_for_function("() => document.getElementById('audio').currentTime > 0.3")
        expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => Number(document.getElementById('seek').value) > 10.2")
        assert "from_s=1" in page.eval_on_selector("#audio", "audio => audio.src")
        page.keyboard.press("ArrowLeft")
        page.wait_for_function("() => Number(document.getElementById('seek').value) < 9")
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
        assert page.eval_on_selector("#audio", "audio => audio.paused") is True


def test_a_chapter_and_a_sentence_are_heard_where_they_begin(house: House, long_job: str) -> None:
    with window(house.browser, house.url) as view:
        page = view.page
        view.go(f"#/jobs/{long_job}", "long")
        begins_s = view.get(f"jobs/{long_job}/chapters")["data"][1]["start_s"]
        page.get_by_role("button", name="Play Chapter Two").click()
        page.wait_for_function("() => document.getElementById('audio').currentTime > 0.3")
        expect(page.locator(".player .where")).to_have_text("Chapter Two")
        assert abs(float(page.locator("#seek").input_value()) - begins_s) < 5
        page.locator(".chapter summary").nth(1).click()
        rows = page.locator(".segments > li")
        rows.nth(3).get_by_role("button", name="Play").click()
        text = rows.nth(3).locator(".text").inner_text()
        expect(page.locator(".player .sentence")).to_have_text(text)
        expect(rows.nth(3)).to_have_attribute("aria-current", "true")
        expect(page.locator(".player .ticks span")).to_have_count(1)
        page.get_by_role("slider", name="Position").fill("0.5")
        page.wait_for_function("() => document.getElementById('audio').src.includes('from_s=0.5')")
        expect(page.locator(".player .where")).to_have_text("Chapter One")


def test_the_end_is_an_end(house: House, long_job: str) -> None:
    with window(house.browser, house.url) as view:
        page = view.page
        view.go(f"#/jobs/{long_job}", "long")
        known_s = view.get(f"jobs/{long_job}/chapters")["known_s"]
        expect(page.locator("#seek")).to_be_enabled()
        page.locator("#seek").fill(f"{known_s - 1.5:.1f}")
        expect(page.locator(".player .status")).to_have_text("heard to the end")
        page.get_by_role("button", name="Play", exact=True).click()  # from the beginning
        page.wait_for_function("() => document.getElementById('audio').src.includes('from_s=0.0')")


def test_a_running_job_is_followed_and_a_cut_connection_is_mended(house: House) -> None:
    job, wire = house.submit(SLOW_BOOK, "slow.txt"), Wire(house.url)
    with contextlib.closing(wire), window(house.browser, wire.url) as view, contextlib.ExitStack() as stack:
        stack.callback(house.door.truth.cancel, job)  # whatever happens: it would keep the worker busy
        page = view.page
        page.add_init_script(SLOW_PAGES)
        view.go(f"#/jobs/{job}", "slow")
        page.locator(".chapter summary").first.click()
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_function("() => document.getElementById('audio').currentTime > 0.3")
        expect(page.locator("#polite")).to_contain_text("running")
        expect(page.locator("#polite")).not_to_contain_text("not known")
        wire.cut()
        expect(page.locator(".player .status")).to_contain_text("was cut")
        expect(page.get_by_role("alert").filter(has_text="does not answer")).to_be_visible()
        at_s = float(page.locator("#seek").input_value())
        wire.mend()
        page.wait_for_function(f"() => Number(document.getElementById('seek').value) > {at_s} + 0.3")
        expect(page.locator("#away")).to_be_hidden()
        again_s = float(parse_qs(urlsplit(page.eval_on_selector("#audio", "audio => audio.src")).query)["from_s"][0])
        assert at_s - 0.5 <= again_s <= at_s + 0.5, "it goes on where it was heard last"

        known = "() => Number(document.getElementById('seek').max)"
        before = page.evaluate(known)
        page.wait_for_function(f"() => Number(document.getElementById('seek').max) > {before} + 1")
        page.get_by_role("button", name="Live").click()
        page.wait_for_function("() => document.getElementById('audio').src.includes('from=now')")
        assert house.door.truth.job(job).state == "running"
        assert page.evaluate("() => globalThis.mostPages") == 1, "a list is asked for again when its answer is there"

        page.get_by_role("button", name="Pause", exact=True).click()
        page.get_by_role("button", name="Pause the job").click()
        expect(page.locator(".job-head .badge")).to_have_text("paused")
        page.get_by_role("button", name="Resume the job").click()
        expect(page.locator(".job-head .badge")).to_have_text(re.compile("running|queued"))
        page.get_by_role("button", name="Cancel the job…").click()
        page.get_by_role("button", name="Keep it").click()
        assert house.door.truth.job(job).state != "cancelled"
        page.get_by_role("button", name="Cancel the job…").click()
        page.get_by_role("button", name="Yes, cancel it").click()
        expect(page.locator(".job-head .badge")).to_have_text("cancelled")
        assert house.door.truth.job(job).state == "cancelled"
        assert page.title().startswith("cancelled · slow")


def test_a_tab_in_the_background_asks_seldom_and_its_title_is_true(house: House) -> None:
    job = house.submit(SLOW_BOOK, "behind.txt")
    with window(house.browser, house.url) as view, contextlib.ExitStack() as stack:
        stack.callback(house.door.truth.cancel, job)
        page = view.page
        asked: list[str] = []
        page.clock.install()
        view.go(f"#/jobs/{job}", "behind")
        page.evaluate(HIDE)
        page.clock.fast_forward(15_000)  # what was about to be asked is
        page.wait_for_timeout(500)
        page.on("request", lambda request: asked.append(request.url))
        house.door.truth.cancel(job)
        page.clock.fast_forward(20_000)
        page.wait_for_timeout(300)
        assert asked == [], "nobody looks"
        page.clock.fast_forward(15_000)
        page.wait_for_function("() => document.title.startsWith('cancelled')")
        assert not any("/events" in url for url in asked)


def test_a_jump_on_never_goes_back(house: House, long_job: str) -> None:
    with window(house.browser, house.url) as view:
        page = view.page
        known = {"object": "list", "data": [], "known_s": 1.0}  # as a tab in the background knew it some time ago
        page.route("**/chapters", lambda route: route.fulfill(json=known))
        view.go(f"#/jobs/{long_job}", "long")
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_function("() => document.getElementById('audio').currentTime > 2")
        page.get_by_role("button", name="On 10 seconds").click()
        to_s = float(parse_qs(urlsplit(page.eval_on_selector("#audio", "audio => audio.src")).query)["from_s"][0])
        assert to_s > 1.5, "not back to what is known"


def test_what_was_written_survives_a_server_that_was_away(house: House) -> None:
    wire = Wire(house.url)
    with contextlib.closing(wire), window(house.browser, wire.url) as view:
        page = view.page
        view.go("#/submit", "Submit")
        page.get_by_text("Or paste a text").click()
        page.get_by_label("Text", exact=True).fill("A text of a long evening.")
        wire.cut()
        page.get_by_role("button", name="Look at this text").click()
        expect(page.locator("#away")).to_be_visible()
        page.get_by_role("button", name="Try now").click()
        wire.mend()
        expect(page.locator("#away")).to_be_hidden()  # nothing else in this view asks
        assert page.get_by_label("Text", exact=True).input_value() == "A text of a long evening."
        page.get_by_role("button", name="Try again").click()
        page.get_by_role("button", name="Queue it").wait_for()


def test_a_bad_segment_is_named_and_spoken_again(house: House) -> None:
    job = house.submit(BAD_BOOK, "again.txt", takes=1)
    house.door.wait(job)
    with window(house.browser, house.url) as view:
        page = view.page
        view.go(f"#/jobs/{job}", "again")
        failures = page.get_by_role("region", name="What went wrong")
        expect(failures).to_contain_text("rejected")
        expect(failures).to_contain_text("1 segment")
        page.get_by_label("only what is bad").check()
        expect(page.locator(".chapter")).to_have_count(1)
        page.locator(".chapter summary").click()
        rows = page.locator(".segments > li")
        expect(rows).to_have_count(1)
        expect(rows.first).to_contain_text("A bad line")
        expect(rows.first.locator(".badge")).to_have_text("failed")
        tried = failed_events(house, job)
        rows.first.get_by_role("button", name="Retry").click()
        wait_for_failures(view, house, job, tried + 1)
        page.wait_for_function("() => document.title.startsWith('done, with failures')")
        page.get_by_role("button", name="Retry what is bad").click()
        wait_for_failures(view, house, job, tried + 2)


def failed_events(house: House, job: str) -> int:
    return sum(event.kind == "segment_failed" for _, event in house.door.streams.events(job))


def wait_for_failures(view: Window, house: House, job: str, number: int) -> None:
    for _ in range(100):
        if failed_events(house, job) == number:
            return
        view.page.wait_for_timeout(100)
    pytest.fail(f"{failed_events(house, job)} failures, not {number}")


def test_errors_stand_at_their_fields_and_options_make_a_plan_old(house: House) -> None:
    with window(house.browser, house.url) as view:
        page = view.page
        view.go("#/submit", "Submit")
        page.get_by_text("More options").click()
        page.get_by_label("Encoding").fill("no-such-thing")
        view.drop(("book.txt", LONG_BOOK.encode()))
        expect(page.get_by_role("region", name="The plan", exact=True).get_by_role("alert")).to_be_visible()
        expect(page.locator("#field-encoding-problem")).to_contain_text("no-such-thing")
        page.get_by_label("Encoding").fill("")
        page.get_by_label("Speed").fill("7")
        page.get_by_role("button", name="Look at the plan").click()
        expect(page.get_by_label("Speed")).to_have_attribute("aria-invalid", "true")
        expect(page.locator("#field-speed-problem")).to_contain_text("7")
        expect(page.get_by_label("Speed")).to_be_focused()
        page.get_by_label("Speed").fill("")
        page.get_by_role("button", name="Look at the plan").click()
        page.get_by_role("button", name="Queue it").wait_for()
        expect(page.get_by_label("Speed")).not_to_have_attribute("aria-invalid", "true")
        page.get_by_label("Speed").fill("1.5")
        expect(page.get_by_role("button", name="Queue it")).to_have_count(0)  # that plan was another one
        expect(page.get_by_text("The options changed.")).to_be_visible()


def test_several_files_one_after_the_other_and_a_pasted_text(house: House) -> None:
    before = {job.job for job in house.door.truth.jobs()}
    with window(house.browser, house.url) as view:
        page = view.page
        view.go("#/submit", "Submit")
        page.get_by_label("flac").check()
        page.get_by_label("Model", exact=True).select_option("fake")
        view.drop(("first.txt", b"The first text."), ("second.txt", b"The second text."), ("third.txt", b"A third."))
        page.get_by_role("button", name="Queue it and see the next").click()
        expect(page.locator("#plan + p")).to_contain_text("second.txt")
        page.get_by_role("button", name="Leave it out").click()
        expect(page.locator("#plan + p")).to_contain_text("third.txt")
        page.get_by_role("button", name="Queue it", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
        made = {job.spec.source_name: job for job in house.door.truth.jobs() if job.job not in before}
        assert set(made) == {"first.txt", "third.txt"}
        assert [format_.value for format_ in made["first.txt"].spec.formats] == ["flac"]

        view.go("#/submit", "Submit")
        page.get_by_text("Or paste a text").click()
        page.get_by_label("Text", exact=True).fill("Pasted words are spoken too.")
        page.get_by_role("button", name="Look at this text").click()
        page.get_by_role("button", name="Queue it").click()
        page.wait_for_url(re.compile("#/jobs/"))
        record = house.door.truth.job(job_of(view))
        assert record.total == 1


def test_jobs_are_filtered_and_paged(house: House, bad_job: str) -> None:
    for number in range(26):
        house.door.truth.cancel(house.submit(f"Text number {number}.", f"many-{number}.txt"))  # only to be listed
    with window(house.browser, house.url) as view:
        page = view.page
        view.go("#/", "Jobs")
        expect(page.locator(".job")).to_have_count(25)
        first = page.locator(".job h2").first.inner_text()
        page.get_by_role("link", name="Older").click()
        page.get_by_role("link", name="Newest").wait_for()
        expect(page.locator(".job h2").first).not_to_have_text(first)
        page.get_by_label("Show").select_option("done_with_failures")
        expect(page.locator(".job .badge").first).to_have_text("done, with failures")
        assert set(page.locator(".job .badge").all_inner_texts()) == {"done, with failures"}
        page.go_back()
        page.get_by_role("link", name="Newest").wait_for()


def test_colours_are_chosen_and_kept(house: House) -> None:
    with window(house.browser, house.url, color_scheme="light") as view:
        page = view.page
        ground = "getComputedStyle(document.body).backgroundColor"
        view.go("#/", "Jobs")
        light = page.evaluate(ground)
        page.get_by_label("Colours").select_option("dark")
        dark = page.evaluate(ground)
        assert dark != light
        page.reload()
        assert page.evaluate(ground) == dark
        page.get_by_label("Colours").select_option("auto")
        assert page.evaluate(ground) == light


def test_workers_and_their_history(house: House) -> None:
    with window(house.browser, house.url) as view:
        page = view.page
        view.go("#/workers", "Workers")
        now = page.get_by_role("region", name="Workers that are up")
        expect(now).to_contain_text("of 4")
        expect(now).to_contain_text("fake")
        charts = page.get_by_role("img")
        expect(charts.first).to_have_attribute("aria-label", re.compile("Segments in the queue. live: now 0"))
        expect(charts.nth(1)).to_have_attribute("aria-label", re.compile(r"Slots of .*slots busy: now \d"))
        page.get_by_text("The same as a table").click()
        table = page.get_by_role("region", name="Queue and slots over time")
        assert table.get_by_role("row").count() >= HISTORY + 1


def test_below_a_path_of_another_server(house: House, bad_job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers_api, "make_app", lambda service: below("/tts", make_app(service)))
    with running_server(house.door.service) as url, window(house.browser, f"{url}/tts") as view:
        page = view.page
        view.go("#/", "Jobs")
        view.go(f"#/jobs/{bad_job}", "bad")
        assert page.get_by_role("link", name="book.m4b").get_attribute("href") == (
            f"{url}/tts/v1/jobs/{bad_job}/files/book.m4b"
        )
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_function("() => document.getElementById('audio').currentTime > 0.2")


def below(prefix: str, app: FastAPI) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """What a proxy does that answers under a path and passes on the rest of it."""

    async def passed_on(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            assert scope["path"].startswith(f"{prefix}/"), scope["path"]
            path = scope["path"].removeprefix(prefix)
            scope = {**scope, "path": path, "raw_path": path.encode()}
        await app(scope, receive, send)

    return passed_on
