"""What a payment page shows in each status, and that it shows nothing else."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import escape

import bot
from bot.infra.i18n import LOCALES
from bot.orders.destinations.model import PayoutTimes
from bot.orders.destinations.screens import format_payout_times
from bot.orders.order import Order, OrderStatus, Payer, Phase, new_page_token
from bot.orders.pay_page import rendering
from bot.orders.pay_page.rendering import FOLDER, SHOWN, Files, describe_status, shown_status
from bot.orders.screens.payment import TOKEN, get_payment_details, page_row, page_url
from bot.payments.errors import DepositCheckError
from bot.payments.tokens import TOKENS
from bot.settlement.model import PayoutMethod
from bot.users.model import UNNAMED, Provider
from tests.orders.builders import DEPOSIT_ADDRESS, INVOICE, a_deposit_order, an_open_order, orders_in_each_state
from tests.orders.known_destinations import a_destination
from tests.screens import HOSTILE_NAMES, NOW
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS, label

SECRET = "abcdefghijklmnopqrstuvwxyz_-0123"
FILES = Files()
STATES = {
    "intended": OrderStatus.CLOSED,
    "unknown": OrderStatus.CLOSED,
    "unresolved": OrderStatus.CLOSED,
    "refused": OrderStatus.CLOSED,
    "abandoned": OrderStatus.CLOSED,
    "held": OrderStatus.CLOSED,
    "offer over": OrderStatus.CLOSED,
    "IDLE": OrderStatus.WAITING,
    "QR_SCANNED": OrderStatus.WAITING,
    "never heard of": OrderStatus.WAITING,
    "LN_INVOICE_PAID": OrderStatus.PAID,
    "LN_SWAP_PENDING": OrderStatus.CONVERTING,
    "USDC_SWAPPED": OrderStatus.CONVERTING,
    "P2PM_ORDER_PLACED": OrderStatus.SENDING,
    "IDR_SETTLED": OrderStatus.SENDING,
    "COMPLETED": OrderStatus.SENT,
    "expired": OrderStatus.EXPIRED,
    "failed unpaid": OrderStatus.FAILED_UNPAID,
    "failed expired": OrderStatus.EXPIRED,
    "failed paid": OrderStatus.FAILED_PAID,
    "failed paid between two looks": OrderStatus.FAILED_PAID,
    "failed unknown": OrderStatus.FAILED_UNKNOWN,
}


class ReadPage(HTMLParser):
    """A page as a browser without JavaScript shows it."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(order: Order, locale: str = "en", run_by: Provider = UNNAMED, times: PayoutTimes | None = None) -> str:
    t = TRANSLATIONS.get(locale)
    order = replace(order, page_token=SECRET)
    state = shown_status(order, NOW)
    offered = get_payment_details(order) if state is OrderStatus.WAITING else None
    return rendering.render_payment(
        t, rendering.ShownPayment(order, describe_status(t, state), offered, NOW, times), rendering.Site(FILES, run_by)
    )


@pytest.mark.parametrize(("moment", "state"), STATES.items())
def test_each_moment_of_an_order_has_its_state(moment: str, state: OrderStatus) -> None:
    assert shown_status(dict(orders_in_each_state())[moment], NOW) is state


def test_no_moment_but_waiting_can_be_paid_and_every_moment_is_said() -> None:
    for _, order in orders_in_each_state():
        waits = shown_status(order, NOW) is OrderStatus.WAITING
        assert waits == order.awaits_payment(NOW)
        for locale in LOCALES:
            page = page_of(order, locale)
            assert (INVOICE in page) == waits
            assert ("qr.png" in page) == waits
            assert ("lightning:" in page) == waits


def test_the_invoice_goes_at_the_very_second_of_its_expiry() -> None:
    order = an_open_order(expires_at=NOW + timedelta(microseconds=1))
    assert shown_status(order, NOW) is OrderStatus.WAITING
    assert shown_status(replace(order, expires_at=NOW), NOW) is OrderStatus.EXPIRED


def test_a_payment_after_the_expiry_is_shown() -> None:
    late = an_open_order(expires_at=NOW, expiry_notified=True, paid_at=NOW, state="LN_INVOICE_PAID")
    assert shown_status(late, NOW) is OrderStatus.PAID


