"""The limits of the free checks, and where each comes from.

"Measured" is `python -m tests.bench.checks --piper`: takes of the voice joe at speeds 0.7, 1.0 and 1.4, several seeds;
it prints the highest and lowest figures of clean takes by check. "Wide" limits leave room for voices that were not.
"""

from __future__ import annotations

SILENT_PEAK = 0.005
"""A take whose loudest sample is below this (-46 dB of full scale) has no speech in it, only the noise of a voice."""

LEAD_S, TRAIL_S = 1.0, 2.0
"""Silence around the words, at speed 1. Measured: up to 0.55 and 0.41 s. Wide."""
INNER_PAUSE_S = 1.0
"""A pause without punctuation. Measured: up to 0.25 s. Wide: a voice may stop for breath."""
STOP_PAUSE_S = 1.5
"""A pause at punctuation. Measured: up to 0.72 s at speed 0.7. Wide: voices rest about a second between sentences."""
END_FRAMES = 2
END_DB = -12.0
"""Level of the last 20 ms against the speech. Measured: below -50 dB. Wide: models that trim their ends cut at -25."""

EDGES_S, STOP_S = 0.15, 0.23
"""Time that a text takes besides its units: once, and for each stop inside. Measured by a robust fit, at speed 1."""
RATE_OF_CARD = 1.1
"""Units in the time of a character of the card's rate: a card counts spaces and pauses in, units do not."""
FASTEST, FASTEST_LESS_S = 0.45, 0.15
SLOWEST, SLOWEST_MORE_S = 2.2, 1.0
"""Share of the usual time that a text may take. Measured: 0.6 to 1.5 for texts over a second. Wide: a card's rate is a
first guess, and voices of one model differ by a third; `jobs.checks.rate` knows the voice."""

CLIPPED_SHARE = 0.0005
"""Share of samples in flat tops. Measured: 0. A limiter's rare peaks pass, overdrive has a hundred times as many."""
CLICK_RATIO = 8.0
"""Sharpest bend against those 16 ms around it. Measured: up to 5.7, plosives included; a wrong sample has 10 to 100."""
DC_OFFSET = 0.05
SPEECH_DB = (-45.0, -6.0)
"""Level of the speech. Measured: -32 to -19 dB. Wide; the fake's tones have -13.5, full overdrive more than -3."""

STEADY_S = 1.5
"""A spectrum that stands still. Measured: up to 0.2 s. Wide: a sung or drawn-out vowel; the fake's tones are words."""
STEADY_WORDS = 1.6
"""And so many times what the longest word takes."""

REPEAT_LIKENESS = 0.65
"""Mean likeness of two stretches. Measured: a copy has 0.8 to 1.0, a phrase said anew 0.6 to 0.9; other words
stay below 0.65 over 0.8 s in all but a few takes in a hundred."""
REPEAT_S = 1.1
REPEAT_TIMES, REPEAT_MORE_S = 1.3, 0.4
"""Seconds that may come again: at least the first; where the text repeats, what that takes with room for its edges."""
REPEAT_SHORT_S, REPEAT_DOUBLING_S = 3.0, 0.25
"""And so much more for every doubling of a take above three seconds: more places may be alike by chance. Chosen on the
tones of the fake, which are alike more often than speech: without it one in twenty of its clean takes alarms. None of
364 takes of joe does either way."""

LEAST_SPEECH_S = 0.05
"""Nothing that is said takes less."""
