"""Where the rupiah should go: type a name, or leaf through the live list."""

from collections.abc import Sequence
from dataclasses import replace

from bot.chat import data
from bot.chat.desk import Pressed, Said, Visit
from bot.chat.screen import Button, Keyboard, Screen
from bot.chat.screens.parts import leave_row
from bot.domain.draft import OrderDraft, missing, with_method
from bot.domain.errors import Rejection
from bot.domain.payout import PayoutMethod, display_name, search
from bot.i18n import Translator

PAGE = 8
COLUMNS = 2


def screen(t: Translator, draft: OrderDraft, methods: Sequence[PayoutMethod], kind: str = "", page: int = 0) -> Screen:
    """The question, with the banks or the e-wallets of one page beneath it."""
    if not methods:
        return Screen(t("destination.none"), (_again_row(t, draft), leave_row(t, draft)))
    kind = kind or methods[0].kind
    here = [method for method in methods if method.kind == kind]
    shown = here[page * PAGE : (page + 1) * PAGE]
    rows = (*_kind_row(t, draft, methods, kind), *_choices(draft, shown), *_pages(t, draft, kind, page, len(here)))
    return Screen(t("destination.ask"), (*rows, leave_row(t, draft)))


def candidates(t: Translator, draft: OrderDraft, query: str, found: Sequence[PayoutMethod]) -> Screen:
    """Several entries could be meant: each is a button."""
    return Screen(
        t("destination.several", query=query[:40]),
        (
            *_choices(draft, found),
            (Button(t.plain("destination.all"), data=data.for_draft(draft, "show")),),
            leave_row(t, draft),
        ),
    )


async def show(visit: Visit, draft: OrderDraft) -> Screen:
    """The first page of the list."""
    return screen(visit.t, draft, await visit.desk.market.methods())


async def answer(visit: Visit, draft: OrderDraft, said: Said) -> OrderDraft | Screen:
    """A typed name is looked for in the live list; a button names its entry or turns a page."""
    methods = await visit.desk.market.methods()
    if isinstance(said, Pressed):
        return _pressed(visit.t, draft, methods, said)
    result = search(said.text, methods)
    if result.hit is not None:
        return chosen(draft, result.hit)
    if result.candidates:
        return candidates(visit.t, draft, said.text, result.candidates)
    raise Rejection("destination.unknown", query=said.text[:40])


def chosen(draft: OrderDraft, method: PayoutMethod) -> OrderDraft:
    """The draft with this destination, and what it waits for next."""
    draft = with_method(draft, method)
    return replace(draft, ask=missing(draft))


def _pressed(t: Translator, draft: OrderDraft, methods: Sequence[PayoutMethod], said: Pressed) -> OrderDraft | Screen:
    if said.action == "page":
        kind, _, page = said.argument.rpartition("/")
        return screen(t, draft, methods, kind, int(page) if page.isdigit() else 0)
    method = next((m for m in methods if m.key() == said.argument), None)
    if said.action != "pick" or method is None:
        raise Rejection("destination.gone")
    return chosen(draft, method)


def _choices(draft: OrderDraft, methods: Sequence[PayoutMethod]) -> Keyboard:
    buttons = [Button(display_name(m), data=data.for_draft(draft, "pick", m.key())) for m in methods]
    return tuple(tuple(buttons[i : i + COLUMNS]) for i in range(0, len(buttons), COLUMNS))


def _kind_row(t: Translator, draft: OrderDraft, methods: Sequence[PayoutMethod], kind: str) -> Keyboard:
    kinds = list(dict.fromkeys(method.kind for method in methods))
    if len(kinds) == 1:
        return ()
    return (
        tuple(
            Button(
                ("● " if known == kind else "") + _kind_name(t, known),
                data=data.for_draft(draft, "page", f"{known[:20]}/0"),
            )
            for known in kinds[:3]
        ),
    )


def _kind_name(t: Translator, kind: str) -> str:
    return t.plain(f"destination.kind.{kind}") if kind in {"bank", "ewallet"} else kind


def _pages(t: Translator, draft: OrderDraft, kind: str, page: int, count: int) -> Keyboard:
    last = max(count - 1, 0) // PAGE
    row = [
        Button(label, data=data.for_draft(draft, "page", f"{kind[:20]}/{target}"))
        for label, target in ((t.plain("destination.previous"), page - 1), (t.plain("destination.next"), page + 1))
        if 0 <= target <= last
    ]
    return (tuple(row),) if row else ()


def _again_row(t: Translator, draft: OrderDraft) -> tuple[Button, ...]:
    return (Button(t.plain("button.try_again"), data=data.for_draft(draft, "show")),)
