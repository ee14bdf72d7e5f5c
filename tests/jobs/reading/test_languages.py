"""What language a paragraph is in, by its script."""

import pytest

from jobs.language_tags import base_language
from jobs.reading.languages import language_of

TEXTS = [
    ("Plain words.", "en", "en"),
    ("Déjà vu à Genève.", "fr", "fr"),
    ("Déjà vu à Genève.", "en-GB", "en-GB"),
    ("1234 … 5", "ar", "ar"),
    ("«…»", "en", "en"),
    ("", "ru", "ru"),
    ("היום יום ג'. מחר יום ד'.", "en", "he"),
    ("אַ ייִדיש בוך", "yi", "yi"),
    ("קניתי iPhone חדש אתמול בערב", "en", "he"),
    ("قال الولد: «أين الكتاب؟» ثم ضحك.", "en", "ar"),
    ("استخدم Python 3.12 اليوم، من فضلك!", "en", "ar"),
    ("این یک کتاب است", "fa", "fa"),
    ("یہ کتاب ہے", "ur-PK", "ur-PK"),
    ("یہ کتاب ہے", "en", "ar"),
    ("河边的老人每天早晨", "en", "zh"),
    ("河边的老人每天早晨", "zh-TW", "zh-TW"),
    ("東京都", "ja", "ja"),
    ("東京都", "ko", "ko"),
    ("東京都", "de", "zh"),
    ("雨が降る。", "en", "ja"),
    ("雨が降る。", "zh", "ja"),
    ("雨が降る。", "ja-JP", "ja-JP"),
    ("ｱｲｳ", "en", "ja"),
    ("Tom Sawyer", "ja", "ja"),
    ("Café Zürich", "ja", "ja"),
    ("나는 학교에 간다", "en", "ko"),
    ("Он пришёл домой.", "en", "ru"),
    ("Той си дойде.", "bg", "bg"),
    ("Он је дошао.", "sr", "sr"),
    ("Він прийшов додому.", "en", "uk"),
    ("Він прийшов додому.", "ru", "ru"),
    ("Її немає вдома.", "ru", "uk"),
    ("Її немає вдома.", "bg", "bg"),
    ("Ґанок і їжак", "de", "uk"),
    ("Ён прыйшоў дадому", "en", "be"),
    ("Τι είναι αυτό;", "en", "el"),
    ("ἐν ἀρχῇ ἦν ὁ λόγος", "grc", "grc"),
    ("สวัสดีครับ", "en", "th"),
    ("वह आया।", "en", "hi"),
    ("तो आला.", "mr", "mr"),
    ("ऊ आयो।", "ne", "ne"),
    ("সে এসেছে", "en", "bn"),
    ("அவன் வந்தான்", "en", "ta"),
    ("అతను వచ్చాడు", "en", "te"),
    ("ಅವನು ಬಂದನು", "en", "kn"),
    ("അവൻ വന്നു", "en", "ml"),
    ("તે આવ્યો", "en", "gu"),
    ("ਉਹ ਆਇਆ", "en", "pa"),
    ("ඔහු ආවා", "en", "si"),
    ("ის მოვიდა", "en", "ka"),
    ("Նա եկավ", "en", "hy"),
    ("እሱ መጣ", "en", "am"),
    ("እሱ መጣ", "ti", "ti"),
    ("သူလာ", "en", "my"),
    ("ລາວມາ", "en", "lo"),
    ("គាត់មក", "en", "km"),
    ("He read Война и мир in May and liked it.", "en", "en"),
    ("Она сказала ok и ушла.", "en", "ru"),
    ("α-particles are small", "en", "en"),
    ("The sign read 出口 and nothing else.", "en", "en"),
]


@pytest.mark.parametrize(("text", "default", "language"), TEXTS)
def test_the_script_tells(text, default, language):
    assert language_of(text, default) == language


def test_vowel_signs_do_not_hide_a_script():
    """Marks of Indic scripts are no letters: a text of few letters and many signs is in its script all the same."""
    assert language_of("कि की कु कू a b", "en") == "hi"


def test_a_script_needs_more_than_half_of_the_letters():
    assert language_of("ab яё", "en") == "en"
    assert language_of("ab яёю", "en") == "ru"


@pytest.mark.parametrize(("tag", "base"), [("en_GB", "en"), ("EN-us", "en"), ("de", "de"), ("zh-Hant-TW", "zh")])
def test_the_base_of_a_tag(tag, base):
    assert base_language(tag) == base
