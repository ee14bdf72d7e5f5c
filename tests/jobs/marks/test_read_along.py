"""Read-along books: they hold to the rules of EPUB 3, each clip sounds like its sentence, nothing else is changed."""

from __future__ import annotations

import io
import re
import zipfile
from fractions import Fraction

import av
import numpy as np
import pytest
from lxml import etree

from jobs import keys
from jobs.account import DEFAULT_SKIP, Why
from jobs.deliver import finished_objects
from jobs.drafts import Source, Wishes, make_draft
from jobs.edit import edited_plan, plan_text
from jobs.errors import BadOption, BadSource, ObjectDamaged
from jobs.marks.read_along_places import load_places, parts_of
from jobs.planning import PlanOptions
from jobs.reading.options import ReadingOptions
from jobs.spec import AudioFormat
from tests.helpers_jobs import OFFER, World
from tests.helpers_reading import CONTAINER, archive, epub, xhtml
from tests.jobs.marks.read_along_making import RATE_HZ, Made, made_of, pitch_hz
from tests.jobs.marks.read_along_rules import NS, Book

ONE = (
    '<h1 id="top">The First Part</h1><p>One <em>is</em> here. “<i>Two.</i> Three</p><p>It cost $5.30 &amp; that'
    '<sup><a href="#n">1</a></sup> was all.</p><ul><li>Item one.</li><li>Item <b>two. Then</b> three.</li></ul>'
    '<hr/><p id="n">1. A note.</p>'
)
TWO = '<h1><img src="x.png" alt="Chapter Two"/></h1><p>Four is here. Five is here.</p><p hidden="">Not shown.</p>'
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000"
    "000049454e44ae426082"
)
METADATA = (
    '<dc:title>A Book</dc:title><dc:creator>Ann Author</dc:creator><dc:language>en</dc:language><dc:identifier id="u">'
    'urn:x:1</dc:identifier><meta property="dcterms:modified">2020-01-01T00:00:00Z</meta>'
)
CONTENTS = (
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head>'
    '<title>Contents</title></head><body><nav epub:type="toc"><ol><li><a href="one.xhtml">The First Part</a></li><li>'
    '<a href="two.xhtml">Chapter Two</a></li></ol></nav></body></html>'
)
NAV_ITEM = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'


def epub3(one: str = ONE, two: str = TWO, *, manifest: str = "", more: dict[str, str | bytes] | None = None) -> bytes:
    """A valid EPUB 3 of two chapters."""
    files: dict[str, str | bytes] = {
        "one.xhtml": xhtml(one),
        "two.xhtml": xhtml(two),
        "nav.xhtml": CONTENTS,
        "x.png": PNG,
    }
    picture = '<item id="p" href="x.png" media-type="image/png"/>'
    made = epub(files | (more or {}), manifest=NAV_ITEM + picture + manifest, metadata=METADATA)
    return changed(made, "OPS/book.opf", '<package xmlns="', '<package unique-identifier="u" xmlns="')


def epub2() -> bytes:
    """A valid EPUB 2 as they were made about 2010, with a cover page in SVG and old document types."""
    doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">'
    head = (
        '<head><title>t</title><meta http-equiv="Content-Type" content="application/xhtml+xml; charset=utf-8"/></head>'
    )

    def page(body: str) -> str:
        root = '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en">'
        return f'<?xml version="1.0" encoding="utf-8"?>\n{doctype}\n{root}{head}<body>{body}</body></html>'

    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="2.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">'
        '<dc:title>Old Book</dc:title><dc:creator opf:role="aut" opf:file-as="Author, Ann">Ann Author</dc:creator>'
        '<dc:identifier id="id" opf:scheme="UUID">urn:uuid:5d4a1c2e-8a33-4a67-9a28-8f1f4c7f2d11</dc:identifier>'
        '<dc:language>en</dc:language><dc:date opf:event="creation">2009</dc:date>'
        '<dc:date opf:event="publication">2010-05-01</dc:date><meta name="cover" content="pic"/></metadata><manifest>'
        '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        '<item id="cover" href="cover.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="text/one%20a.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="b" href="text/two.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="pic" href="x.png" media-type="image/png"/></manifest>'
        '<spine toc="ncx"><itemref idref="cover"/><itemref idref="a"/><itemref idref="b"/></spine>'
        '<guide><reference type="cover" title="Cover" href="cover.xhtml"/></guide></package>'
    )
    ncx = (
        '<?xml version="1.0"?><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><head>'
        '<meta name="dtb:uid" content="urn:uuid:5d4a1c2e-8a33-4a67-9a28-8f1f4c7f2d11"/></head><docTitle><text>Old Book'
        '</text></docTitle><navMap><navPoint id="n1" playOrder="1"><navLabel><text>One &amp; Only</text></navLabel>'
        '<content src="text/one%20a.xhtml"/><navPoint id="n2" playOrder="2"><navLabel><text>Inside</text></navLabel>'
        '<content src="text/one%20a.xhtml#in"/></navPoint></navPoint><navPoint id="n3" playOrder="3"><navLabel><text>'
        'Two</text></navLabel><content src="text/two.xhtml"/></navPoint></navMap></ncx>'
    )
    drawing = (
        '<div><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="100%" '
        'height="100%" viewBox="0 0 1 1"><image width="1" height="1" xlink:href="x.png"/></svg></div>'
    )
    return archive(
        {
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": package,
            "OPS/toc.ncx": ncx,
            "OPS/cover.xhtml": page(drawing),
            "OPS/text/one a.xhtml": page(
                '<h1>One</h1><p>It&nbsp;was caf&eacute;. It is.</p><h2 id="in">Inside</h2><p>So.</p>'
            ),
            "OPS/text/two.xhtml": page("<h1>Two</h1><p>Then <i>it. Was</i> over.</p>"),
            "OPS/x.png": PNG,
        }
    )


