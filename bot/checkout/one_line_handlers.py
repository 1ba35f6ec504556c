"""One line: what is understood is filled in and said back, and only what is missing or doubtful is asked.

`/send 500rb bca 1234567890 Budi`, the same as a plain message, or typed where the destination is asked for. Nothing is
placed without the review.
"""

from collections.abc import Iterator, Sequence

from bot.checkout import one_line as lines
from bot.checkout.draft import Ask, DraftStatus, OrderDraft
from bot.checkout.one_line import Wanted
from bot.checkout.open_draft import DRAFT, is_replayed, open_draft
from bot.checkout.screens import amount, destination
from bot.checkout.screens import limit_warning as too_many
from bot.checkout.screens.formatting import format_amount
from bot.checkout.screens.parts import has_answers
from bot.checkout.steps import show_draft
from bot.core.money import Ambiguous
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.recipients.banks import display_name
from bot.recipients.formatting import format_method
from bot.recipients.model import SavedRecipient, title
from bot.settlement.model import PayoutMethod, ServiceDown, SettlementFailure
from bot.users.screens.buttons import send_row

SAID_WHILE_ASKING = frozenset({Ask.DESTINATION, Ask.NUMBER, Ask.HOLDER})
"""The later questions show all there is themselves."""


async def begin(session: Session, text: str) -> None:
    """A new draft with what the line says, in the place of an open one."""
    try:
        methods, known = await _listed(session)
    except SettlementFailure:
        await _unread(session)
        return
    wanted = lines.read(text, methods, known)
    notices = []
    if not is_replayed(session):
        before = session[DRAFT]
        put_aside = before is not None and has_answers(before)
        session[DRAFT] = await session.desk.drafts.begin(
            session.person.id,
            session.chat_id,
            session.update_id,
            lambda draft: lines.fill(draft, wanted, methods, known),
        )
        notices = [await too_many.foretold(session), session.t("draft.replaced") if put_aside else None]
    elif open_draft(session).last_update_id != session.update_id:
        await show_draft(session)
        return
    await _ask(session, wanted, methods, notices)


async def take_line(session: Session, text: str) -> bool:
    """Do the same where the destination is asked for; False where `text` is no more than a destination's name."""
    draft = open_draft(session)
    if draft.ask is not Ask.DESTINATION or draft.status is not DraftStatus.OPEN or is_replayed(session):
        return False
    try:
        methods, known = await _listed(session)
    except SettlementFailure:
        return False
    wanted = lines.read(text, methods, known)
    if not wanted.says_more or _is_a_name(text, methods, known):
        return False
    session[DRAFT] = await session.desk.drafts.save(lines.fill(draft, wanted, methods, known), session.update_id)
    if session[DRAFT] is None:
        session[DRAFT] = await session.desk.drafts.get(draft.id)
        await show_draft(session)
    else:
        await _ask(session, wanted, methods, [])
    return True


async def is_order(session: Session, text: str) -> bool:
    """Whether a plain message outside a draft begins an order."""
    known = await session.desk.recipients.list_all(session.person.id)
    if not lines.may_be_order(text, known):
        return False
    try:
        methods: Sequence[PayoutMethod] = await destination.listed(session)
    except SettlementFailure:
        methods = ()
    return lines.is_order(text, methods, known)


async def _listed(session: Session) -> tuple[Sequence[PayoutMethod], Sequence[SavedRecipient]]:
    """Without the list, the name of a bank would be taken for somebody's."""
    methods = await destination.listed(session)
    if not methods:
        raise ServiceDown
    return methods, await session.desk.recipients.list_all(session.person.id)


async def _unread(session: Session) -> None:
    screen = Screen(session.t("oneline.unread"), (send_row(session.t),))
    await session.show(session.with_resume(screen))


async def _ask(
    session: Session, wanted: Wanted, methods: Sequence[PayoutMethod], notices: Sequence[Html | None]
) -> None:
    """Say what was understood and what wasn't, and ask the first thing that is doubtful or missing."""
    draft = open_draft(session)
    doubt = _doubt(session.t, draft, wanted)
    said = [
        *notices,
        _understood(session.t, draft) if doubt is not None or draft.ask in SAID_WHILE_ASKING else None,
        *_not_taken(session.t, draft, wanted, methods),
    ]
    session.notice = Html("\n".join(each for each in said if each)) or None
    if doubt is None:
        await show_draft(session)
    else:
        await session.show(doubt)


def _doubt(t: Translator, draft: OrderDraft, wanted: Wanted) -> Screen | None:
    """The choice that the line left open, where it's about what the draft asks for. An odd number's is the draft's."""
    line = wanted.line
    if draft.ask is Ask.DESTINATION and wanted.has_choice:
        return destination.candidates(t, draft, wanted.beginning, line.method_candidates, wanted.people)
    if draft.ask is Ask.AMOUNT and line.amount_readings:
        return amount.readings(t, draft, line.amount_text, Ambiguous(line.amount_readings))
    return None


def _understood(t: Translator, draft: OrderDraft) -> Html | None:
    parts = [
        format_amount(t, draft.amount) if draft.amount else None,
        format_method(draft.method),
        draft.number or draft.doubtful_number,
        draft.holder,
    ]
    known = " · ".join(part for part in parts if part)
    return t("oneline.understood", parts=known) if known else None


def _not_taken(t: Translator, draft: OrderDraft, wanted: Wanted, methods: Sequence[PayoutMethod]) -> Iterator[Html]:
    line = wanted.line
    for rejection in line.rejections:
        yield t.tell(rejection)
    if wanted.person is not None and lines.has_vanished(wanted, methods):
        yield t("recipient.vanished", name=format_method(wanted.person.method))
    if line.leftover:
        yield t("oneline.leftover", text=quote_input(" ".join(line.leftover)))
    if line.doubtful_holder and not draft.holder_asked:
        yield t("oneline.holder_unsure", text=quote_input(line.doubtful_holder))
    if line.amount_readings and draft.ask is not Ask.AMOUNT:
        yield t("oneline.sum_later", text=quote_input(line.amount_text))


def _is_a_name(text: str, methods: Sequence[PayoutMethod], known: Sequence[SavedRecipient]) -> bool:
    """Whether all of it is the name of one destination or recipient that has figures in it."""
    typed = text.strip().casefold()
    names = (*(title(each) for each in known), *(name for m in methods for name in (m.name, display_name(m))))
    return typed in {name.casefold() for name in names}
