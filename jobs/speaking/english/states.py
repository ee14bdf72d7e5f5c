"""Whether an abbreviation is a state of the USA (`Salem, Ore.`, `D-Mass.`) or a word (`Yes, Pa. I will.`). Pure."""

from __future__ import annotations

import re

from jobs.speaking.english.abbreviation_table import STARTERS
from jobs.speaking.letters import word_set

TOWNS = word_set(
    "Boston Cambridge Springfield Worcester Lowell Salem Concord Chicago Peoria Joliet Evanston Rockford Wilmington"
    " Dover Newark Indianapolis Bloomington Evansville Portland Eugene Seattle Tacoma Spokane Olympia Dallas Houston"
    " Austin Antonio Worth Paso Galveston Waco Lubbock Philadelphia Pittsburgh Harrisburg Scranton Lancaster Gettysburg"
    " Allentown Bethlehem Erie"
)
"""Last words of towns in states whose abbreviation is a word too."""
CALLS = word_set(
    "Ah Aye Bye Certainly Come Fine Go Good Goodbye Hello Help Hey Hi Hush Indeed Listen Look Lord Mother Nay Oh Ok"
    " Please Quick Quiet Really Right Run See Sir Sorry Stop Sure Thanks True Truly Wait Welcome Why Yeah Yep Aw Nope"
    " Alas Enough God Heavens Goodness Morning Never Maam Ma'am Dear Father Uncle Aunt Hurry Stay Take Get Eat Drink"
    " Say Tell Then Ask Rest Well Okay Eh"
)
"""Words that stand before the comma of an address: no town (with `STARTERS`)."""
_TOWN_BEFORE = re.compile(r"(?<![\w'’.])([A-Z][\w'’.-]{1,24}),\s$")
_IN_TOWN_BEFORE = re.compile(
    r"\b(?:([Ii]n|[Aa]t|[Nn]ear|[Ff]rom|[Oo]f|[Aa]round|[Oo]utside|[Vv]ia)|to) (?:[A-Z][\w'’.-]{1,24} ){0,2}"
    r"[A-Z][\w'’.-]{1,24},\s$"
)
_PARTY_BEFORE = re.compile(r"\b[DRI]-$")
_STATE_ENDS = re.compile(r"[,;:)\]]|\s\d{5}(?!\d)")
_STATE_LAST = re.compile(r"[\"'”’»)]{0,3}$|\s?[—–]")


def in_state(before: str, after: str, *, doubtful: bool) -> bool:
    """Whether a town stands before a state: no call (`Yes, Pa. I will.`), no name of a person (`here, Tom, Pa.`)."""
    if _PARTY_BEFORE.search(before) is not None:
        return True
    town = _TOWN_BEFORE.search(before)
    if town is None or town[1] in STARTERS or town[1] in CALLS:
        return False
    if not doubtful or town[1] in TOWNS:
        return True
    placed = _IN_TOWN_BEFORE.search(before)
    if placed is None:
        return False
    return _STATE_ENDS.match(after) is not None or (placed[1] is not None and _STATE_LAST.match(after) is not None)
