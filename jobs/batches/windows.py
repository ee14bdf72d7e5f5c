"""The time that a batch may take, as OpenAI's API writes it: `24h`; ours may also be other hours, or days. Pure."""

from __future__ import annotations

import re

from jobs.batches.records import MAX_WINDOW_S
from jobs.errors import BadOption

_WINDOW = re.compile(r"([1-9][0-9]{0,2})([hd])", re.ASCII)
_SECONDS = {"h": 3600, "d": 86_400}


def window_s(text: str) -> int:
    """The seconds of `<n>h` or `<n>d`.

    Raises:
        BadOption: it is written in another way, or longer than MAX_WINDOW_S.
    """
    match = _WINDOW.fullmatch(text)
    length_s = int(match[1]) * _SECONDS[match[2]] if match else 0
    if not 0 < length_s <= MAX_WINDOW_S:
        days = MAX_WINDOW_S // 86_400
        msg = f"completion_window {text!r} is not allowed; write hours or days, such as 24h or 3d, up to {days}d"
        raise BadOption(msg)
    return length_s
