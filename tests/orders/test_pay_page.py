"""What a payment page shows in each status, and that it shows nothing else."""

import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from jinja2 import UndefinedError
from markupsafe import escape

from bot.infra.i18n import LOCALES
from bot.orders.destinations.model import PayoutTimes
from bot.orders.destinations.screens import format_payout_times
from bot.orders.order import Order, OrderStatus, Payer
from bot.orders.pay_page import rendering
from bot.orders.pay_page.rendering import FOLDER, Files, describe_status, shown_status
from bot.orders.screens.payment import get_payment_details
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


def test_no_moment_but_waiting_can_be_paid_and_every_moment_is_said() -> None:
    for _, order in orders_in_each_state():
        waits = shown_status(order, NOW) is OrderStatus.WAITING
        assert waits == order.awaits_payment(NOW)
        for locale in LOCALES:
            page = page_of(order, locale)
            assert (INVOICE in page) == waits
            assert ("qr.png" in page) == waits
            assert ("lightning:" in page) == waits


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


def test_templates_escape_every_value_and_refuse_unknown_names() -> None:
    source = '<p title="{{ given }}"{{ {"lang": given, "id": none} | xmlattr }}>{{ given }}</p>'
    template, given = rendering.TEMPLATES.from_string(source), "&lt;b c=&#34;&#39;&amp;"
    assert template.render(given="<b c=\"'&") == f'<p title="{given}" lang="{given}">{given}</p>'
    with pytest.raises(UndefinedError):
        template.render()
    for path in (FOLDER.parent / "templates").iterdir():
        markup = path.read_text(encoding="utf-8")
        assert not re.search(r"\bsafe\b|autoescape|<style|\sstyle=|\son\w+=", markup), path.name


SCRIPT, STYLE = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.js", "page.css"))


def test_the_script_takes_no_text_for_markup_and_nothing_is_loaded_from_elsewhere() -> None:
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser", ".style"):
        assert word not in SCRIPT
    for source in (SCRIPT, STYLE):
        assert re.findall(r"(?:https?:)?//[\w-]+\.[\w.-]+|@import|url\(|data:image", source) == []


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