def test_an_order_that_nobody_watches_any_more_is_not_to_be_paid() -> None:
    assert shown_status(replace(a_deposit_order("cbbtc"), phase=Phase.DONE), NOW) is OrderStatus.CLOSED


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("state", sorted(SHOWN))
def test_every_state_has_its_words_and_they_name_no_order(locale: str, state: OrderStatus) -> None:
    told = describe_status(TRANSLATIONS.get(locale), state)
    assert told.heading
    assert told.text
    assert json.loads(told.body)["state"] == state
    assert not re.search(r"[0-9<>&{}]", told.heading + told.text)


def test_an_etag_stands_for_one_state_in_one_language() -> None:
    every = [describe_status(TRANSLATIONS.get(locale), state) for locale in LOCALES for state in SHOWN]
    assert len({told.etag for told in every}) == len(every)
    assert all(re.fullmatch(r'"[0-9a-f]{16}"', told.etag) for told in every)


def test_the_steps_go_forward_one_by_one() -> None:
    ways = {state: [s.progress for s in describe_status(TRANSLATIONS.get("en"), state).steps] for state in SHOWN}
    assert ways[OrderStatus.WAITING] == ["now", "next", "next", "next"]
    assert ways[OrderStatus.PAID] == ways[OrderStatus.CONVERTING] == ["done", "now", "next", "next"]
    assert ways[OrderStatus.SENDING] == ["done", "done", "now", "next"]
    assert ways[OrderStatus.SENT] == ["done"] * 4
    assert ways[OrderStatus.EXPIRED] == ways[OrderStatus.FAILED_PAID] == ways[OrderStatus.CLOSED] == []


def test_a_page_stops_looking_when_there_is_nothing_to_come() -> None:
    ended = {state for state in SHOWN if describe_status(TRANSLATIONS.get("en"), state).again is None}
    assert ended == {
        OrderStatus.SENT,
        OrderStatus.FAILED_PAID,
        OrderStatus.FAILED_UNKNOWN,
        OrderStatus.FAILED_UNPAID,
        OrderStatus.CLOSED,
    }


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_user_recipient_or_reference_stands_on_a_page(name: str) -> None:
    method = replace(LISTED_BCA, name=name, code=name)
    for moment, order in orders_in_each_state(method):
        secret = replace(order, holder=f"HOLDER {name}", number="1234567890", refusal=name)
        for locale in LOCALES:
            page = page_of(secret, locale)
            assert page == page_of(replace(secret, method=LISTED_BCA, holder=None, number="", payer=Payer()), locale)
            for private in ("ABC2345", "1234567890", "HOLDER", "1001", "0123456789", "cm1"):
                assert private not in page.replace(SECRET, "").replace(INVOICE, ""), moment


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "\"' onload=alert(1) x='", "</code><img src=x>", "&lt;b&gt;"]
)
def test_what_comes_from_outside_stays_text(hostile: str) -> None:
    seen = ReadPage(page_of(an_open_order(bolt11=hostile)))
    assert hostile in seen.text
    assert [tag for tag in seen.all("a") if tag.get("href") == f"lightning:{hostile}"] != []
    assert len(seen.all("script")) == 1
    assert not [name for _, attributes in seen.tags for name in attributes if name.startswith("on")]
    assert len(seen.all("img")) == 2


@pytest.mark.parametrize("locale", LOCALES)
def test_a_page_works_without_scripts(locale: str) -> None:
    source = page_of(an_open_order(), locale)
    seen = ReadPage(source)
    assert re.search(r"<noscript><meta http-equiv=\"refresh\" content=\"20\"></noscript>", source)
    assert seen.all("html") == [{"lang": locale}]
    assert {"29,412 sats", "29.412 sats"} & set(re.findall(r"29[.,]412 sats?", seen.text))
    assert re.search(r"Rp500[.,]000", seen.text)
    assert INVOICE in seen.text
    assert all("hidden" in button for button in seen.all("button"))
    assert not re.search(r"<style|\sstyle=|javascript:", source)


def test_without_scripts_a_page_looks_again_as_soon_as_its_invoice_expires() -> None:
    source = page_of(an_open_order(expires_at=NOW + timedelta(seconds=7.5)))
    assert 'content="8"' in source


