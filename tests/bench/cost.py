"""How good estimates are: what `submit --dry-run` expects of a book, and what the book then takes, with the real voice.

`python -m tests.bench.cost --rounds 3` prints a table and one JSON line last. Each round has a data folder of its own:
one job of other sentences is spoken, then the book is planned (before that job with the card's guess, and after it) and
spoken. The shorter that job, the more of its time is the start of a process. `busy_s` is the processor time of all
processes, for comparison: on a busy machine it stays what it is while device time grows. Needs the voice (extra
voice-joe).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.long_text import book

PROGRAM = str(Path(sys.executable).parent / "tts-batch")
BOOK = Path(__file__).parents[2] / "examples" / "book.txt"


def call(work: Path, data: Path, *words: str) -> dict[str, Any]:
    """One command and its document."""
    environment = os.environ | {"TTS_BATCH_DATA_DIR": str(data)}
    done = subprocess.run(
        [PROGRAM, *words, "--json"], cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def one_round(root: Path, sentences: int) -> dict[str, float]:
    """Expected and real figures of the book."""
    work, data = root / "work", root / "data"
    work.mkdir(parents=True)
    (work / "other.txt").write_text(book(sentences))
    words = ("submit", str(BOOK), "--model", "piper")
    card = call(work, data, *words, "--dry-run")["plans"][0]["estimate"]
    call(work, data, "submit", "other.txt", "--model", "piper")
    expected = call(work, data, *words, "--dry-run")["plans"][0]["estimate"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    job = call(work, data, *words)["jobs"][0]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = json.loads((work / "book" / "report.json").read_text())["run"]
    return {
        "card_audio_s": card["audio_s"],
        "expected_audio_s": expected["audio_s"],
        "audio_s": run["audio_s"],
        "expected_device_s": expected["device_s"],
        "device_s": run["device_s"],
        "elapsed_s": job["elapsed_s"],
        "busy_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sentences", type=int, default=60, help="of the job that is measured before the book")
    arguments = parser.parse_args()
    rounds = []
    print(f"{'':>6}{'audio':>9}{'card':>9}{'expected':>10}{'off %':>8}{'device':>9}{'expected':>10}{'off %':>8}")
    for number in range(arguments.rounds):
        with tempfile.TemporaryDirectory(prefix="tts-batch-cost-") as folder:
            seen = one_round(Path(folder), arguments.sentences)
        for name in ("audio_s", "device_s"):
            seen[f"off_{name}_percent"] = 100 * (seen[f"expected_{name}"] / seen[name] - 1)
        rounds.append({name: round(value, 3) for name, value in seen.items()})
        print(
            f"{number:>6}{seen['audio_s']:>9.1f}{seen['card_audio_s']:>9.1f}{seen['expected_audio_s']:>10.1f}"
            f"{seen['off_audio_s_percent']:>8.1f}{seen['device_s']:>9.1f}{seen['expected_device_s']:>10.1f}"
            f"{seen['off_device_s_percent']:>8.1f}",
            flush=True,
        )
    print(json.dumps({"rounds": rounds}))


if __name__ == "__main__":
    main()
