"""How much: in rupiah, thousands, millions, sats or bitcoin; what could mean two things is asked back."""

from dataclasses import replace

from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.screens import limit_warning as too_many
from bot.checkout.screens.formatting import format_amount, format_recipient_line
from bot.checkout.screens.parts import leave_row
from bot.core.errors import Rejection
from bot.core.money import Ambiguous, Amount, parse_amount
from bot.infra.i18n import Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.infra.telegram.ui.session import Session
from bot.settlement.model import SettlementFailure

COLUMNS = 2
COMMON = (50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000)


def screen(t: Translator, draft: OrderDraft, minimum: int) -> Screen:
    """The question; common sums are one tap."""
    cap = draft.method.cap if draft.method else None
    sums = [Amount("IDR", idr) for idr in COMMON if idr >= minimum and (cap is None or idr <= cap)]
    text = t("amount.ask", recipient=format_recipient_line(t, draft))
    return Screen(text, (*_choices(t, draft, sums, COLUMNS), leave_row(t, draft)))


def readings(t: Translator, draft: OrderDraft, text: str, ambiguous: Ambiguous) -> Screen:
    """What was typed can be read in more than one way, or may be no sum at all: each reading is a button."""
    choices = _choices(t, draft, list(ambiguous.readings), COLUMNS)
    if len(ambiguous.readings) == 1:
        asked = t("amount.is_it", text=quote_input(text), amount=format_amount(t, ambiguous.readings[0]))
    else:
        asked = t("amount.which", text=quote_input(text))
    return Screen(asked, (*choices, leave_row(t, draft)))


async def show(session: Session, draft: OrderDraft) -> Screen:
    """The question."""
    return screen(session.t, draft, session.desk.orders.rules.min_order_idr)


async def take_typed(session: Session, draft: OrderDraft, text: str) -> OrderDraft | Screen:
    """Take the typed amount, or ask which reading of it is meant."""
    wanted = parse_amount(text)
    if isinstance(wanted, Ambiguous):
        return readings(session.t, draft, text, wanted)
    return await _with(session, draft, wanted)


async def choose(session: Session, draft: OrderDraft, argument: str) -> OrderDraft:
    """Take the amount of a button."""
    currency, _, value = argument.partition("/")
    if currency not in {"IDR", "SAT"} or not value.isdigit():
        raise Rejection("stale.button")
    return await _with(session, draft, Amount("SAT" if currency == "SAT" else "IDR", int(value)))


async def _with(session: Session, draft: OrderDraft, wanted: Amount) -> OrderDraft:
    """The draft with this amount; refused outside the limits, with the number that would be fine."""
    draft = replace(draft, amount=wanted)
    try:
        await session.desk.orders.estimate_order(draft.person_id, draft.method, wanted)
    except SettlementFailure:
        pass  # the answer is kept all the same: the review checks the sum again
    except Rejection as rejection:
        if not too_many.is_one(rejection):
            raise
    return replace(draft, ask=missing(draft))


def _choices(t: Translator, draft: OrderDraft, sums: list[Amount], columns: int) -> Keyboard:
    buttons = [Button(format_amount(t, a), data=data.for_draft(draft, "sum", f"{a.currency}/{a.value}")) for a in sums]
    return tuple(tuple(buttons[i : i + columns]) for i in range(0, len(buttons), columns))
