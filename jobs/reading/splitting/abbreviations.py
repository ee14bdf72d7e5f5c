"""Words that end in a full stop without ending a sentence, and words that open one, by language. Pure tables.

Knows no rule: `ends` decides with them. All words are in lower case and without their last full stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a language.

    `titles` stand before a name or a word: never an end. `soft` may end a sentence, but only where one of `starters`
    follows (`Acme Inc. He`, not `Acme Inc. USA`). `references` are no end before a figure (`No. 9`). `always` are no
    end, whatever follows (`e.g.`). `lower_titles` are titles that are written small as well.
    """

    titles: frozenset[str]
    lower_titles: frozenset[str]
    soft: frozenset[str]
    references: frozenset[str]
    always: frozenset[str]
    starters: frozenset[str]


def words_of(language: str) -> Words:
    """Those of a base language such as `en`; for one without a table what holds everywhere."""
    return _WORDS.get(language, _ANY)


def _set(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


def _words(
    *, titles: str = "", lower: str = "", soft: str = "", references: str = "", always: str = "", starters: str = ""
) -> Words:
    return Words(
        titles=_TITLES | _set(titles, lower),
        lower_titles=_set(_LOWER_TITLES, lower),
        soft=_set(_SOFT, soft),
        references=_set(_REFERENCES, references),
        always=_set(_ALWAYS, always),
        starters=_set(starters),
    )


# Titles of every Latin script: they stand in texts of any language, always with a capital.
_LOWER_TITLES = "mr mrs ms dr prof messrs"
_TITLES = _set(
    _LOWER_TITLES,
    "mx mme mlle mmes mlles mgr rev hon gen col capt cpt lt sgt maj gov sen rep pres fr cpl pvt adm cmdr cdr",
    "supt insp det msgr amb brig comm cllr sra srta sres dra dña hr sig dott",
)
_SOFT = "jr sr st ste esq inc co ltd corp bros plc llc mt ft"
_REFERENCES = "no nos nr p pp vol vols fig figs ca kl"
_ALWAYS = "vs cf viz"
_ANY = _words()

_WORDS: Mapping[str, Words] = {
    "en": _words(
        titles="wm chas geo thos jas jos edw robt saml benj alex danl",
        soft=(
            "ave rd blvd sq hwy bldg apt dept univ assn assoc dist natl intl est govt calif conn tenn ariz colo mich "
            "minn okla wis wyo al ibid jun sen mfg tel ext"
        ),
        references="ch chs chap chaps sec secs art arts para paras vv ll ed eds op approx c v bk pt ex deg nrs eq eqs "
        "eqn eqns thm tab pl col cols fol ver ref refs rm lib sect par pg pgs nn fn app apps avg max temp",
        always="vs v cf viz incl excl esp usu ie eg i.e e.g a.k.a w.r.t p.s n.b resp",
        starters=(
            "tis twas twill twere he she it they we you i this that these those there here then the a an but and or "
            "nor so yet if when while as at in on of for from with without by after before since until because "
            "although though however what who whose which why where how my your his her its our their no not yes is "
            "was are were do does did has have had can could would should must let some many most each every another "
            "both few several nobody everyone everybody someone somebody nothing everything something anyone anything "
            "perhaps maybe now once soon later today tomorrow yesterday never always sometimes often still even also "
            "only just meanwhile suddenly finally eventually instead indeed moreover therefore thus hence besides "
            "otherwise nevertheless to into during despite please thanks well oh next again he's she's it's they're "
            "we're you're i'm i'd i'll i've he'd she'd that's there's what's don't didn't two three neither either "
            "such nearly almost together behind between through beyond above below inside outside everywhere nowhere "
            "somehow shares"
        ),
    ),
    "de": _words(
        lower="hr fr frl dipl ing",
        soft="str jh jhd bzw usw ggf evtl inkl allg geb gest chr mio mrd tsd etc co ges abt univ fa ä u i",
        references="s abb bd kap abs art nr tel ziff anm tab z",
        always="z d sog vgl bspw insb bes vs ca st o",
        starters=(
            "er sie es wir ihr ich du der die das ein eine dann da aber und oder doch als wenn weil obwohl danach "
            "später hier dort heute gestern morgen nun jetzt so was wer wo wie warum mein meine sein seine ihre unser "
            "unsere kein keine man niemand alle viele auch nur noch schon immer nie im in am an auf mit nach vor bei "
            "seit diese dieser dieses jeder jede sonst trotzdem deshalb daher außerdem ja nein nicht ist war hat"
        ),
    ),
    "fr": _words(
        titles="mm me",
        soft="av bd etc env ex c j",
        references="art chap p pp vol fig n tel",
        always="cf p",
        starters=(
            "il elle ils elles on nous vous je tu le la les un une des ce cet cette ces mais et ou donc or ni car "
            "puis alors quand si comme après avant pendant depuis dans sur sous avec sans pour par en à au aux qui "
            "que quoi où pourquoi comment mon ma mes son sa ses leur notre votre tout tous toute rien personne non "
            "oui ici là c'est l'un hier"
        ),
    ),
    "es": _words(
        lower="sr sra srta sres d dña dr dra ud uds vd",
        soft="av avda etc uu ee c",
        references="pág págs núm art cap vol fig p",
        always="ej cf ee",
        starters=(
            "él ella ellos ellas nosotros yo tú usted el la los las un una unos unas esto esta este esa ese eso pero "
            "y o entonces luego después antes cuando si como mientras aunque porque en con sin por para de desde "
            "hasta a al qué quién dónde cómo mi su sus tu no sí nada nadie todo todos allí aquí ahora hoy ayer era es "
            "fue se lo le me"
        ),
    ),
    "it": _words(
        lower="sig sigg dott prof ing avv arch on dott.ssa sig.ra sig.na prof.ssa",
        soft="ecc etc s.p.a",
        references="pag pagg art cap vol fig num n",
        always="es cfr",
        starters=(
            "egli lui lei loro noi voi io tu il lo la i gli le un una uno questo questa quello ma e o poi allora "
            "quando se come mentre dopo prima in con senza per da di a che chi dove perché mio suo sua non sì tutto "
            "tutti niente qui là oggi ieri era è fu si"
        ),
    ),
    "pt": _words(
        lower="sr sra srta sres dr dra d eng",
        soft="av etc exa c",
        references="pág págs núm art cap vol fig séc p",
        always="ex cf",
        starters=(
            "ele ela eles elas nós eu tu você o a os as um uma isto este esta esse isso mas e ou então depois antes "
            "quando se como enquanto embora porque em com sem por para de desde até ao no na que quem onde meu seu "
            "sua não sim nada ninguém tudo todos ali aqui agora hoje ontem era é foi"
        ),
    ),
    "nl": _words(
        lower="dhr mevr mw drs ir ing mr prof ds",
        soft="enz etc str",
        references="blz nr art fig hfst",
        always="bijv ca resp",
        starters=(
            "hij zij ze het wij we jullie ik jij je u de een dit dat deze die maar en of dus toen dan daarna als "
            "wanneer omdat hoewel in op met zonder voor na van naar bij wat wie waar hoe waarom mijn zijn haar hun "
            "ons niet ja nee niets niemand alles hier daar nu vandaag gisteren er is was"
        ),
    ),
    "ru": _words(
        lower="г-н г-жа проф акад им ул пр пл просп",
        soft="г гг в вв др т.д т.п д п т.е руб коп тыс н э обл р-н",
        references="см стр рис гл табл ср",
        always="т напр",
        starters=(
            "он она оно они мы вы я ты это этот эта эти тот та но и а или потом затем когда если как пока хотя потому "
            "в на с без по для из от до у к о что кто где куда почему зачем мой его её их наш ваш не нет да ничего "
            "никто все всё там тут здесь сейчас теперь сегодня вчера был была было после"
        ),
    ),
    "ar": _words(always="د أ م"),
    "hi": _words(always="डॉ श्री प्रो पं मो सु कु"),
}


MONTHS = _set("Jan Feb Mar Apr May Jun Jul Aug Sep Sept Oct Nov Dec March April June July August")
DAYS = _set("Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun")
TIMES = _set("a.m p.m A.M P.M")
ORDINAL_NOUNS = _set(
    "januar jänner februar märz april mai juni juli august september oktober november dezember jahrhundert",
    "jahrhunderts jahrhunderte klasse kapitel band teil stock weltkrieg geburtstag tag woche stunde akt platz",
    "runde auflage",
)
"""What a German ordinal counts (`am 3. Mai`)."""
ORDINAL_WORDS = _set(
    "am der die das dem den des im vom zum zur beim ab bis seit ein eine sein ihr",
)
"""Small words before a German ordinal."""
DESIGNATORS = _set(
    "plan vitamin grade class type group option point exhibit appendix section figure hepatitis schedule team",
    "block part category phase level table column row item letter war act scene size form zone gate terminal",
    "building flat blood product step hall wing ward studio platform route line side version model platz klasse",
    "gruppe room suite apartment exit bay pier door seat floor",
)
"""Words before a single letter that is no initial (`plan B.`)."""
ENDINGS = _set(
    "etc usw ecc enz",
)
"""`etc.` of several languages: an end wherever a capital follows."""
BOOKS = _set(
    "Gen Ex Exod Lev Num Deut Josh Judg Sam Kgs Chr Chron Neh Esth Ps Pss Prov Eccl Eccles Isa Jer Lam Ezek Dan Hos "
    "Obad Mic Nah Hab Zeph Hag Zech Mal Matt Mk Lk Jn Rom Cor Gal Eph Phil Col Thess Tim Philem Heb Jas Pet Rev",
)
"""Books of the Bible: no end before chapter and verse (`1 Cor. 13:4`)."""
SHORT_WORDS = _set(
    "so go me us it on up by do to he we be if of my ox oh hi ha at as is out off ran old new one two six ten day way "
    "man men her him his she you who why how yet not now ago end eye sky ice age all any big bad red mad odd dry wet "
    "hot low raw far few fun too own top job boy son law war lie die did had has saw got let met put say sit set "
    "cut run win won try cry fly buy pay key bed box bag bus car cat dog cow pig egg tea arm leg ear lip toe hat cap "
    "cup pot pan map pen oil gas gun god joy kid lad mud nut pie pit pub rat rod rug sum tax tip toy van web wit use",
    "LA",
)
"""Short English words that are no abbreviations: a stop after one ends a sentence."""
GO_ON_LOUD = _set("AND OR BUT NOR TO OF FOR FROM WITH BY ON IN AT UNTIL")
"""In text that is all capitals these go on with a sentence after an abbreviation."""
PRONOUNS = _set("He She It They We You Then But And His Her Their")
"""They follow a title that ended a sentence (`Ask the Dr. He knows.`)."""
UNITS = _set(
    "ft in lb lbs oz yd mi min mins hr hrs sec secs kg km cm mm m g l ml",
)
GREATER_UNITS = _set("lb lbs ft yd hr hrs min mins")
"""Those that the figure of a smaller one follows: `2 lbs. 5 oz.`"""
