"""The catalogues agree with one another, with Telegram's HTML, and with the code that speaks them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from bot.infra.i18n import LOCALES, find_catalogue_folder
from bot.infra.i18n.translator import PLACEHOLDER
from tests.architecture.sentences_in_code import beginnings, literals, shown_without_markup, spoken

FORBIDDEN_ENGLISH = (
    r"\b(?:news|whoever|somebody|anybody|supporters?|persons)\b",
    r"\b(?:afresh|anew|shall|meanwhile|nevertheless|wish(?:es)?|needn't)\b",
    r"\b(?:once more|any more|by itself|by themselves|under way|turned away|seen to)\b",
    r"(?<!have )(?<!has )\bto be paid\b",
    r"\bthe card\b",  # a bank card
    r"(?<!anti-phishing )(?<!seed )\bphrases?\b",  # a wallet's seed phrase
    r"Rp |\b\d{1,3}\.\d{3}\b",
)
"""What people say instead: message, again, is paid, in progress, Rp150,000."""

FORMATTING = ("b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "code", "pre", "blockquote")
TELEGRAM_TAGS = frozenset({*FORMATTING, "a", "span", "tg-spoiler", "tg-emoji", "tg-time"})
STYLES = {None, "rupiah", "sats", "percent"}
KEY = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")
ENTITY = re.compile(r"&(?!(?:lt|gt|amp|quot|#\d+|#x[0-9a-f]+);)")


def _read(locale: str) -> Catalog:
    with (find_catalogue_folder() / locale / "LC_MESSAGES" / "kirim.po").open("rb") as file:
        return read_po(file, locale=locale, abort_invalid=True)


def _key(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def _forms(message: Message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


CATALOGS = {locale: _read(locale) for locale in LOCALES}
SENTENCES = {locale: {_key(each): each for each in catalog if each.id} for locale, catalog in CATALOGS.items()}
ENGLISH = SENTENCES["en"]
EVERY_SENTENCE = [(locale, key) for locale, sentences in SENTENCES.items() for key in sentences]
TROUBLE = (
    "orders.asked.failed_paid",
    "orders.asked.failed_unknown",
    "orders.asked.nothing_needed",
    "orders.asked.support_asks",
    "orders.asked.support_knows",
    "orders.pay_page.failed_paid_text",
    "orders.pay_page.payer.failed_paid_text",
    "orders.status_message.failed_paid",
    "orders.status_message.overdue",
    "support.ticket.by_itself_failed",
    "support.help.trouble",
    "support.help.trouble_alone",
    "support.help.trouble_contact",
    "support.help.trouble_support",
    "orders.notification.ask_a_person",
    "orders.notification.failed_paid",
    "orders.notification.keep_reference",
    "orders.notification.staff_know",
    "orders.notification.overdue",
    "home.welcome.trouble_alone",
    "home.welcome.trouble_contact",
    "home.welcome.trouble_support",
)
"""What senders read when their payment came in and the payout hasn't followed."""