@pytest.mark.parametrize("channel", TOKENS)
@pytest.mark.parametrize("locale", LOCALES)
def test_a_deposit_is_shown_as_a_transfer_and_as_its_parts(channel: str, locale: str) -> None:
    order = a_deposit_order(channel)
    seen = ReadPage(page_of(order, locale))
    offered = get_payment_details(order)
    assert offered.transfer is not None
    for part in ("0.00029412", DEPOSIT_ADDRESS, offered.transfer.token.contract, offered.transfer.token.symbol):
        assert part in seen.text
    assert str(offered.transfer.token.chain.id) in seen.text
    assert [link["href"] for link in seen.all("a") if link.get("class")] == [offered.transfer.uri]
    assert not seen.all("progress"), "it has no expiry"


def test_what_names_another_token_is_no_transfer() -> None:
    order = a_deposit_order("cbbtc")
    assert order.deposit is not None
    with pytest.raises(DepositCheckError):
        get_payment_details(replace(order, deposit=replace(order.deposit, token_address=DEPOSIT_ADDRESS)))
    with pytest.raises(ValueError, match="can't be paid"):
        get_payment_details(replace(order, deposit=None))


@pytest.mark.parametrize("locale", LOCALES)
def test_the_button_leads_to_the_page_in_the_readers_language(locale: str) -> None:
    order = an_open_order(page_token=SECRET)
    ((button,),) = page_row(TRANSLATIONS.get(locale), order, "https://pay.example/kirim")
    assert button.url == f"https://pay.example/kirim/p/{SECRET}?l={locale}"


def test_there_is_no_button_without_a_public_address_or_a_page() -> None:
    t = TRANSLATIONS.get("en")
    assert page_row(t, an_open_order(page_token=SECRET), "") == ()
    assert page_row(t, an_open_order(), "https://pay.example") == ()
    assert page_url("", an_open_order(page_token=SECRET), "en") is None


