"""Words with a fixed list of values: what a user may choose about checks, mastering and delivery. Pure."""

from __future__ import annotations

from enum import StrEnum


class OnBad(StrEnum):
    """What becomes of a segment none of whose takes is good."""

    KEEP = "keep"
    """The best take is delivered; the report names the segment."""
    MARK = "mark"
    """The best take is delivered, the segment is counted as marked, and the job ends `done_with_failures`."""
    FAIL = "fail"
    """It is left out: a gap stands in its place and the segment has failed."""


class Grade(StrEnum):
    """What the checks say of a take."""

    GOOD = "good"
    BAD = "bad"
    """Something speaks against it; delivered only if no take is better and `OnBad` allows it."""
    UNUSABLE = "unusable"
    """Nothing that can be heard as the text: never delivered."""

    @property
    def rank(self) -> int:
        """0 is the best."""
        return list(Grade).index(self)


class Profile(StrEnum):
    """How loud finished audio is and what stands around it (`jobs.mastering.profiles`)."""

    AUDIOBOOK = "audiobook"
    ACX = "acx"
    PODCAST = "podcast"
    RAW = "raw"


class LoudnessOver(StrEnum):
    """What one gain is for."""

    CHAPTER = "chapter"
    BOOK = "book"


class SubtitleFormat(StrEnum):
    """What time marks can be written as."""

    SRT = "srt"
    VTT = "vtt"
    LRC = "lrc"


class DatasetLayout(StrEnum):
    """What a dataset can be laid out as."""

    LJSPEECH = "ljspeech"
    AUDIOFOLDER = "audiofolder"
    WEBDATASET = "webdataset"
    NEMO = "nemo"
    LHOTSE = "lhotse"
    KALDI = "kaldi"
