"""Piper as the engine runs it: the utterance program over all voices loaded in this process.

Utterances are encoded one after the other on their exact length, so the batch a request happens to be in cannot
change a bit of it: that is what makes a resumed job give the same bytes. On a CPU
nothing is lost by it (`vits_layers`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from engine.program import Latent, RequestRejected, check_window
from engine.request import FinishReason, Request, Samples
from models.errors import BadWeights, ModelError
from models.onnx_file import read_onnx
from models.piper.layout import read_layout
from models.piper.vits import Pace, Vits
from models.piper.voices import SAMPLE_RATE_HZ, find_voice, revision

HOP_SAMPLES = 256
FIRST_CHUNK_FRAMES = 32
CHUNK_FRAMES = 128
"""0.37 s and 1.5 s of audio. Windows of 64 to 256 frames are equally fast; longer ones need more memory."""

_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class PiperInputs:
    """What the front end makes of a segment: a voice's name, its ids and its pace.

    `words`: range [start, end) of ids for each whitespace-separated word, empty if not certain.
    """

    voice: str
    ids: tuple[int, ...]
    pace: Pace
    words: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PiperLatent:
    """An encoded segment: latents [T, Z] float32 of one voice. `words`: see `engine.program.Latent`."""

    vits: Vits
    latents: torch.Tensor
    finish: FinishReason
    words: tuple[tuple[int, int], ...] = ()

    @property
    def num_frames(self) -> int:
        """Frames of audio, each of HOP_SAMPLES samples."""
        return self.latents.shape[0]


class PiperProgram:
    """All voices of one process on the CPU. Voices may be loaded by another thread while batches run."""

    sample_rate_hz = SAMPLE_RATE_HZ
    hop_samples = HOP_SAMPLES
    first_chunk_frames = FIRST_CHUNK_FRAMES
    chunk_frames = CHUNK_FRAMES

    def __init__(self, *, precision: str) -> None:
        """`precision` is fp32 or bf16: the decoder's arithmetic; the rest is float32 always."""
        self._dtype = _DTYPES[precision]
        self._voices: dict[str, Vits] = {}
        self._lock = threading.Lock()
        _keep_freed_memory()

    def load_voice(self, name: str) -> Vits:
        """The network of a voice, read once.

        Raises:
            UnknownVoice, MissingExtra: there is no such voice.
            BadWeights: its file is damaged, of another layout, or not the one its hash promises.
        """
        with self._lock:
            if name not in self._voices:
                self._voices[name] = _read_voice(name, self._dtype)
            return self._voices[name]

    def encode(self, batch: Sequence[Request]) -> list[Latent]:
        """Latents of each request, see `engine.program.UtteranceProgram.encode`."""
        latents: list[Latent] = []
        for index, request in enumerate(batch):
            try:
                latents.append(self._encode_one(request))
            except (ModelError, ValueError, TypeError) as error:
                raise RequestRejected(index, str(error)) from error
        return latents

    @torch.inference_mode()
    def decode(self, latent: Latent, start_frame: int, stop_frame: int) -> Samples:
        """Samples of frames [start, stop), see `engine.program.UtteranceProgram.decode`.

        Raises:
            ValueError: the frames are not inside the latent.
            TypeError: the latent is another program's.
        """
        if not isinstance(latent, PiperLatent):
            msg = f"piper cannot decode a {type(latent).__name__}; give what its encode returned"
            raise TypeError(msg)
        check_window(latent, start_frame, stop_frame)
        samples: Samples = latent.vits.decode(latent.latents, start_frame, stop_frame).numpy()
        return samples

    @torch.inference_mode()
    def _encode_one(self, request: Request) -> PiperLatent:
        inputs = request.inputs
        if not isinstance(inputs, PiperInputs):
            msg = f"piper cannot speak a {type(inputs).__name__}; give what its prepare returned"
            raise TypeError(msg)
        vits = self.load_voice(inputs.voice)
        num_symbols = vits.text.num_symbols
        if not inputs.ids or not 0 <= min(inputs.ids) <= max(inputs.ids) < num_symbols:
            msg = f"the {len(inputs.ids)} ids must lie in [0, {num_symbols}) of voice {inputs.voice!r}"
            raise ValueError(msg)
        encoded = vits.encode(torch.tensor(inputs.ids), seed=request.seed, pace=inputs.pace)
        if encoded.cut:
            return PiperLatent(vits, encoded.latents, FinishReason.BUDGET)
        frames = (0, *encoded.ends)  # frames[n]: where id n begins
        words = tuple((frames[start], frames[end]) for start, end in inputs.words)
        return PiperLatent(vits, encoded.latents, FinishReason.STOP, words)


def _read_voice(name: str, dtype: torch.dtype) -> Vits:
    voice = find_voice(name)
    found = revision(voice)
    if voice.sha256 not in {None, found}:
        msg = f"{voice.onnx} has sha256 {found} instead of {voice.sha256}: not the published voice; install it again"
        raise BadWeights(msg)
    try:
        vits = Vits(read_layout(read_onnx(voice.onnx)), dtype)
    except (RuntimeError, ValueError, IndexError) as error:  # shapes that do not fit together
        msg = f"{voice.onnx} holds weights that do not make a Piper voice ({error})"
        raise BadWeights(msg) from error
    if vits.decoder.hop_samples != HOP_SAMPLES:
        msg = f"voice {name!r} makes {vits.decoder.hop_samples} samples per frame; model piper runs {HOP_SAMPLES}"
        raise BadWeights(msg)
    return vits


def _keep_freed_memory() -> None:
    """Make the C allocator keep the decoder's buffers between windows instead of giving them back each time.

    glibc raises its threshold for mapping memory apart to the largest such block it has seen freed (32 MiB at most).
    Without this a tenth of the decoder's time is page faults; other allocators take it as what it is, one free block.
    """
    torch.empty(30 << 20, dtype=torch.uint8)
