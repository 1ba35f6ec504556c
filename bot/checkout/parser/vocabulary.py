"""Words around the parts of an order: they introduce a part, or are only polite.

The words of each language are in its file (`core/locales/`). Names of banks and people in Indonesia are here, because
they belong to no language.
"""

from importlib.resources import files
from typing import Final

from bot.core.locales import read_tables
from bot.core.money.tokens import AMOUNT_LABELS as _AMOUNT_LABELS
from bot.recipients import numbers


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_LANGUAGES: Final = tuple(read_tables("order_line").values())


def _listed(name: str) -> frozenset[str]:
    """Return the words of a list in all languages, because users mix languages in a line."""
    return _words(*(known[name] for known in _LANGUAGES))


LEADS_TO_NAME: Final = _listed("leads_to_name")
"""A person's name follows these, even if it is also a bank's ("a/n Mega")."""

LEADS_APART: Final = ("a", "n")
"""The same in two words: "a n Budi"."""

TITLES: Final = _listed("titles")
"""Titles. The word after them is a person's name, not a bank's."""

GENERIC: Final = _listed("generic")
"""A destination follows these, even if it is also an everyday word ("bank mas")."""

LEADS_TO_DESTINATION: Final = _listed("leads_to_destination")
"""The destination of the money follows these, even if it is also a person's name."""

ACCOUNT_LABELS: Final = numbers.ACCOUNT_LABELS
PHONE_LABELS: Final = numbers.PHONE_LABELS
NUMBER_LABELS: Final = numbers.NUMBER_LABELS | {"#"}
"""Words that introduce an account number, or the number of a house, a room or a queue."""

BEFORE_ONLY: Final = frozenset({"rp", "idr"})
"""Currencies that are written before an amount, never after it."""

FILLERS: Final = (
    (NUMBER_LABELS | _AMOUNT_LABELS | PHONE_LABELS | LEADS_TO_DESTINATION) - (GENERIC | {"#"})
    | _listed("fillers")
    | {"+", "&"}
)

POLITE_PAIRS: Final = frozenset((first, second) for known in _LANGUAGES for first, second in known["polite_pairs"])
"""Fillers of two words. Each word alone may be a name."""

ASIDE_LABELS: Final = _listed("aside_labels") | {"#"}
"""The number after these is a time, a date, a code or a house: neither an account nor an amount."""

AFTER_CLOCK: Final = _listed("after_clock")
"""The number before these is a time of day."""

COUNTED: Final = _listed("counted") | {"x"}
"""The number before these counts something, by which the amount may have to be multiplied."""

NUMBERED_NAMES: Final = frozenset({("bni", "46")})
"""Destinations that people call by a name and a number."""

OTHER_AMOUNTS: Final = _listed("other_amounts")
"""An amount next to these may not be the amount to send."""

EITHER: Final = _listed("either")
"""If one of these is between two things, it is unclear which is meant."""

ROUGHLY: Final = _listed("roughly")
"""Words that only concern amounts, anywhere in the line."""

ABOUT: Final = ROUGHLY | EITHER
"""An amount next to these is approximate, or one of several."""

EACH: Final = _listed("each") | {"@", "x"}
"""An amount next to these is sent more than once, or only in part."""

NOT_THIS: Final = _listed("not_this")
"""The words after these are neither the destination nor the amount."""

MONTHS: Final = _listed("months")
"""Months. With a day before or a year after them they are dates. Alone they may be a person's name."""

BUSINESS: Final = _listed("business")
"""Words in names of firms that hold an account ("a.n. Toko Budi"), but never in a person's name."""

TALK: Final = _listed("talk")
"""Words of messages about payments that are no orders. No name contains them."""

SENDS: Final = _listed("sends")
"""Verbs that ask to send."""

LEADS_TO_PERSON: Final = _listed("leads_to_person")
"""Who receives the money follows these."""

LEADS_TO_PURPOSE: Final = _listed("leads_to_purpose")
"""What the money is for follows these."""

PAID_FOR: Final = _listed("paid_for")
"""Words of `TALK` that are no talk if what the money is for begins with them ("untuk bayar kos")."""

ABOUT_AN_ORDER: Final = _listed("about_an_order")
"""Words of messages about an order that was placed. No order contains them, but a name may."""

EVERYDAY: Final = _words(
    "mas oke bagi saudara bale motion index capital nyala super mantap prima artha bumi sentosa sinar jaya bank",
    "syariah indonesia by of ok d line sea bisnis jakarta dinar",
)
"""Names of banks that are everyday words: they mean the bank only after the word "bank"."""

NAMES_TOO: Final = _words(
    "mega dana raya ina permata victoria mutiara amar aladin hana ganesha jago niaga neo bali aceh papua banten",
    "lampung jambi jogja jabar maluku mayora saqu krom windu sampoerna nagari woori mestika allo kb nobu citi",
    "octo dki diy jatim jateng kalbar kalsel kalteng kaltim sumut sumsel sulteng sultra bengkulu malut ntt ntb",
    "fama agris artos blu jenius livin",
)
"""Banks whose names are also names of people or places, or words. They mean no bank if another bank is next to them."""

ONLY_EXACT: Final = (
    EVERYDAY
    | NAMES_TOO
    | _words(
        "wondr tcash byond spay brimo livin panin gojek senyumku tunaiku neobank superbank capital kasikorn mayapada"
    )
)
"""Names of banks that resemble everyday words or names of people. Only their exact spelling means the bank."""

NEARLY_BANKS: Final = _words(
    "permana permadi mandira mandiro mutia muti mutiah sam hanna hani amara dina maya mayasari nia niar panji",
    "jeni jenni jenny danila danu dani danang mira maria victor viktor viktoria may mei papa mama mayang raka",
    "niken muh moh dan dana bram sin ban pan rian gan dian diana indah intan kris com arta bagus ocha tara saku",
    "super sari sinta shinta sultan sultani hannah mustika kartika megawati megan rayan rayhan jagoan nagara",
    "lampu papi bambang",
    "perdana dimas jane karya andri ishak mason damon mandarin digital india shop trust risau pisau bandar national",
    "banyumas bakalan bangkalan samaran lamaran brankas mansion spion climb drank command commerce peradaban",
    "perkataan sebabkan mamalia sulut parks nis thrust trusts",
)
"""Names and words that look like misspelt banks. They are never read as a bank."""

EVERYDAY_WORDS: Final = _words(*(words for known in read_tables("everyday").values() for words in known.values()))
"""Words that are never part of a person's name or of a misspelt destination."""

_NAMES_FILE: Final = (files(__package__) / "known_names.txt").read_text(encoding="utf-8")
KNOWN_NAMES: Final = _words(*(line for line in _NAMES_FILE.splitlines() if not line.startswith("#")))
"""Names of people."""

WORDS_TOO: Final = _words(
    "alam bagus bintang boy bunga cahaya cinta dana dewa gede hakim hari indah jati jaya kasih lee luh mark mulia",
    "murni muslim ratu ribut sabar sari sen siang tanjung tari tata teguh titik uni untung surya agung bakti bin imam",
    "iman intan putra putri prima setia sukses abang yo unggul wage wen nana mama tini topan guntur cut han dini",
)
"""Names that are also words. Alone they are used only after a question."""

CURRENCIES_TOO: Final = _words("won yen yuan dinar rial lira sen taka mark rand frank penny kip sterling ang bob ron")
"""Names that are also currencies. Next to a number they mean the currency."""