def changed(data: bytes, name: str, old: str, new: str) -> bytes:
    """An archive in which one file has another passage."""
    source = zipfile.ZipFile(io.BytesIO(data))
    files = {entry: source.read(entry) for entry in source.namelist() if entry != "mimetype"}
    assert old.encode() in files[name]
    return archive(files | {name: files[name].replace(old.encode(), new.encode())})


def book_of(made: Made) -> Book:
    """The read-along book of a job, which holds to the rules; it is the same whenever it is made."""
    data = made.data
    assert data is not None
    assert made.data == data
    return Book(data)


def heard_hz(book: Book, audio: str, begin_s: Fraction, end_s: Fraction) -> set[int]:
    """The pitches (rounded to 1 Hz) that are heard for long in a clip."""
    with av.open(io.BytesIO(book.read(audio))) as file:
        stream = file.streams.audio[0]
        rate_hz = stream.rate
        sound = np.concatenate([frame.to_ndarray()[0] for frame in file.decode(stream)]).astype(np.float64)
    clip = sound[round(begin_s * rate_hz) : round(end_s * rate_hz)]
    clip /= np.abs(sound).max()
    found = set()
    for start in range(0, clip.size - rate_hz // 10 + 1, rate_hz // 10):
        window = clip[start : start + rate_hz // 10]
        if np.sqrt(np.mean(window**2)) > 0.5:  # a sine of full scale has 0.71
            spectrum = np.abs(np.fft.rfft(window * np.hanning(window.size), 16 * window.size))
            found.add(round(float(np.argmax(spectrum)) * rate_hz / (16 * window.size)))
    return found


@pytest.mark.parametrize("source", [epub3(), epub2()], ids=["epub3", "epub2"])
def test_each_clip_sounds_like_its_sentence(source: bytes) -> None:
    made = made_of(source)
    book = book_of(made)
    for par in book.pars:
        segment = int(par.id[4:10])
        for pitch in heard_hz(book, par.audio, par.begin_s, par.end_s):
            assert pitch == pytest.approx(pitch_hz(segment), rel=0.02), par
    said = {int(par.id[4:10]) for par in book.pars}
    assert said == {segment.segment for segment in made.plan.segments}
    for segment in made.plan.segments:
        marked = "".join(par.text for par in book.pars if int(par.id[4:10]) == segment.segment)
        wanted = "".join(segment.text.split())
        assert "".join(marked.split()).replace("that1", "that") == wanted


def test_the_visible_text_and_everything_else_stays() -> None:
    source = epub3(
        more={"fonts/a.otf": b"\0\1font"}, manifest='<item id="f" href="fonts/a.otf" media-type="font/otf"/>'
    )
    before, book = zipfile.ZipFile(io.BytesIO(source)), book_of(made_of(source))
    assert set(before.namelist()) <= set(book.names)
    touched = {"OPS/one.xhtml", "OPS/two.xhtml", "OPS/book.opf"}
    for name in before.namelist():
        if name not in touched:
            assert book.read(name) == before.read(name)
    for name in ("OPS/one.xhtml", "OPS/two.xhtml"):
        text = re.sub(
            r'<span id="tts-[^"]*">|<link rel="stylesheet"[^>]*read-along\.css"/>', "", book.read(name).decode()
        )
        assert text.count("</span>") == len([par for par in book.pars if par.document == name])
        assert text.replace("</span>", "") == before.read(name).decode()


def test_a_book_of_the_old_kind_becomes_one_of_the_new() -> None:
    book = book_of(made_of(epub2()))
    one = book.read("OPS/text/one a.xhtml").decode()
    assert "<!DOCTYPE html>\n" in one
    assert "It\xa0was café." in one
    assert "&nbsp;" not in one
    assert b"<!DOCTYPE html>" in book.read("OPS/cover.xhtml")
    assert book.items["OPS/cover.xhtml"].get("properties") == "svg"
    assert book.items["OPS/x.png"].get("properties") == "cover-image"
    (navigation,) = (name for name, item in book.items.items() if item.get("properties") == "nav")
    listed = [
        (len(link.xpath("ancestor::h:ol", namespaces=NS)), link.text, link.get("href"))
        for link in book.xml(navigation).iter("{*}a")
    ]
    assert listed == [
        (1, "One & Only", "../text/one%20a.xhtml"),
        (2, "Inside", "../text/one%20a.xhtml#in"),
        (1, "Two", "../text/two.xhtml"),
    ]
    package = book.package
    assert package.xpath("//dc:date/text()", namespaces=NS) == ["2010-05-01"]
    (creator,) = package.xpath("//dc:creator", namespaces=NS)
    refined = package.xpath(f"//opf:meta[@refines='#{creator.get('id')}']", namespaces=NS)
    assert [(meta.get("property"), meta.text) for meta in refined] == [("role", "aut"), ("file-as", "Author, Ann")]
    assert {node.prefix for node in package.iter("{*}meta", "{*}item")} == {None}  # some readers look for the letters
    assert not [name for node in package.iter("{*}identifier") for name in node.attrib if "}" in name]


def test_a_date_that_an_archive_has_and_no_calendar_does_not_get_into_the_book() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(epub2())) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name, (2020, 15, 31, 30, 61, 0)), old.read(name))
    package = book_of(made_of(made.getvalue())).package
    changed = package.xpath("//opf:meta[@property='dcterms:modified']/text()", namespaces=NS)
    assert changed == ["1980-01-01T00:00:00Z"]


