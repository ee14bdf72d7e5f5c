"""Held-out bytes: encodings with and without marks, mixed and damaged ones."""

import pytest

from jobs.planning import PlanOptions
from jobs.reading.options import ReadingOptions
from tests.jobs.reading.held_out import Held, plan_held, wrong_in

ENGLISH = "“Stay,” said Zoë — the café was naïve…\n\nIt cost €5."
SAYS = ("“Stay,” said Zoë — the café was naïve…", "It cost €5.")
GERMAN = "Die Straße war naß; über den Häusern hing Rauch. Größe zählt nicht, sagte Jürgen.\n"
CHINESE = "河边的老人每天早晨都会来到旧石桥上看水，他说水里有去年的月亮。没有人相信他，可是没有人离开。\n\n"
JAPANESE = "「行こう」と彼は言った。雨はもう止んでいたが、道はまだ濡れていて、だれも歩いていなかった。\n\n"
TAIWANESE = "河邊的老人每天早晨都會來到舊石橋上看水，他說水裡有去年的月亮。沒有人相信他，可是沒有人離開。\n\n"
KOREAN = "노인은 매일 아침 오래된 돌다리에 와서 물을 바라보았다. 아무도 그를 믿지 않았지만 아무도 떠나지 않았다.\n\n"


def once(text: str, times: int) -> tuple[str, ...]:
    return (text.strip(),) * times


BYTES = (
    Held("utf-8", ENGLISH.encode(), SAYS, encoding="utf-8"),
    Held("utf-8 with a mark", ENGLISH.encode("utf-8-sig"), SAYS, encoding="utf-8-sig"),
    Held("utf-16 le with a mark", b"\xff\xfe" + ENGLISH.encode("utf-16-le"), SAYS, encoding="utf-16"),
    Held("utf-16 be with a mark", b"\xfe\xff" + ENGLISH.encode("utf-16-be"), SAYS, encoding="utf-16"),
    Held("utf-16 le without a mark", ENGLISH.encode("utf-16-le"), SAYS, encoding="utf-16-le"),
    Held("utf-16 be without a mark", ENGLISH.encode("utf-16-be"), SAYS, encoding="utf-16-be"),
    Held("utf-32", ENGLISH.encode("utf-32"), SAYS, encoding="utf-32"),
    Held("cp1252", ENGLISH.encode("cp1252"), SAYS, encoding="cp1252"),
    Held("cp1252, Windows line ends", ENGLISH.replace("\n", "\r\n").encode("cp1252"), SAYS, encoding="cp1252"),
    Held("latin-1", GERMAN.encode("latin-1"), (GERMAN.strip(),), encoding="cp1252", language="de"),
    Held(
        "one bad byte in utf-8",
        "“Zoë” — naïve caf".encode() + b"\xe9" + " était là.".encode(),
        ("“Zoë” — naïve café était là.",),
        encoding="utf-8",
    ),
    Held(
        "a cut character at the end",
        "“Zoë” went — away. caf".encode() + b"\xc3",
        keep=("“Zoë” went — away.",),
        gone=("\ufffd",),
        encoding="utf-8",
    ),
    Held(
        "a byte that no code page has",
        b"He said \x81no\x8d. It was caf\xe9.",
        keep=("It was café.",),
        gone=("\ufffd", "\x81", "\x8d"),
        encoding="cp1252",
    ),
    Held("NUL bytes between words", b"One\x00two.\x00\n\nThree." + b" word" * 20, keep=("One two.",
    "Three."), gone=("\x00",)),
    Held("marks inside", "One.\n\n\ufeffTwo \ufeffis here.\n".encode(), ("One.", "Two is here."), encoding="utf-8"),
    Held("a mark twice", b"\xef\xbb\xbf\xef\xbb\xbfOne.", ("One.",), encoding="utf-8-sig"),
    Held("gb18030, long", (CHINESE * 8).encode("gb18030"), once(CHINESE, 8), encoding="gb18030", language="zh"),
    Held("big5, long", (TAIWANESE * 8).encode("big5"), once(TAIWANESE, 8), encoding="big5hkscs", language="zh"),
    Held("shift_jis, long", (JAPANESE * 8).encode("shift_jis"), once(JAPANESE, 8), encoding="cp932", language="ja"),
    Held("euc-jp, long", (JAPANESE * 8).encode("euc_jp"), once(JAPANESE, 8), encoding="euc_jp", language="ja"),
    Held("euc-kr, long", (KOREAN * 8).encode("euc_kr"), once(KOREAN, 8), encoding="cp949", language="ko"),
    Held("iso-2022-jp", JAPANESE.encode("iso2022_jp"), once(JAPANESE, 1), encoding="iso2022_jp", language="ja"),
    Held(
        "shift_jis, short, named",
        "「行こう」と言った。".encode("shift_jis"),
        ("「行こう」と言った。",),
        encoding="shift_jis",
        language="ja",
        options=PlanOptions(reading=ReadingOptions(encoding="shift_jis")),
    ),
    Held(
        "koi8-r, named",
        "Шёл дождь.".encode("koi8-r"),
        ("Шёл дождь.",),
        encoding="koi8-r",
        language="ru",
        options=PlanOptions(reading=ReadingOptions(encoding="koi8-r")),
    ),
    Held(
        "invisible signs of all kinds",
        "ze\u200bro so\u00adft wo\u2060rd \u200eleft\u200f no\u00a0break nar\u202frow \u2066iso\u2069 "
        "\ue000priv va\ufe0e.\n",
        ("zero soft word left no break nar row iso priv va.",),
    ),
    Held(
        "breaks of all kinds",
        "One\u2028still one\u2029Two\vstill\x85two\f\fThree.\n",
        ("One still one", "Two still two", "Three."),
    ),
    Held(
        "ligatures and wide letters",
        "The ﬁre in the oﬃce. Ｆｕｌｌ ｗｉｄｔｈ. № 5.\n",
        ("The ﬁre in the oﬃce. Ｆｕｌｌ ｗｉｄｔｈ. № 5.",),
        spoken=("The fire in the office. Full width. number five.",),
    ),
    Held(
        "Arabic and Hebrew with marks of direction",
        "قال الولد: «أين الكتاب؟» ثم ضحك.\n\nהיום \u200fיום ג'.\n",
        ("قال الولد: «أين الكتاب؟» ثم ضحك.", "היום יום ג'."),
    ),
)  # fmt: skip


@pytest.mark.parametrize("held", BYTES, ids=[held.id for held in BYTES])
def test_bytes_become_the_right_characters(held):
    assert wrong_in(held) == {}


@pytest.mark.parametrize("encoding", ["gb18030", "big5", "shift_jis", "euc_kr"])
def test_short_text_that_could_be_anything_is_warned_of(encoding):
    text = {"euc_kr": KOREAN, "shift_jis": JAPANESE, "big5": TAIWANESE}.get(encoding, CHINESE)
    planned = plan_held(Held("short", text[:20].encode(encoding)))
    assert any("encoding" in warning or "UTF-8" in warning for warning in planned.plan.source.warnings)