SENT = (
    "orders.status_message.sent_bank",
    "orders.status_message.sent_ewallet",
    "orders.notification.sent_bank",
    "orders.notification.sent_ewallet",
)
NEVER_SAID = (
    # Only the service decides what becomes of a failed order's money, so nobody can promise a refund.
    (TROUBLE, "en", ("refund", "get it back", "money back", "returned")),
    (TROUBLE, "id", ("kembali", "pengembalian")),
    # Rupiah that were sent may still be on their way inside the bank.
    (SENT, "en", ("arrived",)),
    (("orders.status_message.sent_ewallet", "orders.notification.sent_ewallet"), "en", ("bank",)),
    # A payment can be on its way when its invoice expires.
    (("orders.status_message.expired", "orders.notification.expired"), "en", ("not paid",)),
    # These are also shown where there are no staff, and where there is no button.
    (
        ("orders.notification.failed_paid", "orders.notification.keep_reference", "orders.notification.overdue"),
        "en",
        ("staff", "button"),
    ),
    (("orders.notification.ask_a_person",), "en", ("staff",)),
    # These are shown where there is no support team, too.
    (
        (
            "support.help.trouble",
            "support.help.trouble_alone",
            "support.help.trouble_contact",
            "home.welcome.trouble_alone",
            "home.welcome.trouble_contact",
        ),
        "en",
        ("support", "ticket", "repl"),
    ),
    (
        (
            "support.help.trouble",
            "support.help.trouble_alone",
            "support.help.trouble_contact",
            "home.welcome.trouble_alone",
            "home.welcome.trouble_contact",
        ),
        "id",
        ("tim bantuan", "tiket", "balas"),
    ),
    # How long a transfer takes is said where the bot's own orders have shown it, and nowhere else.
    (
        (
            "home.about.description",
            "home.about.short",
            "support.help.time",
            "home.welcome.time_unmeasured",
        ),
        "en",
        ("minute", "hour", "instant", "second"),
    ),
    (
        (
            "home.about.description",
            "home.about.short",
            "support.help.time",
            "home.welcome.time_unmeasured",
        ),
        "id",
        ("menit", " jam", "instan", "detik"),
    ),
)
"""Keys, their language, and words that would promise what nobody knows, or name what isn't there."""

ALWAYS_SAID = (
    # Whoever has paid, or may have, must not pay again.
    (
        (
            "orders.asked.failed_paid",
            "orders.asked.failed_unknown",
            "orders.status_message.failed_paid",
            "orders.status_message.failed_unknown",
            "orders.status_message.overdue",
            "orders.chat.order_unreadable",
            "orders.notification.failed_paid",
            "orders.notification.paid_late",
            "orders.notification.overdue",
            "orders.order_page.given_up",
            "orders.pay_page.expired_text",
            "orders.pay_page.failed_paid_text",
            "orders.pay_page.failed_unknown_text",
            "orders.pay_page.failed_unpaid_text",
            "orders.pay_page.trouble_text",
            "support.help.trouble",
        ),
        "don't pay again",
        "jangan bayar lagi",
    ),
    (
        (
            "orders.notification.deposit_taken",
            "orders.notification.not_shown",
            "orders.notification.offer_over",
            "orders.notification.refused",
            "orders.notification.refused_because",
            "orders.order_page.offer_over",
        ),
        "don't have to pay anything",
        "tidak perlu membayar apa pun",
    ),
    (("checkout.service.down", "orders.cannot_check"), "no order was created", "transaksi"),
    (("orders.status_message.cannot_look",), "isn't affected", "tidak terpengaruh"),
    (("orders.notification.failed_unpaid", "orders.notification.offer_over"), "get a new price", "minta harga baru"),
    (("orders.status_message.failed_unpaid", "orders.order_page.offer_over"), "get a new price", "minta harga baru"),
    (
        ("orders.notification.not_shown", "orders.notification.refused", "orders.notification.refused_because"),
        "try again",
        "mencoba lagi",
    ),
    # These lead to the page that says whom to contact.
    (
        (
            "orders.status_message.failed_paid",
            "orders.status_message.failed_unknown",
            "orders.chat.order_unreadable",
            "orders.order_page.given_up",
            "orders.pay.deposit",
        ),
        "/help",
        "/help",
    ),
    (("orders.notification.keep_reference", "support.help.trouble_alone"), "contact", "hubungi"),
    (("orders.notification.paid",), "don't need to do anything", "tidak perlu melakukan apa-apa"),
    (("orders.notification.checking",), "minutes", "menit"),
    (("orders.notification.paid_late",), "price that was locked", "harga yang sudah dikunci"),
    # The price that the service locks has the fee (settlement API, 8), whether or not the quote shown has it.
    (
        (
            "broadcasts.default",
            "checkout.review.price",
            "rates.fee",
            "rates.subscription.daily_text",
            "support.help.cost",
            "home.welcome.cost",
            "home.welcome.cost_unpriced",
        ),
        "part of the price that we lock",
        "termasuk dalam harga yang kami kunci",
    ),
)
"""Keys, and what they say in English and in Indonesian: what trouble means for the money, and what to do now."""

