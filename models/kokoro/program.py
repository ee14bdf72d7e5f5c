"""Kokoro as the engine runs it: the utterance program over one network and all its voices.

Its norms look at a whole utterance, so audio cannot be made window by window: `encode` makes all of it, `decode` hands
out pieces. How a batch is computed, and why it changes nothing, is said in `models.kokoro.network`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch

from engine.program import Latent, RequestRejected, check_window
from engine.request import FinishReason, Request, Samples
from models.errors import ModelError
from models.kokoro.config import SAMPLE_RATE_HZ
from models.kokoro.network import Kokoro, Spoken, Utterance
from models.kokoro.voices import Table

FIRST_CHUNK_FRAMES = 16
CHUNK_FRAMES = 60
"""0.4 s and 1.5 s: they are cut from audio that is there."""


@dataclass(frozen=True, slots=True)
class KokoroInputs:
    """What the front end makes of a segment: phoneme ids without the zeros around, the voice or blend, its pace.

    `words`: range [start, end) of ids for each whitespace-separated word, empty if not certain.
    """

    ids: tuple[int, ...]
    voice: str
    speed: float = 1.0
    words: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class KokoroLatent:
    """A spoken segment; see `engine.program.Latent`."""

    samples: Samples
    num_frames: int
    words: tuple[tuple[int, int], ...] = ()
    finish: FinishReason = FinishReason.STOP


class KokoroProgram:
    """One network on one device. Styles may be read by another thread while batches run."""

    sample_rate_hz = SAMPLE_RATE_HZ
    first_chunk_frames = FIRST_CHUNK_FRAMES
    chunk_frames = CHUNK_FRAMES

    def __init__(self, network: Kokoro, styles: Callable[[str], Table]) -> None:
        """`styles` gives a voice's or a blend's table [510, 256] float32; it is asked once for each."""
        self.network = network
        self.hop_samples = network.config.samples_per_frame
        self._read = styles
        self._styles: dict[str, torch.Tensor] = {}
        self._lock = threading.Lock()

    def style(self, voice: str) -> torch.Tensor:
        """[510, 256] of a voice or blend, read once. Raises what the reader raises."""
        with self._lock:
            if voice not in self._styles:
                self._styles[voice] = torch.from_numpy(self._read(voice))
            return self._styles[voice]

    def encode(self, batch: Sequence[Request]) -> list[Latent]:
        """Speak each request, see `engine.program.UtteranceProgram.encode`."""
        utterances = []
        for index, request in enumerate(batch):
            try:
                utterances.append(self._utterance(request))
            except (ModelError, ValueError, TypeError) as error:
                raise RequestRejected(index, str(error)) from error
        spoken = self.network.speak(utterances)
        return [self._latent(request, one) for request, one in zip(batch, spoken, strict=True)]

    def decode(self, latent: Latent, start_frame: int, stop_frame: int) -> Samples:
        """Samples of frames [start, stop), see `engine.program.UtteranceProgram.decode`.

        Raises:
            ValueError: the frames are not inside the latent.
            TypeError: the latent is another program's.
        """
        if not isinstance(latent, KokoroLatent):
            msg = f"kokoro cannot decode a {type(latent).__name__}; give what its encode returned"
            raise TypeError(msg)
        check_window(latent, start_frame, stop_frame)
        return latent.samples[start_frame * self.hop_samples : stop_frame * self.hop_samples]

    def _utterance(self, request: Request) -> Utterance:
        inputs = request.inputs
        if not isinstance(inputs, KokoroInputs):
            msg = f"kokoro cannot speak a {type(inputs).__name__}; give what its prepare returned"
            raise TypeError(msg)
        config = self.network.config
        if not 1 <= len(inputs.ids) <= config.max_ids or not 0 <= min(inputs.ids) <= max(inputs.ids) < config.symbols:
            msg = f"{len(inputs.ids)} ids: 1 to {config.max_ids} are possible, each in [0, {config.symbols})"
            raise ValueError(msg)
        style = self.style(inputs.voice)
        row = style[min(len(inputs.ids), len(style)) - 1]
        return Utterance(torch.tensor(inputs.ids), row, inputs.speed, request.seed)

    def _latent(self, request: Request, spoken: Spoken) -> KokoroLatent:
        assert isinstance(request.inputs, KokoroInputs), "looked at before"  # noqa: S101  # our own bug if not
        frames = len(spoken.samples) // self.hop_samples
        ends = list(accumulate(spoken.frames.tolist()))  # ends[n]: where id n of the text begins, after the zero
        words = tuple((ends[start], ends[end]) for start, end in request.inputs.words)
        return KokoroLatent(spoken.samples.float().cpu().numpy(), frames, words)
