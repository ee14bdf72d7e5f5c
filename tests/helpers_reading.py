"""Sources for tests of reading and planning: the cases, small epubs made on the spot, plans of bytes."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

from jobs.narration import Limits
from jobs.plan import Plan
from jobs.planning import Origin, Planned, PlanOptions, build_plan
from jobs.reading import kind_of, read_source
from jobs.reading.document import Document

CASES = Path(__file__).parent / "data" / "cases"
CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
METADATA = "<dc:title>A Book</dc:title><dc:creator>Ann Author</dc:creator><dc:language>en-GB</dc:language>"


def case(name: str) -> bytes:
    """The bytes of one case."""
    return (CASES / name).read_bytes()


def expected() -> dict[str, dict[str, object]]:
    """What `cases.tsv` says of each case, by file name."""
    with (CASES / "cases.tsv").open(encoding="utf-8", newline="") as lines:
        return {row["file"]: json.loads(row["expect_json"]) for row in csv.DictReader(lines, delimiter="\t")}


def read(text: str | bytes, name: str = "book.txt") -> Document:
    """The document of a source written in a test."""
    return read_source(text if isinstance(text, bytes) else text.encode(), name)


def planned_of(
    text: str | bytes,
    name: str = "book.txt",
    *,
    max_chars: int = 200,
    pack_chars: int = 0,
    language: str = "en",
    options: PlanOptions | None = None,
) -> Planned:
    """The plan of a source written in a test, with its sentences."""
    options = options or PlanOptions()
    data = text if isinstance(text, bytes) else text.encode()
    return build_plan(
        read_source(data, name, options=options.reading),
        Origin(name, kind_of(name), "0" * 64),
        language=language,
        limits=Limits(max_chars=max_chars, pack_chars=pack_chars),
        options=options,
    )


def plan_of(
    text: str | bytes, name: str = "book.txt", *, max_chars: int = 200, pack_chars: int = 0, language: str = "en"
) -> Plan:
    """The plan of a source written in a test."""
    return planned_of(text, name, max_chars=max_chars, pack_chars=pack_chars, language=language).plan


def spoken(plan: Plan) -> list[str]:
    """What is spoken, in order."""
    return [segment.spoken for segment in plan.segments]


def xhtml(body: str, *, head: str = "") -> str:
    """An XHTML document around a body."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>file</title>{head}</head><body>{body}</body></html>'
    )


def epub(
    files: dict[str, str | bytes], *, manifest: str = "", spine: str = "", metadata: str = METADATA, guide: str = ""
) -> bytes:
    """An EPUB. `files` are put below `OPS/`; xhtml files are in the manifest and spine by their stem, in order.

    `manifest` and `guide` are added; `spine` is used instead of the made one.
    """
    items = "".join(
        f'<item id="{Path(name).stem}" href="{name}" media-type="application/xhtml+xml"/>'
        for name in files
        if name.endswith(".xhtml") and f'"{name}"' not in manifest
    )
    refs = spine or "".join(
        f'<itemref idref="{Path(name).stem}"/>'
        for name in files
        if name.endswith(".xhtml") and f'"{name}"' not in manifest
    )
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}{manifest}</manifest><spine>{refs}</spine>{guide}</package>"
    )
    inside = {"OPS/book.opf": package, "META-INF/container.xml": CONTAINER}
    inside |= {name if name.startswith("META-INF/") else f"OPS/{name}": text for name, text in files.items()}
    return archive(inside)


def archive(files: dict[str, str | bytes]) -> bytes:
    """A ZIP archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, text in files.items():
            packed.writestr(name, text)
    return target.getvalue()
