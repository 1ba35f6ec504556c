"""The questions about who gets the rupiah: the destination, the number there, and the holder's name.

The destination is a saved recipient, a typed name, or an entry of the live list. Numbers are cleaned, and unusual ones
are asked about. The name is never required.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from bot.checkout.answers import (
    confirm_number,
    find_rejection,
    take_destination,
    waiting_number,
    with_known_holder,
    with_recipient,
)
from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.open_draft import DOUBT, get_recipients, get_user_orders
from bot.checkout.screens import format_recipient_line, leave_row, text_key
from bot.checkout.steps import TakeAnswer
from bot.checkout.steps.amount import EXAMPLE, estimate_choices, show_price
from bot.core.errors import Rejection, Remark
from bot.core.money import Amount, AmountRejected, ForeignCurrency, parse_amount
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, in_rows
from bot.orders.placement.service import OrderService
from bot.recipients.formatting import format_full_method, format_method, format_recipient
from bot.recipients.holders import read_holder
from bot.recipients.model import SavedRecipient, find_by_beginning, find_by_name
from bot.recipients.numbers import clean_number
from bot.recipients.screens import page_row
from bot.recipients.search import SearchResult, search
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import NotUnderstood, SettlementFailure
from bot.settlement.model import BANK, EWALLET, PayoutMethod, find_by_pair
from bot.users.session import Session

PAGE = 8
RECENTS = 5

MIN_LETTERS = 3
"""A shorter beginning fits too many names by chance."""


class DestinationStep:
    """Ask for the destination."""

    def __init__(self, *, catalogue: ServiceCatalogue, orders: OrderService) -> None:
        self._catalogue = catalogue
        self._orders = orders

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {
            DraftAction.PAGE: self._turn_page,
            DraftAction.RECIPIENT: self._take_saved,
            DraftAction.DESTINATION: self._pick,
        }

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the first page of the list, below the saved recipients, with the price of the amount or an example."""
        methods = await list_methods(self._catalogue)
        price = await self._show_price(session, draft) if draft.terms is None else None
        tab = tab_of(methods, EWALLET) if _is_mobile(draft.doubtful_number) else 0
        return ask_destination(session.t, draft, methods, tab, recents=await get_recipients(session), price=price)

    async def _show_price(self, session: Session, draft: OrderDraft) -> Html | None:
        """Return the line with the price of the amount, or of an example."""
        user_orders, amount = await get_user_orders(session), draft.amount or Amount("IDR", EXAMPLE)
        return show_price(session.t, draft, await estimate_choices(self._orders, user_orders, draft, (amount,)))

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft | Screen:
        """Look for the typed name among the user's saved recipients and in the live list."""
        methods, known = await list_methods(self._catalogue), await get_recipients(session)
        result = search(text, methods)
        people = find_by_name(known, text) or find_by_beginning(known, text)
        if _is_clear(people, text, result):
            return _take_recipient(draft, people[0], methods)
        if people:
            return show_candidates(session.t, draft, text, _found(result), people)
        if result.hit is not None:
            return _take_method(session, draft, result.hit, known)
        if result.candidates:
            return show_candidates(session.t, draft, text, result.candidates)
        raise Rejection("checkout.destination.unknown", query=quote_input(text))

    async def _turn_page(self, session: Session, draft: OrderDraft, argument: str) -> Screen:
        """Show another page of the list, or another kind of destination."""
        tab, _, page = argument.partition("/")
        methods, known = await list_methods(self._catalogue), await get_recipients(session)
        return ask_destination(session.t, draft, methods, _whole(tab), _whole(page), recents=known)

    async def _take_saved(self, session: Session, draft: OrderDraft, recipient_id: str) -> OrderDraft:
        """Take a saved recipient, with destination, number and holder."""
        recipient = next((each for each in await get_recipients(session) if each.id == recipient_id), None)
        if recipient is None:
            raise Rejection("recipients.gone")
        return _take_recipient(draft, recipient, await list_methods(self._catalogue))

    async def _pick(self, session: Session, draft: OrderDraft, key: str) -> OrderDraft:
        """Take a destination of the live list."""
        method = next((method for method in await list_methods(self._catalogue) if method.key() == key), None)
        if method is None:
            raise Rejection("checkout.destination.gone")
        return _take_method(session, draft, method, await get_recipients(session))


async def list_methods(catalogue: ServiceCatalogue) -> Sequence[PayoutMethod]:
    """Return the live list. An empty list may be a passing failure, so the service is asked again."""
    return await catalogue.methods() or await catalogue.methods(fresh=True)


async def find_method(catalogue: ServiceCatalogue, known: PayoutMethod) -> PayoutMethod | None:
    """Return a destination of before as the list has it, or as it was if the list can't be read.

    Placing the order checks it again.
    """
    try:
        methods = await catalogue.methods()
    except SettlementFailure:
        methods = ()
    return find_by_pair(methods, known.pair) if methods else known


def _is_mobile(number: str | None) -> bool:
    """Return whether a number waits in the form of a mobile number, which no bank accepts."""
    return number is not None and number.startswith("+")