def test_what_failed_is_marked_by_nothing_and_heard_nowhere() -> None:
    made = made_of(epub3(), failed={1, 4})
    book = book_of(made)
    assert {int(par.id[4:10]) for par in book.pars}.isdisjoint({1, 4})
    assert 'id="tts-000001"' not in book.read("OPS/one.xhtml").decode()
    first, after = (next(par for par in book.pars if par.id == name) for name in ("tts-000000", "tts-000002"))
    assert after.begin_s - first.end_s > Fraction(1, 4)  # the silent gap of segment 1 belongs to nobody


def test_a_document_and_a_book_of_which_nothing_was_spoken() -> None:
    made = made_of(epub3())
    second = [segment.segment for segment in made.plan.segments if segment.chapter == 1]
    half = made_of(epub3(), failed=second)
    book = book_of(half)
    assert {par.document for par in book.pars} == {"OPS/one.xhtml"}
    assert book.read("OPS/two.xhtml").decode() == xhtml(TWO)
    assert len([name for name in book.names if name.endswith(".m4a")]) == 1
    everything = [segment.segment for segment in made.plan.segments]
    assert made_of(epub3(), failed=everything).data is None


@pytest.mark.parametrize(
    ("formats", "ending"),
    [
        ((AudioFormat.MP3, AudioFormat.M4B), "m4a"),
        ((AudioFormat.OPUS, AudioFormat.MP3), "mp3"),
        ((AudioFormat.FLAC, AudioFormat.OPUS), "opus"),
        ((AudioFormat.FLAC,), "m4a"),
        ((AudioFormat.WAV,), "m4a"),
    ],
)
def test_the_best_recordings_of_the_job_are_used(formats: tuple[AudioFormat, ...], ending: str) -> None:
    made = made_of(epub3(), formats=formats)
    book = book_of(made)
    audio = [name for name in book.names if name.startswith("OPS/read-along/audio-")]
    assert audio == [f"OPS/read-along/audio-001.{ending}", f"OPS/read-along/audio-002.{ending}"]
    chapters = [key for key in made.store.list(f"jobs/{made.record.job}/chapters/") if key.endswith(ending)]
    if chapters:
        assert [book.read(name) for name in audio] == [made.store.get(key) for key in sorted(chapters)]
    for par in book.pars[:3]:
        for pitch in heard_hz(book, par.audio, par.begin_s, par.end_s):
            assert pitch == pytest.approx(pitch_hz(int(par.id[4:10])), rel=0.02)


