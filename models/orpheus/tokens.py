"""Orpheus' own ids, as its authors' prompt code and tokenizer have them. Imports nothing.

`<custom_token_k>` of the tokenizer is id 128256 + k; a frame of speech is seven ids, each from a window of its own.
"""

from __future__ import annotations

BEGIN_OF_TEXT = 128_000
END_OF_TEXT = 128_009
START_OF_SPEECH = 128_257
END_OF_SPEECH = 128_258
"""What stops a segment. (The authors' package passes 49158, which is never drawn.)"""
START_OF_HUMAN = 128_259
END_OF_HUMAN = 128_260
START_OF_AI = 128_261

FIRST_CUSTOM = 128_256
"""`<custom_token_0>`: ids below it are text."""
FIRST_CODE = 128_266
CODEBOOK = 4_096
TOKENS_PER_FRAME = 7
END_OF_CODES = FIRST_CODE + TOKENS_PER_FRAME * CODEBOOK
"""One beyond the last id that stands for a code (156938): the least vocabulary of a checkpoint."""
POSITION_OF_COLUMN = (0, 1, 4, 2, 3, 5, 6)
"""Place inside a frame of the codec's columns (l0, l1a, l1b, l2a, l2b, l2c, l2d): depth first, as a tree is walked."""
SAMPLE_RATE_HZ = 24_000
SAMPLES_PER_FRAME = 2_048
FRAMES_PER_S = SAMPLE_RATE_HZ / SAMPLES_PER_FRAME
"""11.72: 82.03 ids for a second of speech."""
