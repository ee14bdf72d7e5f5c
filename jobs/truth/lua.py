"""Makes the Lua scripts whole: constants from Python, then `scripts/prelude.lua`, then the script itself.

So key names stay in `jobs/keys.py`, the transition table in `jobs/state.py` and the limits in `rules.py`: the scripts
only read them. Knows nothing of connections.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

from jobs import keys
from jobs.events import EVENT_VERSION
from jobs.figures import Total
from jobs.state import FINAL_JOB_STATES, JOB_MOVES
from jobs.truth import rules

LuaValue = str | int | float | bool | Mapping[str, "LuaValue"]

_KEY_PREFIXES: dict[str, LuaValue] = {
    "job": keys.job(""),
    "segments": keys.segments(""),
    "waiting": keys.waiting(""),
    "left": keys.left(""),
    "assembled": keys.assembled(""),
    "done": keys.done(""),
    "results": keys.results(""),
    "starts": keys.starts(""),
    "ready": keys.ready(0).removesuffix("0"),
    "virtual_now": keys.virtual_now(0).removesuffix("0"),
    "worker": keys.worker(""),
    "held": keys.held(""),
    "events": keys.events(""),
    "audio": keys.audio(""),
    "jobs": keys.JOBS,
    "open": keys.OPEN,
    "open_built": keys.OPEN_BUILT,
    "swept": keys.SWEPT,
    "speech": keys.SPEECH,
    "workers": keys.WORKERS,
    "blame": keys.BLAME,
    "suspects": keys.SUSPECTS,
    "totals": keys.TOTALS,
    "outbox": keys.OUTBOX,
    "dead": keys.DEAD,
    "wake": keys.WAKE,
    "audio_bytes": keys.AUDIO_BYTES,
    "audio_total": keys.AUDIO_TOTAL,
    "audio_ended": keys.AUDIO_ENDED,
    "rate": keys.token_use("rate", ""),
    "chars": keys.token_use("chars", ""),
    "speaking": keys.token_use("speaking", ""),
}


def compose(name: str, *, stream_ttl_s: float) -> str:
    """The whole text of the script `scripts/<name>.lua`; streams of finished jobs live for `stream_ttl_s`."""
    constants: dict[str, LuaValue] = {
        "K": _KEY_PREFIXES,
        "MOVES": {str(old): {str(new): True for new in sorted(moves)} for old, moves in JOB_MOVES.items()},
        "FINAL": {str(state): True for state in sorted(FINAL_JOB_STATES)},
        "TOTAL": {total.name.lower(): str(total) for total in Total},
        "EVENT_VERSION": EVENT_VERSION,
        "OUTBOX_GROUP": keys.OUTBOX_GROUP,
        "QUANTUM": rules.QUANTUM,
        "SPEECH_TURN": rules.SPEECH_TURN,
        "SUSPECT_GROUP": rules.SUSPECT_GROUP,
        "OPEN_BUILT_EVERY_MS": rules.OPEN_BUILT_EVERY_MS,
        "COUNTED_EVERY_MS": rules.COUNTED_EVERY_MS,
        "HELD_LONGEST_S": rules.HELD_LONGEST_S,
        "BLAME_LIMIT": rules.BLAME_LIMIT,
        "FRONT": rules.FRONT_ORDER,
        "DEAD_KEPT": rules.DEAD_KEPT,
        "WAKE_KEPT": rules.WAKE_KEPT,
        "STREAM_TTL_MS": max(1, round(stream_ttl_s * 1000)),
    }
    head = "\n".join(f"local {constant} = {_literal(value)}" for constant, value in constants.items())
    return f"{head}\n{_read('prelude')}\n{_read(name)}"


def _read(name: str) -> str:
    return _scripts()[name]


@cache
def _scripts() -> dict[str, str]:
    """All scripts by name, read together: the code may be replaced by another version while this process runs."""
    folder = resources.files("jobs.truth").joinpath("scripts")
    return {entry.name.removesuffix(".lua"): entry.read_text(encoding="utf-8") for entry in folder.iterdir()}


def _literal(value: LuaValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        return f"'{value}'"  # names of keys and states: no quotes, no backslashes in them
    return "{" + ", ".join(f"{key} = {_literal(entry)}" for key, entry in value.items()) + "}"
