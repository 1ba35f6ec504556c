"""The button that starts an order for a saved recipient."""

from bot.checkout.filling import with_recipient
from bot.checkout.open_draft import DRAFT, is_replayed
from bot.checkout.screens import limit_warning as too_many
from bot.checkout.screens.parts import has_answers
from bot.checkout.steps import show_draft
from bot.infra.i18n import Html
from bot.infra.telegram.ui.session import Session
from bot.recipients.formatting import format_method
from bot.recipients.model import SavedRecipient, current_method
from bot.settlement.model import PayoutMethod, SettlementFailure


async def send_to_recipient(session: Session, recipient: SavedRecipient) -> None:
    """Start an order for a saved recipient and ask the next question. A second press finds the draft that is there."""
    if not is_replayed(session) and not _is_begun(session, recipient):
        method = await _method(session, recipient)
        before = session[DRAFT]
        put_aside = before is not None and has_answers(before)
        drafts = session.desk.drafts
        if method is None:
            session.notice = session.t("recipient.vanished", name=format_method(recipient.method))
            session[DRAFT] = await drafts.begin(session.person.id, session.chat_id, session.update_id)
        else:
            said = (await too_many.foretold(session), session.t("draft.replaced") if put_aside else None)
            session.notice = Html("\n".join(filter(None, said))) or None
            session[DRAFT] = await drafts.begin(
                session.person.id,
                session.chat_id,
                session.update_id,
                lambda draft: with_recipient(draft, recipient, method),
            )
    await show_draft(session)


def _is_begun(session: Session, recipient: SavedRecipient) -> bool:
    draft = session[DRAFT]
    if draft is None or draft.method is None or draft.amount is not None:
        return False
    wanted = (recipient.method.code, recipient.method.name, recipient.number)
    return (draft.method.code, draft.method.name, draft.number) == wanted


async def _method(session: Session, recipient: SavedRecipient) -> PayoutMethod | None:
    """The destination as the list has it; as it was, where the list can't be read: placing looks again."""
    try:
        methods = await session.desk.market.methods()
    except SettlementFailure:
        methods = ()
    return current_method(recipient, methods) if methods else recipient.method
