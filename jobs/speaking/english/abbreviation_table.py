"""English abbreviations and their words, each with the evidence that it needs. Pure data.

Keys are as they are written, without the stop: `Dec` may be December, `dec` is not. The first reading whose evidence is
there is taken; with none the abbreviation stays as it is written.
"""

from __future__ import annotations

from enum import Enum, auto

from jobs.speaking.letters import word_set


class Evidence(Enum):
    """What has to stand around an abbreviation."""

    ANY = auto()
    NAME_NEXT = auto()
    """A capital word that does not look like the start of a sentence."""
    NAME_BEFORE = auto()
    STREET = auto()
    """A name before it, and a house number or well-known street name too where a name follows."""
    TITLE_NEXT = auto()
    """`and Mrs.`, another title."""
    CASE_NAMES = auto()
    """Names on both sides."""
    COUNTY = auto()
    """A comma or a word in lower case before it, a name after it."""
    DATE = auto()
    BRACKETS = auto()
    NUMBER_NEXT = auto()
    """Digits, a Roman numeral or a single capital."""
    LETTER_NEXT = auto()
    """A single capital."""
    ROMAN_NEXT = auto()
    """A Roman numeral of two letters or more."""
    DIGIT_NEXT = auto()
    YEAR_NEXT = auto()
    WORD_NEXT = auto()
    """A word in lower case."""
    BY_NEXT = auto()
    OF_NEXT = auto()
    ORDINAL_BEFORE = auto()
    LIST_BEFORE = auto()
    """A comma."""
    STATE = auto()
    """A name and a comma before it: `Denver, Colo.`"""
    STATE_IN_DOUBT = auto()
    """A well-known town and a comma before it; or a preposition, a name and a comma, and a mark after."""
    AND_BEFORE = auto()
    DIGIT_BEFORE = auto()
    WORD_BEFORE = auto()
    IT_BEFORE = auto()
    """`It is` and the like."""


Readings = tuple[tuple[Evidence, str], ...]

