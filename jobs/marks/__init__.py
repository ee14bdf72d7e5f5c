"""Marks of time: which words are heard when, as subtitles and inside an epub. Knows plans and timelines; no queue."""