def test_tokens_have_the_shape_that_is_looked_up() -> None:
    tokens = {new_page_token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert all(TOKEN.fullmatch(token) for token in tokens)


def test_templates_escape_every_value_and_refuse_unknown_names() -> None:
    source = '<p title="{{ given }}"{{ {"lang": given, "id": none} | xmlattr }}>{{ given }}</p>'
    template, given = rendering.TEMPLATES.from_string(source), "&lt;b c=&#34;&#39;&amp;"
    assert template.render(given="<b c=\"'&") == f'<p title="{given}" lang="{given}">{given}</p>'
    with pytest.raises(UndefinedError):
        template.render()
    for path in (FOLDER.parent / "templates").iterdir():
        markup = path.read_text(encoding="utf-8")
        assert not re.search(r"\bsafe\b|autoescape|<style|\sstyle=|\son\w+=", markup), path.name


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(("channel", "sources"), [("lightning", ["invoice"]), ("cbbtc", ["address", "amount"])])
def test_each_button_says_what_it_copies(channel: str, sources: list[str], locale: str) -> None:
    page = page_of(an_open_order() if channel == "lightning" else a_deposit_order(channel), locale)
    labels = [
        label("orders.pay_page.copy_invoice" if each == "invoice" else f"orders.pay.copy_{each}", locale)
        for each in sources
    ]
    assert re.findall(r"<button [^>]*>(.*?)</button>", page) == [escape(each) for each in labels]
    buttons = ReadPage(page).all("button")
    assert [button["data-copies"] for button in buttons] == sources
    assert {button["data-done"] for button in buttons} == {label("orders.pay_page.copied", locale)}


def test_the_text_of_an_invoice_is_folded_away_below_its_qr_code() -> None:
    page = page_of(an_open_order(), "en")
    folded = re.search(
        r"<details>\s*<summary>Invoice as text</summary>\s*<code id=\"invoice\".*?</details>", page, re.DOTALL
    )
    assert folded is not None
    assert page.index('class="qr"') < folded.start()
    assert "<details>" not in page_of(a_deposit_order("cbbtc"), "en")


SCRIPT, STYLE = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.js", "page.css"))


def test_the_script_takes_no_text_for_markup_and_nothing_is_loaded_from_elsewhere() -> None:
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser", ".style"):
        assert word not in SCRIPT
    for source in (SCRIPT, STYLE):
        assert re.findall(r"(?:https?:)?//[\w-]+\.[\w.-]+|@import|url\(|data:image", source) == []


def test_the_script_finds_every_part_that_it_looks_for() -> None:
    page = page_of(an_open_order()) + page_of(a_deposit_order("cbbtc"))
    for part in re.findall(r'part\("(\w+)"\)', SCRIPT):
        assert f' id="{part}"' in page, part
    for name in ("look", "expired", "expired-text", "expires", "again", "now", "state"):
        assert f" data-{name}=" in page


def test_its_colours_are_the_chat_pages_whose_contrast_is_tested() -> None:
    chat = (Path(bot.__file__).parent / "sandbox" / "static" / "base.css").read_text(encoding="utf-8")
    there = {n: (light, dark) for n, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", chat)}
    light, _, dark = STYLE.partition("prefers-color-scheme: dark")
    here = [dict(re.findall(r"--([\w-]+): (#\w+)", part)) for part in (light, dark)]
    assert here[0].keys() == here[1].keys()
    own = {"line-2"}
    assert {name: (here[0][name], here[1][name]) for name in here[0].keys() - own} == {
        name: there[name] for name in here[0].keys() - own
    }


@pytest.mark.parametrize("locale", LOCALES)
def test_the_foot_names_who_runs_the_bot_and_links_the_terms(locale: str) -> None:
    run_by = Provider(
        name="<b>Kirim</b> & Co", terms_url="https://kirim.example/terms?a=1&b", privacy_url="https://kirim.example/p"
    )
    foot = page_of(an_open_order(), locale, run_by).rpartition("<footer>")[2].partition("</footer>")[0]
    named = f"<span>{escape(label('users.provider.name', locale, name=run_by.name))}</span>"
    terms = '<a href="https://kirim.example/terms?a=1&amp;b" rel="noopener noreferrer">'
    privacy = '<a href="https://kirim.example/p" rel="noopener noreferrer">'
    labels = (label("users.provider.terms", locale), label("users.provider.privacy", locale))
    assert foot == f"{named}{terms}{labels[0]}</a>{privacy}{labels[1]}</a>"


@pytest.mark.parametrize(
    ("run_by", "tags"),
    [
        (UNNAMED, []),
        (Provider(name="Kirim"), ["span"]),
        (Provider(terms_url="https://kirim.example"), ["a"]),
        (Provider(privacy_url="https://kirim.example"), ["a"]),
    ],
)
def test_what_is_not_set_leaves_no_gap_at_the_foot(run_by: Provider, tags: list[str]) -> None:
    shown = page_of(an_open_order(), run_by=run_by)
    assert re.findall(r"<(\w+)", shown.partition("<footer>")[2]) == tags
    assert ("<footer>" in shown) is bool(tags)


@pytest.mark.parametrize("locale", LOCALES)
def test_a_page_that_can_be_paid_advises_who_pays_for_somebody_else(locale: str) -> None:
    hints = [label(key, locale) for key in ("orders.pay_page.safe", "orders.pay_page.for_payer")]
    shown = page_of(an_open_order(), locale)
    assert re.findall(r'<p class="hint">(.*?)</p>', shown) == [escape(hint) for hint in hints]
    assert label("orders.pay_page.for_payer", locale) not in page_of(replace(an_open_order(), expires_at=NOW), locale)


@pytest.mark.parametrize("locale", LOCALES)
def test_a_page_that_can_be_paid_says_how_long_transfers_took(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    times = PayoutTimes(orders=20, median=timedelta(minutes=3), slow=timedelta(minutes=11))
    assert escape(format_payout_times(t, times)) in page_of(an_open_order(), locale, times=times)
    assert len(re.findall('class="hint"', page_of(an_open_order(), locale, times=times))) == 3


@pytest.mark.parametrize("locale", LOCALES)
def test_a_page_says_how_its_own_destination_does_if_that_is_known(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    times = PayoutTimes(orders=20, median=timedelta(minutes=3), slow=timedelta(minutes=11))
    order = replace(an_open_order(PayoutMethod("999", "BANK A & B", "bank")), page_token=SECRET)
    known = a_destination(order.method)
    unknown = replace(known, usual=replace(known.usual, times=None))
    said = label("orders.destinations.usual", locale, name="BANK A & B", length=t.within(timedelta(minutes=4)))
    for destination, expected in ((known, said), (unknown, format_payout_times(t, times))):
        details, status = get_payment_details(order), describe_status(t, OrderStatus.WAITING)
        shown = rendering.ShownPayment(order, status, details, NOW, times, destination)
        page = rendering.render_payment(t, shown, rendering.Site(FILES, UNNAMED))
        hints = re.findall(r'<p class="hint">(.*?)</p>', page)
        assert hints[-1] == escape(expected)
        assert len(hints) == 3