def _take_recipient(draft: OrderDraft, recipient: SavedRecipient, methods: Sequence[PayoutMethod]) -> OrderDraft:
    """Return the draft for a saved recipient. The list may no longer have their destination."""
    if not methods:  # an empty list says nothing about this destination
        raise NotUnderstood("the list is empty")
    method = find_by_pair(methods, recipient.method.pair)
    if method is None:
        raise Rejection("checkout.recipient.vanished", name=format_method(recipient.method))
    return with_recipient(draft, recipient, method)


def _take_method(
    session: Session, draft: OrderDraft, method: PayoutMethod, known: Sequence[SavedRecipient]
) -> OrderDraft:
    """Return the draft with this destination. Take a number that waited for it, or report why it can't be used."""
    refused = find_rejection(draft, method)
    if refused is not None:
        session.notice = session.t.translate(refused)
    return with_known_holder(take_destination(draft, method), known)


def _is_clear(people: Sequence[SavedRecipient], typed: str, result: SearchResult) -> bool:
    """Return whether a saved recipient is meant, and certainly no bank.

    A recipient's whole name may resemble a bank's name, but not be equal to it.
    """
    if len(people) != 1 or result.hit is not None:
        return False
    return bool(find_by_name(people, typed)) or (len(typed.strip()) >= MIN_LETTERS and not result.candidates)


def _found(result: SearchResult) -> Sequence[PayoutMethod]:
    return result.candidates if result.hit is None else (result.hit,)


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def ask_destination(
    t: Translator,
    draft: OrderDraft,
    methods: Sequence[PayoutMethod],
    tab: int = 0,
    page: int = 0,
    *,
    recents: Sequence[SavedRecipient] = (),
    price: Html | None = None,
) -> Screen:
    """Return the question, with one page of the banks, or of another kind (`tab`).

    Saved recipients come first, unless the user has turned pages. `price` is the line with the price of an amount.
    """
    if not methods:
        return Screen(t("checkout.destination.none"), (_again_row(t, draft), leave_row(t, draft)))
    kinds = _kinds(methods)
    tab = min(tab, len(kinds) - 1)
    here = [method for method in methods if _kind_of(method) == kinds[tab]]
    pages = -(-len(here) // PAGE)
    page = min(page, pages - 1)
    shown = here[page * PAGE : (page + 1) * PAGE]
    first = _saved(draft, recents[:RECENTS]) if tab == page == 0 else ()
    rows = (
        *first,
        *_tabs(t, draft, kinds, tab),
        *_choices(draft, shown),
        *page_row(t, page, pages, lambda to: draft_data(draft, DraftAction.PAGE, f"{tab}/{to}")),
    )
    key = "checkout.destination.ask_again" if first else "checkout.destination.ask"
    return Screen("\n\n".join(filter(None, (t(text_key(draft, key)), price))), (*rows, leave_row(t, draft)))


def show_candidates(
    t: Translator,
    draft: OrderDraft,
    query: str,
    found: Sequence[PayoutMethod],
    saved: Sequence[SavedRecipient] = (),
) -> Screen:
    """Return the question which entry or recipient `query` means, each a button. `query` is empty for a line."""
    asked = t("checkout.destination.several", query=quote_input(query)) if query else t("checkout.destination.which")
    if len(found) == 1 and not saved:
        asked = t("checkout.destination.is_it", name=format_method(found[0]))
    return Screen(
        asked,
        (
            *_saved(draft, saved[:RECENTS]),
            *_choices(draft, found),
            (Button(t.plain("checkout.destination.all"), data=draft_data(draft, DraftAction.SHOW)),),
            leave_row(t, draft),
        ),
    )


def _choices(draft: OrderDraft, methods: Sequence[PayoutMethod]) -> Keyboard:
    buttons = [Button(format_method(m), data=draft_data(draft, DraftAction.DESTINATION, m.key())) for m in methods]
    return in_rows(buttons)


def _saved(draft: OrderDraft, recipients: Sequence[SavedRecipient]) -> Keyboard:
    return tuple(
        (Button(format_recipient(each), data=draft_data(draft, DraftAction.RECIPIENT, each.id)),) for each in recipients
    )


def tab_of(methods: Sequence[PayoutMethod], kind: str) -> int:
    """Return the place of the list's tab with this kind of destination. It is the first if there is none."""
    kinds = _kinds(methods)
    return kinds.index(kind) if kind in kinds else 0


def _kinds(methods: Sequence[PayoutMethod]) -> list[str]:
    """Return the kinds of destination in the list. All unknown ones are one kind."""
    return list(dict.fromkeys(map(_kind_of, methods)))


def _kind_of(method: PayoutMethod) -> str:
    return method.kind if method.kind in {BANK, EWALLET} else "other"


def _tabs(t: Translator, draft: OrderDraft, kinds: Sequence[str], chosen: int) -> Keyboard:
    if len(kinds) == 1:
        return ()
    row = [
        Button(
            ("● " if tab == chosen else "") + t.plain(f"checkout.destination.kind.{kind}"),
            data=draft_data(draft, DraftAction.PAGE, f"{tab}/0"),
        )
        for tab, kind in enumerate(kinds)
    ]
    return (tuple(row),)


def _again_row(t: Translator, draft: OrderDraft) -> tuple[Button, ...]:
    return (Button(t.plain("orders.button.try_again"), data=draft_data(draft, DraftAction.SHOW)),)


class NumberStep:
    """Ask for the number."""

    def __init__(self, *, catalogue: ServiceCatalogue) -> None:
        self._catalogue = catalogue

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.NUMBER: self._use_anyway}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question, or the question about an unusual number from a line."""
        if draft.method is None:
            raise Rejection("checkout.destination.gone")
        waiting = waiting_number(draft)
        if waiting is not None and waiting.remark is not None:
            return show_doubt(session.t, draft, waiting.number, waiting.remark)
        return ask_number(session.t, draft, draft.method)

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft | Screen:
        """Take the typed number, or ask about an unusual one. The name of another bank or e-wallet replaces it."""
        if draft.method is None:
            raise Rejection("checkout.destination.gone")
        try:
            cleaned = clean_number(draft.method, text)
        except Rejection:
            with suppress(SettlementFailure):
                if (other := search(text, await list_methods(self._catalogue)).hit) is not None:
                    return _take_method(session, draft, other, await get_recipients(session))
            raise
        if cleaned.remark is not None:
            session[DOUBT] = cleaned.remark
            return show_doubt(session.t, draft, cleaned.number, cleaned.remark)
        return await self._with(session, draft, cleaned.number)

    async def _use_anyway(self, session: Session, draft: OrderDraft, number: str) -> OrderDraft:
        """Take an unusual number that the user has confirmed."""
        if draft.method is None:
            raise Rejection("checkout.destination.gone")
        return await self._with(session, draft, number)

    async def _with(self, session: Session, draft: OrderDraft, number: str) -> OrderDraft:
        """Return the draft with the number, and with the holder's name of an earlier order to it."""
        return with_known_holder(confirm_number(draft, number), await get_recipients(session))


