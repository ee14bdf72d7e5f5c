"""From the bytes of a source to a Document, and from a paragraph to segments. Knows no model, job, queue or store.

document = read_source(load_source(path), path.name)

One reader per kind (`text`, `markdown`, `markup` for HTML and EPUB, `subtitles`, `jsonl`), all yielding chapters of
paragraphs; `marks` and `cast` give them voices and pauses, `splitting` finds where one may be divided.
"""

from jobs.reading.source import kind_of, load_source, read_bounded, read_source

__all__ = ["kind_of", "load_source", "read_bounded", "read_source"]
