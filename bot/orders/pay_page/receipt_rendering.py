"""Render the pages of receipts as HTML: the receipt of an order that was sent, and the check of a code."""

from bot.core.zones import PRESUMED
from bot.infra.i18n import Translator
from bot.orders.page_url import VERIFY_PATH, form_address, receipt_url
from bot.orders.pay_page.rendering import PARAMETER, TEMPLATES, Site, common_values
from bot.orders.receipts.codes import ReceiptLinks, SentOrder, compact_code
from bot.orders.receipts.picture import ReceiptFacts
from bot.orders.receipts.screens import receipt

CODE_PARAMETER = "code"
LONGEST_CODE = 40
"""How many characters the form accepts: a code with spaces around its dashes."""


def build_facts(t: Translator, sent: SentOrder, site: Site) -> ReceiptFacts:
    """Return the texts of a receipt. Nobody knows the reader's time zone, so its times are in WIB, with its name."""
    return receipt.build_facts(t, sent.order, sent.code, PRESUMED, ReceiptLinks(site.bot, site.public_url))


def render_receipt(t: Translator, sent: SentOrder, site: Site) -> str:
    """Return the payment page of an order that was sent: its receipt."""
    values = _receipt_values(t, sent, site)
    return TEMPLATES.get_template("receipt.html").render(
        values, heading=t.plain("orders.pay_page.sent"), text=t.plain("orders.receipt_page.sent_text"), warning=None
    )


def render_genuine(t: Translator, sent: SentOrder, site: Site) -> str:
    """Return the page that says that a receipt is genuine, with its facts for comparison."""
    values = _receipt_values(t, sent, site)
    values["chat"] = _check_in_telegram(t, sent, site)
    return TEMPLATES.get_template("receipt.html").render(
        values,
        heading=t.plain("orders.receipt_page.genuine"),
        text=t.plain("orders.receipt_page.genuine_text", amount=receipt.format_amount(t, sent.order)),
        warning=t.plain("orders.receipt_page.compare", host=form_address(site.public_url).partition("/")[0]),
    )


def render_form(t: Translator, site: Site, *, is_unknown: bool) -> str:
    """Return the page where a code can be entered. `is_unknown`: no receipt has the code that was entered before."""
    key = "unknown" if is_unknown else "ask"
    return TEMPLATES.get_template("verify.html").render(
        common_values(t, site),
        title=t.plain("orders.verify_page.title"),
        state="failed" if is_unknown else "ask",
        heading=t.plain(f"orders.verify_page.{key}"),
        text=t.plain(f"orders.verify_page.{key}_text"),
        label=t.plain("orders.receipt.code"),
        check=t.plain("orders.verify_page.check"),
        name=CODE_PARAMETER,
        longest=LONGEST_CODE,
    )


def _receipt_values(t: Translator, sent: SentOrder, site: Site) -> dict[str, object]:
    """Return what both pages of a receipt show.

    Addresses of its pictures are relative, so that they work on both, and behind any path prefix of a proxy.
    """
    facts, reference = build_facts(t, sent, site), sent.order.reference
    compact = compact_code(sent.code)
    below = f"..{VERIFY_PATH}{compact}"
    return {
        **common_values(t, site),
        "title": t.plain("orders.receipt_page.title", reference=reference),
        "facts": facts,
        "url": receipt_url(site.public_url, compact),
        "qr": f"{below}/qr.png",
        "qr_label": t.plain("orders.receipt_page.qr"),
        "share": t.plain("orders.receipt_page.share"),
        "copy_link": t.plain("orders.receipt_page.copy_link"),
        "copied": t.plain("orders.pay_page.copied"),
        "print": t.plain("orders.receipt_page.print"),
        # A receipt is kept with its recipient. After a deletion it can only be checked.
        "picture": f"{below}/receipt.png?{PARAMETER}={t.locale}" if sent.order.has_recipient else None,
        "picture_name": f"kirim-{reference}.png",
        "save": t.plain("orders.receipt_page.save"),
    }


def _check_in_telegram(t: Translator, sent: SentOrder, site: Site) -> tuple[str, str] | None:
    """Return the label and address of the same check in the chat with the bot, or None if its name isn't known."""
    url = ReceiptLinks(site.bot).to_chat(sent.code)
    return (t.plain("orders.receipt_page.in_telegram"), url) if url else None