_ALWAYS = {
    "Mr": "Mister", "Mrs": "Missus", "Ms": "Ms", "Messrs": "Messieurs", "Mme": "Madame", "Mlle": "Mademoiselle",
    "mr": "mister", "mrs": "missus", "Esq": "Esquire", "esq": "esquire", "vs": "versus", "etc": "et cetera",
    "approx": "approximately", "cf": "compare", "viz": "namely", "ibid": "ibid", "aka": "also known as",
    "eg": "for example", "ie": "that is", "dept": "department", "Univ": "University", "Assn": "Association",
    "assn": "association", "Assoc": "Association", "govt": "government", "Bros": "Brothers", "Ltd": "Limited",
    "Corp": "Corporation", "Blvd": "Boulevard", "Hwy": "Highway", "Pkwy": "Parkway", "misc": "miscellaneous",
    "incl": "including", "excl": "excluding", "esp": "especially", "usu": "usually", "intro": "introduction",
    "Supt": "Superintendent", "Sgt": "Sergeant", "Capt": "Captain", "Cpl": "Corporal", "Cmdr": "Commander",
    "Mts": "Mountains", "Sts": "Saints", "Profs": "Professors", "Jr": "Junior", "jr": "junior", "vols": "volumes",
    "Intl": "International", "Natl": "National", "Mfg": "Manufacturing", "Assocs": "Associates", "Hons": "Honours",
}  # fmt: skip
_TITLES = {
    "Prof": "Professor", "Rev": "Reverend", "Hon": "Honourable", "Gen": "General", "Col": "Colonel",
    "Lt": "Lieutenant", "Maj": "Major", "Gov": "Governor", "Sen": "Senator", "Rep": "Representative",
    "Pres": "President", "Pvt": "Private", "Adm": "Admiral", "Insp": "Inspector", "Det": "Detective", "Fr": "Father",
    "Mt": "Mount", "Ft": "Fort", "Brig": "Brigadier", "Ste": "Sainte", "Msgr": "Monsignor", "Sra": "Señora",
    "Pfc": "Private First Class", "Amb": "Ambassador", "Atty": "Attorney", "Bp": "Bishop", "Rt": "Right",
}  # fmt: skip
_STREETS = {
    "Ave": "Avenue", "Rd": "Road", "Ln": "Lane", "Sq": "Square", "Pl": "Place", "Ct": "Court", "Ter": "Terrace",
    "Cres": "Crescent",
}  # fmt: skip
_AFTER_NAMES = {"Inc": "Incorporated", "Bldg": "Building", "Mtn": "Mountain", "Mtns": "Mountains"}
_BEFORE_NUMBERS = {
    "nos": "numbers", "nr": "number", "p": "page", "pp": "pages", "pg": "page", "pgs": "pages", "vol": "volume",
    "ch": "chapter", "chs": "chapters", "chap": "chapter", "chaps": "chapters", "fig": "figure", "figs": "figures",
    "eq": "equation", "eqs": "equations", "sec": "section", "secs": "sections", "sect": "section", "art": "article",
    "arts": "articles", "app": "appendix", "apt": "apartment", "pt": "part", "pts": "parts", "bk": "book",
    "ser": "series", "vv": "verses", "ll": "lines", "par": "paragraph", "para": "paragraph", "paras": "paragraphs",
    "ext": "extension", "tel": "telephone", "def": "definition", "thm": "theorem", "tab": "table", "pl": "plate",
    "col": "column", "cols": "columns", "fol": "folio", "ver": "version",
    "ref": "reference", "refs": "references", "rm": "room", "op": "opus", "eqn": "equation", "eqns": "equations",
}  # fmt: skip
_BEFORE_YEARS = {"b": "born", "d": "died", "r": "reigned", "fl": "flourished", "est": "established"}
CALENDAR = {
    "Jan": "January", "Feb": "February", "Mar": "March", "Apr": "April", "Jun": "June", "Jul": "July", "Aug": "August",
    "Sep": "September", "Sept": "September", "Oct": "October", "Nov": "November", "Dec": "December", "Mon": "Monday",
    "Tue": "Tuesday", "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Thur": "Thursday", "Thurs": "Thursday",
    "Fri": "Friday", "Sat": "Saturday", "Sun": "Sunday",
}  # fmt: skip
"""Months and days."""
_STATES = {
    "Ala": "Alabama", "Ariz": "Arizona", "Calif": "California", "Colo": "Colorado", "Conn": "Connecticut",
    "Fla": "Florida", "Kan": "Kansas", "Mich": "Michigan", "Minn": "Minnesota", "Neb": "Nebraska", "Nev": "Nevada",
    "Okla": "Oklahoma", "Penn": "Pennsylvania", "Tenn": "Tennessee", "Va": "Virginia", "Wis": "Wisconsin",
    "Md": "Maryland", "Ga": "Georgia",
}  # fmt: skip
_STATES_OR_WORDS = {
    "Del": "Delaware", "Ill": "Illinois", "Ind": "Indiana", "Mass": "Massachusetts", "Ore": "Oregon", "Tex": "Texas",
    "Wash": "Washington", "Pa": "Pennsylvania",
}  # fmt: skip
"""Also names and words that follow a comma: `Yes, Pa. I will.`"""
_BY_CONTEXT: dict[str, Readings] = {
    "Col": ((Evidence.DIGIT_NEXT, "Column"), (Evidence.NAME_NEXT, "Colonel"), (Evidence.TITLE_NEXT, "Colonel")),
    "n": ((Evidence.DIGIT_NEXT, "note"),),
    "l": ((Evidence.DIGIT_NEXT, "line"),),
    "nn": ((Evidence.DIGIT_NEXT, "notes"),),
    "fn": ((Evidence.DIGIT_NEXT, "footnote"),),
    "Dr": ((Evidence.TITLE_NEXT, "Doctor"), (Evidence.STREET, "Drive"), (Evidence.ANY, "Doctor")),
    "dr": ((Evidence.ANY, "doctor"),),
    "St": ((Evidence.STREET, "Street"), (Evidence.NAME_NEXT, "Saint")),
    "Co": ((Evidence.AND_BEFORE, "Company"), (Evidence.COUNTY, "County"), (Evidence.NAME_BEFORE, "Company")),
    "co": ((Evidence.AND_BEFORE, "company"),),
    "No": ((Evidence.DIGIT_NEXT, "Number"), (Evidence.ROMAN_NEXT, "Number")),
    "no": ((Evidence.DIGIT_NEXT, "number"), (Evidence.ROMAN_NEXT, "number"), (Evidence.OF_NEXT, "number")),
    "Sr": ((Evidence.NAME_BEFORE, "Senior"), (Evidence.NAME_NEXT, "Sister")),
    "Pt": ((Evidence.NUMBER_NEXT, "Part"), (Evidence.NAME_NEXT, "Point")),
    "Br": ((Evidence.NAME_NEXT, "Brother"),),
    "Dept": ((Evidence.ANY, "Department"),),
    "Govt": ((Evidence.ANY, "Government"),),
    "Ed": ((Evidence.BY_NEXT, "Edited"),),
    "ed": (
        (Evidence.ORDINAL_BEFORE, "edition"),
        (Evidence.BY_NEXT, "edited"),
        (Evidence.BRACKETS, "editor"),
        (Evidence.NAME_NEXT, "edited by"),
        (Evidence.LIST_BEFORE, "editor"),
    ),
    "eds": (
        (Evidence.BRACKETS, "editors"),
        (Evidence.NAME_NEXT, "edited by"),
        (Evidence.LIST_BEFORE, "editors"),
    ),
    "trans": (
        (Evidence.BY_NEXT, "translated"),
        (Evidence.BRACKETS, "translator"),
        (Evidence.NAME_NEXT, "translated by"),
    ),
    "rev": ((Evidence.BY_NEXT, "revised"), (Evidence.WORD_NEXT, "revised")),
    "c": ((Evidence.DIGIT_NEXT, "circa"), (Evidence.ORDINAL_BEFORE, "century")),
    "ca": ((Evidence.DIGIT_NEXT, "circa"),),
    "v": ((Evidence.CASE_NAMES, "versus"),),
    "max": ((Evidence.DIGIT_NEXT, "maximum"), (Evidence.WORD_NEXT, "maximum"), (Evidence.DIGIT_BEFORE, "maximum")),
    "min": ((Evidence.DIGIT_NEXT, "minimum"), (Evidence.DIGIT_BEFORE, "minutes"), (Evidence.WORD_NEXT, "minimum")),
    "avg": ((Evidence.ANY, "average"),),
    "resp": ((Evidence.WORD_BEFORE, "respectively"),),
    "lit": ((Evidence.LIST_BEFORE, "literally"),),
}
STARTERS = word_set(
    "A After All Although An And Another Any As At Before But By Can Did Do Does Every Everyone For From Had Has"
    " Have He Her Here His How However I If In Is It Its It's Let Many Maybe Meanwhile More Most My Nevertheless"
    " No Nobody Nor Not Nothing Now Of On Once One Only Or Our Perhaps She Since So Some Soon Still Such That The"
    " Their Then There These They This Those Though Three Through Thus To Today Two Under Until Was We Well Were"
    " What When Where Which While Who Why Will With Would Yes Yet You Your"
)
"""Words that begin a sentence more often than they go on with one as a name."""
TITLES = frozenset(_TITLES) | word_set("Mr Mrs Ms Messrs Mme Mlle mr mrs dr Dr St Capt Sgt Cpl Cmdr Supt")
"""What goes on with a name: its stop ends a sentence at the very end of it only."""
BARE = word_set(
    "Mr Mrs Dr St Prof Mt Messrs Mme Mlle Jr Sr Ltd vs etc eg ie cf viz aka Capt Sgt Lt Rev Esq Blvd Rd Dept Govt"
    " approx Corp Bros Gov Col Sen Co Inc ca"
)
"""What is also taken without a stop."""
BARE_CAPITALS = word_set("MR MRS MESSRS DR ST PROF CAPT SGT LT COL REV")
"""Titles that shouting and headings write in capitals: taken without a stop before a capital word."""
NO_NAMES_NEXT = word_set("Congo")
"""`the DR Congo`"""


