"""The recordings of a read-along book: the chapter files that the job made anyway, where readers of EPUB know them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import soundfile

from jobs.assembly.chapters import chapter_key
from jobs.assembly.containers import AAC_FRAME_SAMPLES
from jobs.assembly.encode import EncodeSpec, Tags, encode
from jobs.assembly.naming import narrator, provenance
from jobs.assembly.timeline import ChapterTimeline
from jobs.protocols import Store
from jobs.spec import AudioFormat, JobRecord
from jobs.takes import Pcm

_TYPES = {
    AudioFormat.M4B: ("m4a", "audio/mp4"),
    AudioFormat.MP3: ("mp3", "audio/mpeg"),
    AudioFormat.OPUS: ("opus", "audio/ogg; codecs=opus"),
}
"""Ending and media type of what an EPUB may hold (EPUB 3.3 section 3.2), best first: the times of m4a are exact."""
_LOSSLESS = (AudioFormat.FLAC, AudioFormat.WAV)
_BLOCK_SAMPLES = 64 * AAC_FRAME_SAMPLES


@dataclass(frozen=True, slots=True)
class ChapterAudio:
    """How the chapters of a job get into a book: `source` is the format of the chapter files that are used."""

    store: Store
    record: JobRecord
    source: AudioFormat

    @classmethod
    def of(cls, store: Store, record: JobRecord) -> ChapterAudio:
        """The best of the formats of a job."""
        formats = record.spec.formats
        return cls(store, record, next(one for one in (*_TYPES, *_LOSSLESS) if one in formats))

    @property
    def ending(self) -> str:
        """Of the names of the recordings."""
        return _TYPES.get(self.source, _TYPES[AudioFormat.M4B])[0]

    @property
    def media_type(self) -> str:
        """Of the recordings."""
        return _TYPES.get(self.source, _TYPES[AudioFormat.M4B])[1]

    def key(self, chapter: ChapterTimeline) -> str:
        """Store key of the file of a chapter."""
        return chapter_key(self.record, chapter, self.source)

    @contextmanager
    def opened(self, chapter: ChapterTimeline) -> Iterator[tuple[BinaryIO, int]]:
        """A chapter's recording as an open file, and its size in bytes. Lossless ones are encoded as m4a.

        Raises:
            StoreError: the chapter's file is missing, or the store refuses.
            BadOutput: AAC cannot hold its sample rate.
        """
        key = self.key(chapter)
        with self.store.open(key) as file:
            if self.source in _TYPES:
                yield file, self.store.size_bytes(key)
                return
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "chapter.m4a"
                self._encode(file, chapter, path)
                with path.open("rb") as encoded:
                    yield encoded, path.stat().st_size

    def _encode(self, file: BinaryIO, chapter: ChapterTimeline, path: Path) -> None:
        spec = self.record.spec
        tags = Tags(
            title=chapter.title,
            artist=self.record.author,
            album=self.record.title,
            narrator=narrator(spec.voice),
            comment=provenance(spec.model, spec.voice),
        )
        with soundfile.SoundFile(file) as sound:
            samples = sound.frames + -sound.frames % AAC_FRAME_SAMPLES
            encode(
                path,
                _blocks(sound, samples),
                EncodeSpec(AudioFormat.M4B, sound.samplerate, samples, tags, brand="M4A "),
            )


def _blocks(sound: soundfile.SoundFile, samples: int) -> Iterator[Pcm]:
    """The samples of a file, and silence up to so many."""
    left = samples
    while left:
        block = sound.read(min(left, _BLOCK_SAMPLES), dtype="int16")
        if not block.size:
            block = np.zeros(left, dtype=np.int16)
        left -= block.size
        yield block
