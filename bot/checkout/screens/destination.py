"""The question where the rupiah go: to a saved recipient, a typed name, or an entry of the live list."""

from collections.abc import Sequence

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.parts import leave_row
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.recipients.formatting import format_method, format_recipient
from bot.recipients.model import SavedRecipient
from bot.settlement.model import BANK, EWALLET, PayoutMethod

PAGE = 8
COLUMNS = 2
TABS = 4
RECENTS = 5


def screen(
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
    here = [method for method in methods if method.kind == kinds[tab]]
    pages = -(-len(here) // PAGE)
    page = min(page, pages - 1)
    shown = here[page * PAGE : (page + 1) * PAGE]
    first = _saved(draft, recents[:RECENTS]) if tab == page == 0 else ()
    rows = (*first, *_tabs(t, draft, kinds, tab), *_choices(draft, shown), *_turns(t, draft, tab, page, pages))
    key = "checkout.destination.ask_again" if first else "checkout.destination.ask"
    return Screen("\n\n".join(filter(None, (t(key), price))), (*rows, leave_row(t, draft)))


def candidates(
    t: Translator,
    draft: OrderDraft,
    query: str,
    found: Sequence[PayoutMethod],
    saved: Sequence[SavedRecipient] = (),
) -> Screen:
    """Return the question which entry or recipient `query` means, each a button. `query` is empty for a line."""
    return Screen(
        t("checkout.destination.several", query=quote_input(query)) if query else t("checkout.destination.which"),
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
    """Return the kinds of destination in the list, also unknown ones."""
    return list(dict.fromkeys(method.kind for method in methods))


def _tabs(t: Translator, draft: OrderDraft, kinds: Sequence[str], chosen: int) -> Keyboard:
    if len(kinds) == 1:
        return ()
    row = [
        Button(
            ("● " if tab == chosen else "") + _kind_name(t, kind), data=draft_data(draft, DraftAction.PAGE, f"{tab}/0")
        )
        for tab, kind in enumerate(kinds[:TABS])
    ]
    return (tuple(row),)


def _kind_name(t: Translator, kind: str) -> str:
    return t.plain(f"checkout.destination.kind.{kind}") if kind in {BANK, EWALLET} else quote_input(kind)


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