NAMED_BUTTON = re.compile(r"\b(?:[Tt]ap|tapped|[Kk]etuk|mengetuk) (?:“([^”]+)”|(?:<b>)?[A-Z](?!tart\b))")
"""How a text names a button. One without these quotation marks is wrong, but Telegram's Start is its own."""

OTHER_SENTENCES = [(locale, key) for locale, key in EVERY_SENTENCE if locale != "en" and key in ENGLISH]

FOR_STAFF = (
    "operations.books.",
    "home.command.reconcile",
    "operations.help.",
    "support.agent.",
    "operations.reconciliation.",
    "support.user_event.",
    "support.saved_reply.",
    "broadcasts.",
    "support.case.",
    "support.draft.",
    "support.evidence.",
    "operations.statistics.",
    "support.lookup.",
    "support.next.",
    "orders.notification.staff_",
    "orders.status.staff_",
    "operations.platform.",
    "support.reveal.",
    "support.service_order.",
    "operations.status.",
    "staff.",
    "support.staff",
    "support.waiting.",
)
"""How the keys of texts begin that only operators and support agents read."""

WORDS_OUT = {
    "en": (
        *FORBIDDEN_ENGLISH,
        r"\b(?:nobody|a person)\b",
        r"\b(?:I(?!'ve paid$|'m on it)|I'll)\b",  # we are "we", and some buttons are their reader's words
        r"\bthe service\b",  # the settlement service to staff, our payment partner to customers
        r"\bat \{(?:at|since|again)\}",  # a time can have a date before it
    ),
    "id": (
        r"\b(?:Anda|saya|kalian|petugas|galat|berkas|obrolan|dompet|struk|supporter)\b",
        r"\b(?:pesanan|tagihan|kartu)(?:mu|ku|nya)?\b|\b(?:me|di)(?:mesan|pesan)\b",
        r"\btanda terima\b|\bkabar kurs|\balarm harga\b|\bsat\b",
        r"\blayanan\b(?! settlement)(?<!ID layanan)",
        r"(?<!seed )\bphrase\b",
        r"\bfrasa\b(?! anti-phishing| itu ada di setiap invoice)",
        r"Rp |\b\d{1,3},\d{3}\b",
        r"\b(?:pukul|pada) \{(?:at|since|again)\}",
    ),
}
"""Words that are out, and what people say instead: transaksi, invoice, bukti transfer, tim bantuan, wallet, kamu."""

OUT_FOR_CUSTOMERS = {
    "en": (
        r"\bsettlement service\b",
        r"\b(?:operators?|agents?|staff)\b",
        # Nobody knows these: a ticket may wait until the morning. Half of all transfers take longer than the median.
        r"\blooking into it\b|\bin contact with\b|\busually (?:take|reply)\b",
        # Not every bank is in the list. Only a Lightning wallet pays an invoice. Links are Telegram's. No receipt has
        # the anti-phishing phrase. Rupiah aren't on their way while they are being converted.
        r"\bany bank\b|\bany wallet\b|\banyone can pay\b|\babove every receipt\b|\bon (?:its|their) way\b",
    ),
    "id": (
        r"\blayanan settlement\b",
        r"\bkita\b",
        r"\b(?:operator|staf)\b",
        r"\bsudah berhubungan dengan\b|\bbiasanya (?:butuh|membalas)\b|\bBiasanya kami\b",
        r"\b(?:bank|wallet) mana (?:pun|saja)\b|\bdi atas setiap bukti\b",
    ),
}


