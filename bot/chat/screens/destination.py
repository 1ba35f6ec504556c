"""Where the rupiah should go: type a name, or leaf through the live list."""

from collections.abc import Sequence
from dataclasses import replace

from bot.chat import data, words
from bot.chat.desk import Pressed, Said, Visit
from bot.chat.screen import Button, Keyboard, Screen
from bot.chat.screens.parts import leave_row
from bot.domain.draft import OrderDraft, missing, with_method
from bot.domain.errors import Rejection
from bot.domain.payout import PayoutMethod, search
from bot.domain.payout.methods import BANK, EWALLET
from bot.i18n import Translator

PAGE = 8
COLUMNS = 2
TABS = 4


def screen(t: Translator, draft: OrderDraft, methods: Sequence[PayoutMethod], tab: int = 0, page: int = 0) -> Screen:
    """The question, with one page of the banks, or of another kind (`tab`), beneath it."""
    if not methods:
        return Screen(t("destination.none"), (_again_row(t, draft), leave_row(t, draft)))
    kinds = _kinds(methods)
    tab = min(tab, len(kinds) - 1)
    here = [method for method in methods if method.kind == kinds[tab]]
    pages = -(-len(here) // PAGE)
    page = min(page, pages - 1)
    shown = here[page * PAGE : (page + 1) * PAGE]
    rows = (*_tabs(t, draft, kinds, tab), *_choices(draft, shown), *_turns(t, draft, tab, page, pages))
    return Screen(t("destination.ask"), (*rows, leave_row(t, draft)))


def candidates(t: Translator, draft: OrderDraft, query: str, found: Sequence[PayoutMethod]) -> Screen:
    """Several entries could be meant: each is a button."""
    return Screen(
        t("destination.several", query=words.quoted(query)),
        (
            *_choices(draft, found),
            (Button(t.plain("destination.all"), data=data.for_draft(draft, "show")),),
            leave_row(t, draft),
        ),
    )


async def show(visit: Visit, draft: OrderDraft) -> Screen:
    """The first page of the list."""
    return screen(visit.t, draft, await _listed(visit))


async def answer(visit: Visit, draft: OrderDraft, said: Said) -> OrderDraft | Screen:
    """A typed name is looked for in the live list; a button names its entry or turns a page."""
    methods = await _listed(visit)
    if isinstance(said, Pressed):
        return _pressed(visit.t, draft, methods, said)
    result = search(said.text, methods)
    if result.hit is not None:
        return chosen(draft, result.hit)
    if result.candidates:
        return candidates(visit.t, draft, said.text, result.candidates)
    raise Rejection("destination.unknown", query=words.quoted(said.text))


async def _listed(visit: Visit) -> Sequence[PayoutMethod]:
    """The live list. An empty one is a trouble of the moment, so it is asked for anew each time."""
    return await visit.desk.market.methods() or await visit.desk.market.methods(fresh=True)


def chosen(draft: OrderDraft, method: PayoutMethod) -> OrderDraft:
    """The draft with this destination, and what it waits for next."""
    draft = with_method(draft, method)
    return replace(draft, ask=missing(draft))


def _pressed(t: Translator, draft: OrderDraft, methods: Sequence[PayoutMethod], said: Pressed) -> OrderDraft | Screen:
    if said.action == "page":
        tab, _, page = said.argument.partition("/")
        return screen(t, draft, methods, _whole(tab), _whole(page))
    method = next((m for m in methods if m.key() == said.argument), None)
    if said.action != "pick" or method is None:
        raise Rejection("destination.gone")
    return chosen(draft, method)


def _choices(draft: OrderDraft, methods: Sequence[PayoutMethod]) -> Keyboard:
    buttons = [Button(words.name(m), data=data.for_draft(draft, "pick", m.key())) for m in methods]
    return tuple(tuple(buttons[i : i + COLUMNS]) for i in range(0, len(buttons), COLUMNS))


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
    return t.plain(f"destination.kind.{kind}") if kind in {BANK, EWALLET} else words.quoted(kind)


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