def test_a_chapter_file_that_got_lost_is_made_again() -> None:
    made = made_of(epub3())
    whole = made.data
    (first, *_) = made.store.list(f"jobs/{made.record.job}/chapters/")
    made.store.delete(first)
    assert made.data == whole


def test_each_sentence_of_a_packed_segment_has_its_own_mark() -> None:
    made = made_of(epub3("<h1>A</h1><p>One is here. Two is <b>here. Three</b> is here.</p>"), pack_chars=120)
    packed = next(segment for segment in made.plan.segments if len(segment.sentences) == 3)
    book = book_of(made)
    name = f"tts-{packed.segment:06d}"
    assert [(par.id, par.text) for par in book.pars if par.id.startswith(name)] == [
        (name, "One is here."),
        (f"{name}.1", "Two is"),
        (f"{name}.1-2", "here."),
        (f"{name}.2", "Three"),
        (f"{name}.2-2", "is here."),
    ]


def test_a_chapter_over_two_documents_and_two_chapters_in_one() -> None:
    contents = CONTENTS.replace('<li><a href="two.xhtml">Chapter Two</a></li>', '<li><a href="one.xhtml#b">B</a></li>')
    source = epub3(
        '<h1>A</h1><p>One is.</p><h1 id="b">B</h1><p>Two is.</p>', "<p>Three is.</p>", more={"nav.xhtml": contents}
    )
    made = made_of(source)
    assert [chapter.title for chapter in made.plan.chapters] == ["The First Part", "B"]
    book = book_of(made)
    assert [(par.document, par.text, par.audio[-7:]) for par in book.pars] == [
        ("OPS/one.xhtml", "A", "001.m4a"),
        ("OPS/one.xhtml", "One is.", "001.m4a"),
        ("OPS/one.xhtml", "B", "002.m4a"),
        ("OPS/one.xhtml", "Two is.", "002.m4a"),
        ("OPS/two.xhtml", "Three is.", "002.m4a"),
    ]


def test_what_is_kept_by_option_is_marked_too() -> None:
    keep = PlanOptions(reading=ReadingOptions(skip=DEFAULT_SKIP - {Why.IMAGES, Why.TABLES, Why.NOTES}))
    table = "<table><tr><th>Year</th><th>Ships</th></tr><tr><td>1801</td><td>two</td></tr></table>"
    made = made_of(epub3(ONE + table), options=keep)
    book = book_of(made)
    texts = [par.text for par in book.pars]
    assert "Chapter Two" in texts
    assert "1801" in texts
    assert "A note." in texts or "1. A note." in texts


def test_an_overlay_that_the_source_has_is_replaced() -> None:
    smil = '<smil xmlns="http://www.w3.org/ns/SMIL" version="3.0"><body/></smil>'
    source = epub3(
        more={"read-along/old.smil": smil},
        manifest='<item id="o" href="read-along/old.smil" media-type="application/smil+xml"/>',
    )
    source = changed(source, "OPS/book.opf", '<item id="one"', '<item media-overlay="o" id="one"')
    source = changed(source, "OPS/book.opf", "</metadata>", '<meta property="media:duration">0:00:09</meta></metadata>')
    book = book_of(made_of(source))
    assert "OPS/read-along/old.smil" not in book.names
    assert "OPS/read-along-2/text-001.smil" in book.names


def test_ids_of_the_source_stay_its_own() -> None:
    book = book_of(made_of(epub3(ONE.replace('id="top"', 'id="tts-000000"'))))
    assert {par.id[:5] for par in book.pars} == {"xtts-"}


@pytest.mark.parametrize(
    ("broken", "warning"),
    [
        ("<p>Six is here.<br></p>", "two.xhtml is not well-formed XML"),
        ("<p>Six is &nosuch; here.</p>", "two.xhtml is not well-formed XML"),
    ],
)
def test_a_broken_document_is_left_as_it_is_with_a_warning(broken: str, warning: str) -> None:
    made = made_of(epub3(two=broken))
    assert any(warning in told for told in made.plan.source.warnings)
    book = book_of(made)
    assert book.read("OPS/two.xhtml").decode() == xhtml(broken)
    assert {par.document for par in book.pars} == {"OPS/one.xhtml"}