class _Tags(HTMLParser):
    """Collects the tags of a sentence, and what is wrong with them."""

    def __init__(self, sentence: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found, self.open, self.faults = Counter[str](), list[str](), list[str]()
        self.feed(sentence)
        self.close()
        self.faults += [f"<{tag}> is left open" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[f"{tag} {sorted(name for name, _ in attrs)}"] += 1
        self.open.append(tag)
        if tag not in TELEGRAM_TAGS:
            self.faults.append(f"Telegram has no <{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if "<" in data or ">" in data:
            self.faults.append("a bare < or >")


def _placeholders(form: str) -> set[tuple[str, str | None]]:
    return {(match["name"], match["style"]) for match in PLACEHOLDER.finditer(form)}


def _every_placeholder(message: Message) -> set[tuple[str, str | None]]:
    return set[tuple[str, str | None]]().union(*(_placeholders(form) for form in _forms(message)))


def _filling(message: Message) -> tuple[bool, set[tuple[str, str | None]], Counter[str]]:
    return message.pluralizable, _every_placeholder(message), _Tags(_forms(message)[-1]).found


def _faults(form: str) -> Iterator[str]:
    yield from _Tags(form).faults
    if ENTITY.search(form):
        yield "a bare ampersand"
    if re.search(r"[{}]", PLACEHOLDER.sub("", form)):
        yield "a brace that is no placeholder"
    if unknown := {style for _, style in _placeholders(form)} - STYLES:
        yield f"no style is called {unknown}"
    if form != form.strip():
        yield "spaces around it"


def test_every_language_has_every_sentence() -> None:
    assert {locale: sorted(ENGLISH.keys() ^ sentences.keys()) for locale, sentences in SENTENCES.items()} == {
        locale: [] for locale in LOCALES
    }


@pytest.mark.parametrize("locale", LOCALES)
def test_entries_are_sorted_unique_and_named_as_keys(locale: str) -> None:
    source = (find_catalogue_folder() / locale / "LC_MESSAGES" / "kirim.po").read_text(encoding="utf-8")
    keys = [key for key in re.findall(r'^msgid "(.*)"$', source, re.MULTILINE) if key]
    assert keys == sorted(set(keys))
    assert [key for key in keys if not KEY.fullmatch(key)] == []


@pytest.mark.parametrize("locale", LOCALES)
def test_nothing_is_empty_fuzzy_or_obsolete(locale: str) -> None:
    sentences = SENTENCES[locale]
    assert [key for key, message in sentences.items() if not all(form.strip() for form in _forms(message))] == []
    assert [key for key, message in sentences.items() if message.fuzzy or not _forms(message)] == []
    assert list(CATALOGS[locale].obsolete) == []


def test_each_language_has_as_many_plural_forms_as_it_needs() -> None:
    assert {locale: catalog.num_plurals for locale, catalog in CATALOGS.items()} == {"en": 2, "id": 1}
    for locale, key in EVERY_SENTENCE:
        message = SENTENCES[locale][key]
        expected = CATALOGS[locale].num_plurals if message.pluralizable else 1
        assert len(_forms(message)) == expected, f"{locale} {key}"


def test_a_sentence_has_the_same_placeholders_and_markup_in_every_language() -> None:
    differing = [
        f"{locale} {key}"
        for locale, key in OTHER_SENTENCES
        if _filling(SENTENCES[locale][key]) != _filling(ENGLISH[key])
    ]
    assert differing == []


def test_a_sentence_is_markup_that_telegram_takes() -> None:
    faults = [
        f"{locale} {key}: {fault}"
        for locale, key in EVERY_SENTENCE
        for form in _forms(SENTENCES[locale][key])
        for fault in _faults(form)
    ]
    assert faults == []


def test_every_key_that_the_code_speaks_exists() -> None:
    assert sorted({f"{each.key} at {each.place}" for each in spoken() if each.key not in ENGLISH}) == []


def test_every_sentence_gets_all_that_it_has_to_be_filled_with() -> None:
    short = []
    for each in spoken():
        if each.key in ENGLISH and each.arguments is not None:
            missing = {name for name, _ in _every_placeholder(ENGLISH[each.key])} - each.arguments
            short += [f"{each.key} at {each.place} lacks {name}" for name in sorted(missing)]
    assert short == []


def test_every_sentence_is_spoken_somewhere() -> None:
    named, built = literals(), tuple(beginnings())
    assert [key for key in ENGLISH if key not in named and not key.startswith(built)] == []


@pytest.mark.parametrize("locale", LOCALES)
def test_labels_and_alerts_have_no_markup_for_telegram_shows_them_as_they_are(locale: str) -> None:
    plain = [SENTENCES[locale][key] for key in shown_without_markup() if key in SENTENCES[locale]]
    assert [_key(each) for each in plain if any(re.search(r"[<>&]", form) for form in _forms(each))] == []


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(("key", "longest"), [("home.about.description", 512), ("home.about.short", 120)])
def test_what_telegram_shows_of_the_bot_is_short_enough_and_has_no_markup(key: str, longest: int, locale: str) -> None:
    (form,) = _forms(SENTENCES[locale][key])
    assert len(form.encode("utf-16-le")) // 2 <= longest
    assert not re.search(r"[<>&{}]", form)


@pytest.mark.parametrize(("keys", "locale", "words"), NEVER_SAID)
def test_no_text_about_money_promises_what_nobody_knows(
    keys: tuple[str, ...], locale: str, words: tuple[str, ...]
) -> None:
    forms = [(key, form) for key in keys for form in _forms(SENTENCES[locale][key])]
    assert [(key, word) for key, form in forms for word in words if word in form.lower()] == []


@pytest.mark.parametrize(("keys", "in_english", "in_indonesian"), ALWAYS_SAID)
def test_a_text_about_money_says_what_it_means_and_what_to_do(
    keys: tuple[str, ...], in_english: str, in_indonesian: str
) -> None:
    said = {"en": in_english, "id": in_indonesian}
    assert [
        f"{locale} {key}"
        for key in keys
        for locale, words in said.items()
        if words not in _forms(SENTENCES[locale][key])[0].lower()
    ] == []


@pytest.mark.parametrize("locale", LOCALES)
def test_no_text_has_a_word_that_is_out(locale: str) -> None:
    assert _find_words(locale, WORDS_OUT[locale]) == [], f"WORDS_OUT in {__file__} says which words are out"
    assert [
        (key, word) for key, word in _find_words(locale, OUT_FOR_CUSTOMERS[locale]) if not key.startswith(FOR_STAFF)
    ] == [], (
        f"customers don't know these words. If only staff read a text, add its beginning to FOR_STAFF in {__file__}"
    )


def test_a_text_names_a_button_in_its_words() -> None:
    """A reader looks for the words that they have read. Both languages name the same button."""
    labels = {locale: _labels(locale) for locale in LOCALES}
    wrong = []
    for key in ENGLISH:
        named = [
            [labels[locale].get(name, set()) for name in NAMED_BUTTON.findall(" ".join(_forms(SENTENCES[locale][key])))]
            for locale in LOCALES
        ]
        if len({len(each) for each in named}) > 1 or not all(
            set.intersection(*each) for each in zip(*named, strict=True)
        ):
            wrong.append(key)
    assert wrong == [], "these texts tell to tap words that are on no button, or another button in each language"


def _labels(locale: str) -> dict[str, set[str]]:
    """Return the keys of each text by its words, without the signs around them that a label can have."""
    labels = defaultdict[str, set[str]](set)
    for key, message in SENTENCES[locale].items():
        labels[re.sub(r"^[^\w(]+|…$", "", _forms(message)[0])].add(key)
    return labels


def _find_words(locale: str, patterns: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the keys of the texts that a pattern matches, with the words that it matches."""
    return [
        (key, found[0])
        for key, message in SENTENCES[locale].items()
        for form in _forms(message)
        for pattern in patterns
        if (found := re.search(pattern, _said(form), re.IGNORECASE))
    ]


def _said(form: str) -> str:
    """Return the words of a text, without commands, markup, and the names of placeholders that aren't times."""
    return re.sub(r"<[^>]*>|/[a-z]+\b|\{(?!(?:at|since|again)\})[^}]*\}", "", form)
