"""Where sentences of other languages end: each line is a paragraph, `|` stands where a sentence ends."""

import pytest

from jobs.reading.splitting.sentences import sentence_spans

PARAGRAPHS = {
    "de": """
Am 3. Mai kam er.|Er blieb bis zum 5. Juni.
Es war der 2. Weltkrieg.|Im 19. Jahrhundert war es anders.
Es war 1984.|Dann kam er.
Er ist 12.|Sie ist 10.
Obst, z. B. Äpfel, ist gut.|D. h. er kommt.
Er kommt, d. h. Anna auch.|Viele, u. a. Peter, kamen.
Hr. Müller und Dr. Weiß kamen.|Prof. Klein nicht.
Das kostet ca. 5 Euro.|Siehe S. 5 und Abb. 2.|Nr. 9 fehlt.
Äpfel, Birnen usw. sind gut.|Er kaufte Äpfel, Birnen usw.|Dann ging er.
„Halt!“, rief er.|„Halt!“|Er ging.
»Halt!«|»Nein.«|Er ging.
»Komm!« sagte er.|»Ja.«
Das sind 1.000,50 Euro.|Es sind 37,0 Grad.
Er kam am Mo. und ging.|Um 9.30 Uhr kam er.|Am 3.4.2021 auch.
Cäsar starb 44 v. Chr. in Rom.|Er starb 44 v. Chr.|Das war früh.
Wirklich?|Ja!|Nein…|Doch.
Ludwig XIV. war König.|Kapitel 3.|Das Haus war leer.
J. S. Bach schrieb es.|Es gilt bzw. galt.
""",
    "fr": """
M. Dupont est là.|Mme Durand aussi.
J'ai vu M. Dupont.|Il dort.
Des fruits, p. ex. des poires.|C'est bon.
« Vraiment ? » dit-il.|« Oui. »|Il part.
« Oui. »|Il part.
Il est venu.|Elle dort.|Quoi ?|Rien !
J.-P. Sartre écrit.|Il lit.
Le Dr. Martin est là.|MM. Dupont et Durand aussi.
Des pommes, etc. sont là.|Des pommes, etc.|Il mange.
Voir p. 5 et vol. 2.|Attends… je viens.|Attends…|Je viens.
En 50 av. J.-C. il meurt.
""",
    "es": """
El Sr. López y la Sra. Díaz llegaron.|La Dra. Ruiz no.
¿Quién es?|¡Soy yo!|Pasa.
Vive en EE. UU. desde 1990.|Vive en EE. UU.|Ella no.
Frutas, p. ej. peras.|Véase pág. 5 y núm. 9.
—¡Alto! —dijo.|—No.
Compró peras, etc.|Luego comió.
D. Juan vino.|Dijo que no.|¿Y tú?
Son 1.000,50 euros.|Espera… ya voy.
""",
    "it": """
Il Sig. Rossi è qui.|Il dott. Bianchi dorme.
La Sig.ra Verdi e l'ing. Neri sono qui.|Lui no.
Mele, pere, ecc. sono buone.|Mele, ecc.|Poi mangia.
«Davvero?» disse lui.|«Sì.»|Poi partì.
Vedi pag. 5 e vol. 2.|Nel 50 a.C. morì.
""",
    "pt": """
O Sr. Silva e a Sra. Costa vieram.|A Dra. Lima não.
Frutas, p. ex. peras.|Veja pág. 5.|Ele viu.
Quem é?|Sou eu!|Entre.
Peras, etc.|Depois comeu.|São 1.000,50 reais.
""",
    "nl": """
Dhr. Jansen en mevr. De Vries kwamen.|Hij niet.
Fruit, bijv. peren, is goed.|Zie blz. 5 en nr. 9.
Prof. dr. De Boer sliep.|Waarom?|Daarom!
Peren, enz.|Toen at hij.|Dr. Smit kwam d.w.z. niet.
""",
    "ru": """
А. С. Пушкин родился в 1799 г. в Москве.|Он писал.
Хлеб, сыр и т. д. лежали.|Хлеб и т. д.|Потом он ушёл.
Г-н Иванов, т. е. Пётр, ушёл.|Она осталась.
Кто там?|Это я!|Заходи.
«Стой!» — сказал он.|«Нет.»|Она ушла.
Он живёт на ул. Ленина.|См. стр. 5 и рис. 2.
В 1984 г.|Он уехал.|Подожди… я иду.
""",
    "zh": """
他来了。|她走了！|真的？
“走吧！”他说。|她不走。
他说：“走吧。”|她走了。
「走吧。」|她走了。
价格是3.14元。|好。
等等……我来了。|好！
（他睡了。）|然后下雨了。
""",
    "ja": """
雨が降る。|「行こう」と彼は言った。
「行こう！」と彼は言った。|彼女は行った。
「行こう。」|彼は立った。
本当ですか？|はい！
『猫』を読んだ。|面白い。
""",
    "ar": """
قال الولد: «أين الكتاب؟»|ثم ضحك.|استخدم Python 3.12 اليوم، من فضلك!
هو هنا؟|نعم.
ذهب د. أحمد إلى البيت.|قال نعم.
كم عمرك؟|عمري 12.5 سنة.
""",
    "he": """
היום יום ג'.|מחר יום ד'.
מה שלומך?|טוב!|תודה.
ד"ר כהן בא.|הוא ישן.
""",
    "hi": """
वह आया।|वह गया।
डॉ. शर्मा आए।|श्री. वर्मा नहीं।
क्या?|हाँ!
""",
    "hy": """
Նա եկավ։|Նա գնաց։
""",
    "el": """
Τι είναι;|Ναι.|Όχι!
""",
    "am": """
እሱ መጣ።|እሱ ሄደ።
""",
    "pl": """
Prof. Nowak i dr Kot przyszli.|On nie.
""",
    "sv": """
Han kom kl. 9.30.|Hon gick.
""",
}
CASES = [(language, line) for language, lines in PARAGRAPHS.items() for line in lines.strip().split("\n")]


@pytest.mark.parametrize(("language", "line"), CASES)
def test_sentences_end_where_they_should(language, line):
    text = line.replace("|", "" if language in {"zh", "ja"} else " ")
    assert [text[start:end].strip() for start, end in sentence_spans(text, language)] == line.split("|")


@pytest.mark.parametrize("language", ["xx", "eo", "la", ""])
def test_a_language_without_a_table_keeps_what_holds_everywhere(language):
    text = "A met Dr. Smith. J. R. Day left. It was 3.14 in all."
    found = [text[start:end].strip() for start, end in sentence_spans(text, language)]
    assert found == ["A met Dr. Smith.", "J. R. Day left.", "It was 3.14 in all."]