def _table() -> dict[str, Readings]:
    table: dict[str, Readings] = {key: ((Evidence.ANY, word),) for key, word in _ALWAYS.items()}
    for words, evidence in (
        (_TITLES, Evidence.NAME_NEXT),
        (_TITLES, Evidence.TITLE_NEXT),
        (_STREETS, Evidence.STREET),
        (_AFTER_NAMES, Evidence.NAME_BEFORE),
        (_BEFORE_YEARS, Evidence.YEAR_NEXT),
        (CALENDAR, Evidence.DATE),
        (_STATES, Evidence.STATE),
        (_STATES_OR_WORDS, Evidence.STATE_IN_DOUBT),
        (_BEFORE_NUMBERS, Evidence.NUMBER_NEXT),
    ):
        for key, word in words.items():
            table[key] = (*table.get(key, ()), (evidence, word))
    for key, word in _BEFORE_NUMBERS.items():
        title = key.capitalize()
        if len(key) > 1:
            own = ((Evidence.NUMBER_NEXT, word.capitalize()), (Evidence.LETTER_NEXT, word.capitalize()))
            table[title] = (*own, *table.get(title, ()))
    for key in ("Feb", "Apr", "Aug", "Sept", "Oct", "Nov", "Dec"):
        table[key] = (*table[key], (Evidence.IT_BEFORE, CALENDAR[key]))
    table["est"] = (*table["est"], (Evidence.DIGIT_NEXT, "estimated"))
    return table | _BY_CONTEXT


TABLE = _table()