def ask_number(t: Translator, draft: OrderDraft, method: PayoutMethod) -> Screen:
    """Return the question for the number of this kind of destination."""
    key = "checkout.number.ask_ewallet" if method.kind == "ewallet" else "checkout.number.ask_bank"
    return Screen(t(key, name=format_full_method(method)), (leave_row(t, draft),))


def show_doubt(t: Translator, draft: OrderDraft, number: str, remark: Remark) -> Screen:
    """Return the question whether an unusual number is right. It can always be confirmed."""
    use = Button(t.plain("checkout.number.use_it"), data=draft_data(draft, DraftAction.NUMBER, number), style="primary")
    text = t("checkout.number.doubt", name=format_method(draft.method), number=number, remark=t.translate(remark))
    return Screen(text, ((use,), leave_row(t, draft)))


class HolderStep:
    """Ask for the holder's name."""

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.SKIP: self._skip}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return ask_holder(session.t, draft)

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft:
        """Take the typed name, or that there is none.

        Raises:
            Rejection: those of `read_holder`. A text with an amount in it is no name.
        """
        if _skips(session, text):
            return with_holder(draft, None)
        return with_holder(draft, read_name(text))

    async def _skip(self, _: Session, draft: OrderDraft, __: str) -> OrderDraft:
        """Go on without a name."""
        return with_holder(draft, None)


def read_name(text: str) -> str:
    """Return the typed name.

    Raises:
        Rejection: those of `read_holder`. A text with an amount in it is no name.
    """
    if any(map(_is_amount, text.split())):
        raise Rejection("recipients.holder.not_a_name")
    return read_holder(text)


def _skips(session: Session, text: str) -> bool:
    """Return whether the text is the button's, or nothing but a dash."""
    return text.strip().casefold() in {session.t.plain("checkout.holder.skip").casefold(), "-"}


def _is_amount(word: str) -> bool:
    """Return whether the word is clearly an amount ("750rb"). A small number may be part of a name ("Toko 88")."""
    try:
        return any(map(str.isdecimal, word)) and isinstance(parse_amount(word), Amount)
    except ForeignCurrency:
        return True
    except AmountRejected:
        return False


def with_holder(draft: OrderDraft, holder: str | None) -> OrderDraft:
    """Return the draft with the name, or without one."""
    asked = replace(draft, holder=holder, holder_asked=True)
    return replace(asked, step=missing(asked))


def ask_holder(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question, with the cleaned number. For a payment request, it can't be skipped."""
    skip = Button(t.plain("checkout.holder.skip"), data=draft_data(draft, DraftAction.SKIP))
    asked = t(text_key(draft, "checkout.holder.ask"), recipient=format_recipient_line(t, replace(draft, holder=None)))
    return Screen(asked, ((skip,), leave_row(t, draft)) if draft.terms is None else (leave_row(t, draft),))
