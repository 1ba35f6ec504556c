"""Ask where the rupiah go: to a saved recipient, a typed name, or an entry of the live list."""

from collections.abc import Mapping, Sequence

from bot.checkout.answers import find_rejection, take_destination, with_known_holder, with_recipient
from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.formatting import text_key
from bot.checkout.screens.parts import leave_row
from bot.checkout.sender import get_placed, get_recipients
from bot.checkout.steps.amount import EXAMPLE, price_choices, show_price
from bot.checkout.steps.handler import TakeAnswer
from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.placement.service import OrderService
from bot.recipients.formatting import format_method, format_recipient
from bot.recipients.model import SavedRecipient, find_by_beginning, find_by_name, find_current_method
from bot.recipients.search import SearchResult, search
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import BANK, EWALLET, PayoutMethod, ServiceDown
from bot.users.session import Session

PAGE = 8
COLUMNS = 2
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
        return show_question(session.t, draft, methods, tab, recents=await get_recipients(session), price=price)

    async def _show_price(self, session: Session, draft: OrderDraft) -> Html | None:
        """Return the line with the price of the amount, or of an example."""
        placed, amount = await get_placed(session), draft.amount or Amount("IDR", EXAMPLE)
        return show_price(session.t, draft, await price_choices(self._orders, placed, draft, (amount,)))

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
        return show_question(session.t, draft, methods, _whole(tab), _whole(page), recents=known)

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


def _is_mobile(number: str | None) -> bool:
    """Return whether a number waits in the form of a mobile number, which no bank accepts."""
    return number is not None and number.startswith("+")


def _take_recipient(draft: OrderDraft, recipient: SavedRecipient, methods: Sequence[PayoutMethod]) -> OrderDraft:
    """Return the draft for a saved recipient. The list may no longer have their destination."""
    if not methods:  # an empty list says nothing about this destination
        raise ServiceDown
    method = find_current_method(recipient, methods)
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


def show_question(
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
    rows = (*first, *_tabs(t, draft, kinds, tab), *_choices(draft, shown), *_turns(t, draft, tab, page, pages))
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
    return tuple(tuple(buttons[i : i + COLUMNS]) for i in range(0, len(buttons), COLUMNS))


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


def _turns(t: Translator, draft: OrderDraft, tab: int, page: int, pages: int) -> Keyboard:
    if pages == 1:
        return ()

    def turn(label: str, to: int) -> Button:
        return Button(label, data=draft_data(draft, DraftAction.PAGE, f"{tab}/{to}"))

    here = turn(f"{page + 1} / {pages}", page)
    before = (turn(t.plain("recipients.destination.previous"), page - 1),) if page else ()
    after = (turn(t.plain("recipients.destination.next"), page + 1),) if page < pages - 1 else ()
    return ((*before, here, *after),)


def _again_row(t: Translator, draft: OrderDraft) -> tuple[Button, ...]:
    return (Button(t.plain("orders.button.try_again"), data=draft_data(draft, DraftAction.SHOW)),)
