"""Chromium for the tests of the page: a browser, views that are ready, and what is heard in them."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]
WAIT_MS = 60_000
DESKTOP = {"width": 1100, "height": 850}
PHONE = {"width": 360, "height": 740}
SERIOUS = {"serious", "critical"}
EXPECTED_NOISE = ("Failed to load resource", "net::ERR")
"""What a browser writes to its console by itself where a server refuses or is away."""

LISTEN = """async () => {
  const audio = document.getElementById("audio");
  const context = new AudioContext();
  const meter = context.createAnalyser();
  context.createMediaStreamSource(audio.captureStream()).connect(meter);
  await context.resume();
  const samples = new Float32Array(meter.fftSize);
  let loudest = 0;
  for (let turn = 0; turn < 100 && loudest < 0.02; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    meter.getFloatTimeDomainData(samples);
    loudest = Math.max(loudest, Math.hypot(...samples) / Math.sqrt(samples.length));
  }
  await context.close();
  return loudest;
}"""
"""The level (RMS, 1 is full scale) of what the audio element sends to the loudspeaker, loud moments first."""

DROP = """([zone, files]) => {
  const transfer = new DataTransfer();
  for (const [name, type, content] of files) {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], name, { type }));
  }
  for (const event of ["dragenter", "dragover", "drop"]) {
    zone.dispatchEvent(new DragEvent(event, { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }
}"""

SLOW_PAGES = """(() => {
  const real = globalThis.fetch;
  let open = 0;
  globalThis.mostPages = 0;
  globalThis.fetch = async (address, options) => {
    const isPage = String(address).includes("/segments") && String(address).includes("limit=100");
    if (!isPage) return real(address, options);
    open += 1;
    globalThis.mostPages = Math.max(globalThis.mostPages, open);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return real(address, options).finally(() => { open -= 1; });
  };
})()"""
"""Pages of segments come slower than the job goes on; `mostPages` is how many were asked for at one time."""
HIDE = """() => {
  Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""The tab goes to the background, as far as the page can tell."""


@contextmanager
def browser() -> Iterator[Browser]:
    """Debian's chromium; where there is none, the test is skipped, in CI it fails."""
    if CHROMIUM is None:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium is not installed, and CI must run this")
        pytest.skip("chromium is not installed (package chromium)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield started
        finally:
            started.close()


@dataclass
class Window:
    """A window of the page at a server. Errors of its scripts fail the test that closes it."""

    page: Page
    url: str
    errors: list[str]

    def go(self, view: str, heading: str | None = None) -> None:
        """Open a view (`#/workers`) and wait for its heading, and until nothing of it is being loaded."""
        self.page.goto(f"{self.url}/{view}")
        if heading is not None:
            self.page.get_by_role("heading", level=1, name=heading).wait_for(timeout=WAIT_MS)
        self.page.wait_for_function("() => !document.querySelector('.loading')", timeout=WAIT_MS)

    def drop(self, *files: tuple[str, bytes]) -> None:
        """Drop files where the page takes them, as somebody does with a mouse."""
        parts = [[name, "text/plain", base64.b64encode(data).decode()] for name, data in files]
        self.page.evaluate(DROP, [self.page.query_selector(".drop"), parts])

    def get(self, path: str) -> Any:
        """What the API says, asked by the page's own browser."""
        answer = self.page.request.get(f"{self.url}/v1/{path}")
        assert answer.ok, answer.text()
        return answer.json()

    def position_s(self) -> float:
        """How much was played of the present stream."""
        return float(self.page.eval_on_selector("#audio", "audio => audio.currentTime"))

    def overflow_px(self) -> int:
        """How far the page can be scrolled sideways."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def violations(self, *rules: str) -> list[str]:
        """What axe-core finds serious or critical, by all rules or these."""
        only = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
        found = Axe().run(self.page, options={"resultTypes": ["violations"], **only}).response["violations"]
        return [
            f"{one['id']}: {node['html'][:200]} {node.get('failureSummary', '')}"
            for one in found
            if one["impact"] in SERIOUS
            for node in one["nodes"]
        ]


@contextmanager
def window(started: Browser, url: str, **options: Any) -> Iterator[Window]:
    """A fresh window with no cookies."""
    context = started.new_context(**{"viewport": DESKTOP, "accept_downloads": True, **options})
    errors: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not message.text.startswith(EXPECTED_NOISE):
            errors.append(message.text)

    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", heard)
    try:
        yield Window(page, url, errors)
        assert errors == []
    finally:
        context.close()


class Wire:
    """A TCP wire to a server that can be cut: all that goes over it breaks, and nothing new gets through."""

    def __init__(self, url: str) -> None:
        self._to = ("127.0.0.1", int(url.rpartition(":")[2]))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._whole = True
        threading.Thread(target=self._accept, name="wire", daemon=True).start()

    @property
    def url(self) -> str:
        """Where the server is found over this wire."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        with self._lock:
            self._whole = False
            for end in self._open:
                with contextlib.suppress(OSError):  # closed already
                    # A reset, without a good-bye.
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                _shut(end)
            self._open.clear()

    def mend(self) -> None:
        with self._lock:
            self._whole = True

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:  # closed
                return
            with self._lock:
                if not self._whole:
                    near.close()
                    continue
                far = socket.create_connection(self._to)
                self._open += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=_carry, args=(source, target), name="wire", daemon=True).start()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    for end in (source, target):
        _shut(end)


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


def job_of(view: Window) -> str:
    """The id of the job that is looked at."""
    return view.page.url.rpartition("/")[2]


BOOK = Path(__file__).parents[2] / "examples" / "book.txt"
