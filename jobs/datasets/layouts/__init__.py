"""Layouts: what a dataset's files are called and what its index files say, one module for each."""

from __future__ import annotations

from jobs.datasets.layouts.audiofolder import AUDIOFOLDER
from jobs.datasets.layouts.base import IndexFile, Layout, View
from jobs.datasets.layouts.kaldi import KALDI
from jobs.datasets.layouts.lhotse import LHOTSE
from jobs.datasets.layouts.ljspeech import LJSPEECH
from jobs.datasets.layouts.nemo import NEMO
from jobs.datasets.layouts.webdataset import WEBDATASET
from jobs.kinds import DatasetLayout

__all__ = ["LAYOUTS", "IndexFile", "Layout", "View"]

LAYOUTS: dict[DatasetLayout, Layout] = {
    layout.kind: layout for layout in (LJSPEECH, AUDIOFOLDER, WEBDATASET, NEMO, LHOTSE, KALDI)
}
"""Every layout by its name."""
