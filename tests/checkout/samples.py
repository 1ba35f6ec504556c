"""Values of drafts and of the questions about them, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final

from bot.checkout import screens
from bot.checkout.draft import OrderDraft, RequestTerms, Step
from bot.checkout.steps import amount, recipient, review
from bot.core.errors import Remark
from bot.core.money import Amount
from bot.core.text import plain
from bot.infra.i18n import Html
from bot.infra.telegram.ui.screen import Screen
from bot.payments.tokens import CODES
from bot.rates.model import Estimate, estimate
from bot.recipients.holders import MAX_HOLDER_LENGTH
from bot.settlement.model import Quote
from tests.checkout.builders import a_draft_at_review
from tests.orders.builders import an_open_order
from tests.orders.known_destinations import what_senders_are_told
from tests.screens import NOW, Outside, ScreenCase
from tests.settlement.builders import QUOTE

LONG_NUMBER: Final = "1234 5678 9012 3456 7890"
"""The longest account number, as the review shows it."""


def some_reviewed(outside: Outside) -> Iterator[OrderDraft]:
    """Yield complete drafts: in each currency, over Lightning and with a token."""
    draft = a_draft_at_review(outside.method)
    for wish in (Amount("IDR", 500_000), Amount("SAT", 25_000)):
        for code in ("lightning", "cbbtc"):
            yield replace(draft, amount=wish, channel=code)
    yield replace(draft, holder=outside.typed[:MAX_HOLDER_LENGTH])


def some_drafts(outside: Outside) -> Iterator[OrderDraft]:
    """Yield drafts with all, some and no answers."""
    yield from some_reviewed(outside)
    fresh = replace(
        a_draft_at_review(outside.method), step=Step.DESTINATION, method=None, number=None, holder=None, amount=None
    )
    yield fresh
    yield replace(fresh, method=outside.method)
    yield replace(fresh, amount=Amount("SAT", 1))
    yield replace(fresh, step=Step.AMOUNT)


def some_choices(_: Outside) -> Iterator[Mapping[Amount, Estimate | None]]:
    """Yield the usual amounts with and without prices, and the readings of an ambiguous amount."""
    common = [Amount("IDR", idr) for idr in amount.COMMON]
    yield {each: estimate(each, QUOTE) for each in common}
    yield dict.fromkeys(common)
    several = (Amount("IDR", 1_500), Amount("IDR", 1_500_000), Amount("SAT", 10**15))
    yield {each: estimate(each, QUOTE) for each in several}
    yield {several[1]: estimate(several[1], QUOTE)}
    yield {several[1]: None}


def some_prices(outside: Outside) -> Iterator[Html | None]:
    """Yield the lines with a price above the first questions."""
    for choices in some_choices(outside):
        yield amount.show_price(outside.t, a_draft_at_review(outside.method), choices)


SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    OrderDraft: some_drafts,
    amount.Choices: some_choices,
    (recipient.ask_destination, "price"): some_prices,
    (review.show_review, "ways"): lambda _: (CODES,),
    (review.show_review, "run_by"): lambda outside: ("", plain(outside.typed)[:100]),
    (recipient.show_doubt, "number"): lambda _: ("1" * 20,),
    Remark: lambda outside: (
        Remark("recipients.number.unusual_length", {"method": outside.method.name[:60], "expected": 10, "actual": 20}),
    ),
    # The review and its changes are shown of complete drafts, and its time comes from the screens of destinations.
    (review.show_review, "draft"): some_reviewed,
    (review.show_changes, "draft"): lambda outside: (
        *some_reviewed(outside),
        a_draft_at_review(outside.method, terms=RequestTerms(is_reusable=True)),
    ),
    (review.show_review, "time_needed"): lambda outside: (None, *what_senders_are_told(outside.t, outside.method)),
    # Nothing is lost of a draft without answers, so nobody is asked.
    (screens.unfinished, "draft"): lambda outside: (
        draft for draft in some_drafts(outside) if draft.method or draft.amount
    ),
    # The number is asked when its bank is known, so it's doubted only then.
    (recipient.show_doubt, "draft"): some_reviewed,
    # The holder is asked when the number is known.
    (recipient.ask_holder, "draft"): some_reviewed,
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    (review.show_review, "draft"): lambda *_: (LONG_NUMBER,),
    (review.show_review, "phrase"): lambda phrase, _: (phrase,) if phrase else (),
    (recipient.show_doubt, "number"): lambda text, _: (text,),
    (recipient.ask_holder, "draft"): lambda draft, _: (draft.number,),
}


def more_screens(outside: Outside) -> Iterator[ScreenCase]:
    """Yield the remark about a new price, which is part of another message."""
    t, method = outside.t, outside.method
    for before in (an_open_order(method), an_open_order(method, requested_amount=Amount("SAT", 29_412))):
        for rupiah in (1_600_000_000, 1_700_000_000, 1_800_000_000):
            said = screens.difference(t, before, estimate(before.requested_amount, Quote(Decimal(rupiah), NOW)))
            yield ScreenCase("requote", Screen(said))