@pytest.mark.parametrize("encoding", ["utf-16", "windows-1252", "utf-8-sig"])
def test_documents_in_other_encodings_are_read_and_written_as_utf_8(encoding: str) -> None:
    page = xhtml("<p>It was “caf\u00e9” and <b>na\u00efve</b>. So it was.</p>")
    page = page.replace('encoding="utf-8"', f'encoding="{encoding.removesuffix("-sig")}"')
    made = made_of(epub3(more={"two.xhtml": page.encode(encoding)}))
    book = book_of(made)
    assert [par.text for par in book.pars][-2:] == ["It was “caf\u00e9” and na\u00efve.", "So it was."]
    assert book.read("OPS/two.xhtml").decode().startswith('<?xml version="1.0" encoding="utf-8"?><html')


def test_a_document_that_is_no_xhtml_by_its_package_is_not_marked() -> None:
    source = changed(
        epub3(),
        "OPS/book.opf",
        'href="two.xhtml" media-type="application/xhtml+xml"',
        'href="two.xhtml" media-type="text/html"',
    )
    made = made_of(source)
    assert any("two.xhtml is text/html, not application/xhtml+xml" in told for told in made.plan.source.warnings)
    assert {par.document for par in book_of(made).pars} == {"OPS/one.xhtml"}


def test_signatures_and_what_leads_out_of_the_archive_are_left_behind() -> None:
    source = zipfile.ZipFile(io.BytesIO(epub3()))
    files = {entry: source.read(entry) for entry in source.namelist() if entry != "mimetype"}
    made = made_of(archive(files | {"META-INF/signatures.xml": "<s/>", "../evil": "x", "/etc/x": "y", "OPS/dir/": ""}))
    names = book_of(made).names
    assert not {"META-INF/signatures.xml", "../evil", "/etc/x", "OPS/dir/"} & set(names)


def test_a_book_without_a_usable_document_has_no_read_along() -> None:
    made = made_of(epub({"one.xhtml": xhtml("<p>One is here.<br></p>")}))
    assert made.data is None


def test_damage_anywhere_in_the_archive_is_said_before_anything_is_spoken() -> None:
    source = bytearray(epub3(more={"big.bin": bytes(range(256)) * 40}))
    at = source.index(b"OPS/big.bin") + 40
    source[at] ^= 0xFF
    wishes = Wishes(OFFER, "memory://x", read_along=True, language="en-US")
    with pytest.raises(BadSource, match=r"broken file, OPS/big\.bin"):
        make_draft(Source("b.epub", bytes(source)), wishes)


def test_only_an_epub_can_be_read_along() -> None:
    with pytest.raises(BadOption, match=r"--read-along is for epub, book\.txt is txt"):
        World().draft(read_along=True)


def test_an_edited_plan_is_marked_where_its_lines_come_from() -> None:
    made = made_of(epub3())
    wishes = Wishes(OFFER, "memory://x", read_along=True, language="en-US")
    draft = make_draft(Source("b.epub", epub3()), wishes)
    text = plan_text(draft.plan).replace("Item one.\n", "").replace("Five is here.", "Five was here.\nIt is new.")
    edited = draft.with_plan(edited_plan(draft.plan, text, source_text=draft.planned.text, max_chars=60))
    places = parts_of(edited.planned)
    assert places is not None
    pages = {name: zipfile.ZipFile(io.BytesIO(epub3())).read(name).decode() for name in places.files}
    marked = [
        "".join(pages[places.files[file]][start:end] for file, start, end in part.ranges) for part in places.parts
    ]
    assert "Item one." not in marked
    assert "Five is here." in marked
    assert len(places.parts) < len(load_places(made.store, made.record.job).parts) + 2


def test_the_job_keeps_the_places_to_itself_and_says_if_they_are_damaged() -> None:
    made = made_of(epub3())
    assert made.data is not None
    objects = finished_objects(made.store, made.record.job)
    assert keys.read_along(made.record.job) in objects
    assert keys.places(made.record.job) not in objects
    made.store.put(keys.places(made.record.job), b"{}")
    with pytest.raises(ObjectDamaged, match=r"places\.json in memory://.* does not hold places"):
        _ = made.data


def test_clips_are_whole_samples() -> None:
    for par in book_of(made_of(epub3())).pars:
        assert abs(par.begin_s * RATE_HZ - round(par.begin_s * RATE_HZ)) < Fraction(1, 100)
    assert etree.QName(book_of(made_of(epub2())).package).localname == "package"
