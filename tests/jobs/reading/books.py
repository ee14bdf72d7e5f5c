"""Small books of whole documents, with contents of both kinds, and what must hold of their plans."""

from tests.helpers_reading import epub, xhtml
from tests.jobs.reading.held_out import Held

NAV = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
NCX = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'


def nav(*entries, more=""):
    """A navigation document; an entry is (link, title) or (link, title, entries)."""
    return xhtml(f'<nav epub:type="toc"><h2>Contents</h2>{_list(entries)}</nav>{more}')


def _list(entries):
    items = (
        f'<li><a href="{href}">{title}</a>{_list(*below) if below else ""}</li>' for href, title, *below in entries
    )
    return f"<ol>{''.join(items)}</ol>"


def ncx(*entries):
    points = "".join(
        (
            f'<navPoint id="n{n}" playOrder="{n}"><navLabel><text>{title}</text></navLabel>'
            f'<content src="{href}"/></navPoint>'
        )
        for n, (href, title) in enumerate(entries, 1)
    )
    return (
        f'<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://x/ncx.dtd">'
        f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap>{points}'
        f"</navMap></ncx>"
    )


def book(name, files, *says, chapters=None, gone=(), why=None, keep=(), **made):
    """A book of documents; those that are no text of a whole document get one around them."""
    whole = {
        path: text
        if path.endswith((".ncx", ".xml")) or isinstance(text, bytes) or text.startswith("<?xml")
        else xhtml(text)
        for path, text in files.items()
    }
    return Held(
        name, epub(whole, **made), says or None, "book.epub", chapters=chapters, gone=gone, why=why or {}, keep=keep
    )


def one(name, body, *says, **more):
    return book(name, {"a.xhtml": body}, *says, **more)
