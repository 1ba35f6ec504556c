"""Where the rupiah should go: somebody sent to before, a typed name, a whole line, or a leaf of the live list."""

from collections.abc import Sequence

from bot.checkout.draft import OrderDraft
from bot.checkout.filling import refusal, take_destination, with_known_holder, with_recipient
from bot.checkout.screens.parts import leave_row
from bot.core.errors import Rejection
from bot.infra.i18n import Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.infra.telegram.ui.session import Session
from bot.recipients.formatting import format_method, format_recipient
from bot.recipients.model import SavedRecipient, current_method, find_by_beginning, find_by_name
from bot.recipients.search import SearchResult, search
from bot.settlement.model import BANK, EWALLET, PayoutMethod, ServiceDown

PAGE = 8
COLUMNS = 2
TABS = 4
RECENTS = 5
SURE_BEGINNING = 3
"""Letters: fewer fit too many names by chance."""


def screen(
    t: Translator,
    draft: OrderDraft,
    methods: Sequence[PayoutMethod],
    tab: int = 0,
    page: int = 0,
    *,
    recents: Sequence[SavedRecipient] = (),
) -> Screen:
    """The question, with one page of the banks, or of another kind (`tab`), beneath it.

    Those sent to before stand first, where nobody has begun to leaf.
    """
    if not methods:
        return Screen(t("destination.none"), (_again_row(t, draft), leave_row(t, draft)))
    kinds = _kinds(methods)
    tab = min(tab, len(kinds) - 1)
    here = [method for method in methods if method.kind == kinds[tab]]
    pages = -(-len(here) // PAGE)
    page = min(page, pages - 1)
    shown = here[page * PAGE : (page + 1) * PAGE]
    first = _saved(draft, recents[:RECENTS]) if tab == page == 0 else ()
    rows = (*first, *_tabs(t, draft, kinds, tab), *_choices(draft, shown), *_turns(t, draft, tab, page, pages))
    key = "destination.ask_again" if first else "destination.ask"
    return Screen(t(key), (*rows, leave_row(t, draft)))


def candidates(
    t: Translator,
    draft: OrderDraft,
    query: str,
    found: Sequence[PayoutMethod],
    saved: Sequence[SavedRecipient] = (),
) -> Screen:
    """Several entries, or people, could be meant by `query` (empty: by a part of a line): each is a button."""
    return Screen(
        t("destination.several", query=quote_input(query)) if query else t("destination.which"),
        (
            *_saved(draft, saved[:RECENTS]),
            *_choices(draft, found),
            (Button(t.plain("destination.all"), data=data.for_draft(draft, "show")),),
            leave_row(t, draft),
        ),
    )


async def show(session: Session, draft: OrderDraft) -> Screen:
    """The first page of the list, after those sent to before."""
    return screen(session.t, draft, await listed(session), recents=await _known(session))


async def search_typed(session: Session, draft: OrderDraft, text: str) -> OrderDraft | Screen:
    """Look for the typed name among the user's saved recipients and in the live list."""
    methods, known = await listed(session), await _known(session)
    result = search(text, methods)
    people = find_by_name(known, text) or find_by_beginning(known, text)
    if _is_clear(people, text, result):
        return _again(draft, people[0], methods)
    if people:
        return candidates(session.t, draft, text, _found(result), people)
    if result.hit is not None:
        return _chosen(session, draft, result.hit, known)
    if result.candidates:
        return candidates(session.t, draft, text, result.candidates)
    raise Rejection("destination.unknown", query=quote_input(text))


async def turn_page(session: Session, draft: OrderDraft, argument: str) -> Screen:
    """Show another page of the list, or another kind of destination."""
    tab, _, page = argument.partition("/")
    return screen(session.t, draft, await listed(session), _whole(tab), _whole(page), recents=await _known(session))


async def take_saved(session: Session, draft: OrderDraft, recipient_id: str) -> OrderDraft:
    """Take a saved recipient, with destination, number and holder."""
    recipient = next((each for each in await _known(session) if each.id == recipient_id), None)
    if recipient is None:
        raise Rejection("recipient.gone")
    return _again(draft, recipient, await listed(session))


async def pick(session: Session, draft: OrderDraft, key: str) -> OrderDraft:
    """Take a destination of the live list."""
    method = next((method for method in await listed(session) if method.key() == key), None)
    if method is None:
        raise Rejection("destination.gone")
    return _chosen(session, draft, method, await _known(session))


async def listed(session: Session) -> Sequence[PayoutMethod]:
    """The live list. An empty one is a trouble of the moment, so it is asked for anew each time."""
    return await session.desk.market.methods() or await session.desk.market.methods(fresh=True)


async def _known(session: Session) -> Sequence[SavedRecipient]:
    return await session.desk.recipients.list_all(session.person.id)


def _again(draft: OrderDraft, recipient: SavedRecipient, methods: Sequence[PayoutMethod]) -> OrderDraft:
    """The draft for somebody sent to before; their destination may have gone from the list since."""
    if not methods:  # an empty list says nothing about this destination
        raise ServiceDown
    method = current_method(recipient, methods)
    if method is None:
        raise Rejection("recipient.vanished", name=format_method(recipient.method))
    return with_recipient(draft, recipient, method)


def _chosen(session: Session, draft: OrderDraft, method: PayoutMethod, known: Sequence[SavedRecipient]) -> OrderDraft:
    """The draft with this destination; a number that waited for it is taken, or it's said why it can't be."""
    refused = refusal(draft, method)
    if refused is not None:
        session.notice = session.t.tell(refused)
    return with_known_holder(take_destination(draft, method), known)


def _is_clear(people: Sequence[SavedRecipient], typed: str, result: SearchResult) -> bool:
    """Whether one of the person's own is meant and no bank could be: their whole name may resemble one, no more."""
    if len(people) != 1 or result.hit is not None:
        return False
    return bool(find_by_name(people, typed)) or (len(typed.strip()) >= SURE_BEGINNING and not result.candidates)


def _found(result: SearchResult) -> Sequence[PayoutMethod]:
    return result.candidates if result.hit is None else (result.hit,)


def _choices(draft: OrderDraft, methods: Sequence[PayoutMethod]) -> Keyboard:
    buttons = [Button(format_method(m), data=data.for_draft(draft, "pick", m.key())) for m in methods]
    return tuple(tuple(buttons[i : i + COLUMNS]) for i in range(0, len(buttons), COLUMNS))


def _saved(draft: OrderDraft, recipients: Sequence[SavedRecipient]) -> Keyboard:
    return tuple((Button(format_recipient(each), data=data.for_draft(draft, "again", each.id)),) for each in recipients)


def _kinds(methods: Sequence[PayoutMethod]) -> list[str]:
    """The kinds there are, as the list has them; a kind that we don't know is one as well."""
    return list(dict.fromkeys(method.kind for method in methods))


def _tabs(t: Translator, draft: OrderDraft, kinds: Sequence[str], chosen: int) -> Keyboard:
    if len(kinds) == 1:
        return ()
    row = [
        Button(("● " if tab == chosen else "") + _kind_name(t, kind), data=data.for_draft(draft, "page", f"{tab}/0"))
        for tab, kind in enumerate(kinds[:TABS])
    ]
    return (tuple(row),)


def _kind_name(t: Translator, kind: str) -> str:
    return t.plain(f"destination.kind.{kind}") if kind in {BANK, EWALLET} else quote_input(kind)


def _turns(t: Translator, draft: OrderDraft, tab: int, page: int, pages: int) -> Keyboard:
    if pages == 1:
        return ()

    def turn(label: str, to: int) -> Button:
        return Button(label, data=data.for_draft(draft, "page", f"{tab}/{to}"))

    here = turn(f"{page + 1} / {pages}", page)
    before = (turn(t.plain("destination.previous"), page - 1),) if page else ()
    after = (turn(t.plain("destination.next"), page + 1),) if page < pages - 1 else ()
    return ((*before, here, *after),)


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _again_row(t: Translator, draft: OrderDraft) -> tuple[Button, ...]:
    return (Button(t.plain("button.try_again"), data=data.for_draft(draft, "show")),)
