"""Answering a ticket with a saved answer: chosen, looked at as its person will read it, and sent."""

from bot.core import templates
from bot.core.errors import Rejection
from bot.infra.i18n import Translator, translator_for
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.support.model import Written
from bot.support.saved_replies import screens
from bot.support.saved_replies.buttons import (
    OtherSavedRepliesButton,
    PreviewSavedReplyButton,
    SavedRepliesForTicketButton,
    SendSavedReplyButton,
)
from bot.support.saved_replies.model import SavedReply, needs_order, stamp
from bot.support.staff.entries import too_long_by
from bot.support.staff.questions import say_of
from bot.support.staff.session import StaffSession, rejection_alerts, staff_routes
from bot.support.ticket import Ticket
from bot.support.tickets.repository import TicketRepository
from bot.users.repository import UserRepository

routes = staff_routes()


@routes.button(SavedRepliesForTicketButton)
async def choose_button(staff: StaffSession, button: SavedRepliesForTicketButton) -> None:
    """Ask which saved reply to send, in a new message that belongs to the ticket."""
    async with rejection_alerts(staff):
        await _choose(staff, button.ticket)


@routes.button(OtherSavedRepliesButton)
async def others_button(staff: StaffSession, button: OtherSavedRepliesButton) -> None:
    """Ask which saved reply to send, in the place of the preview."""
    async with rejection_alerts(staff):
        await _choose_again(staff, button.ticket)


@routes.button(PreviewSavedReplyButton)
async def preview_button(staff: StaffSession, button: PreviewSavedReplyButton) -> None:
    """Show what the ticket's user would read."""
    async with rejection_alerts(staff):
        await _preview(staff, button.ticket, button.name)


@routes.button(SendSavedReplyButton)
async def send_button(staff: StaffSession, button: SendSavedReplyButton) -> None:
    """Send the saved reply that the preview showed."""
    async with rejection_alerts(staff):
        await _send(staff, button)


async def _choose(staff: StaffSession, reference: str) -> None:
    ticket, _, t = await _case(staff, reference)
    await staff.session.acknowledge()
    answers = await staff.desk.saved_answers.all()
    await say_of(staff, ticket, screens.choosing(staff.t, ticket, answers, t.locale))


async def _choose_again(staff: StaffSession, reference: str) -> None:
    ticket, _, t = await _case(staff, reference)
    await staff.session.acknowledge()
    await staff.update(screens.choosing(staff.t, ticket, await staff.desk.saved_answers.all(), t.locale))


async def _preview(staff: StaffSession, reference: str, name: str) -> None:
    ticket, order, t = await _case(staff, reference)
    filled = _filled(await staff.desk.saved_answers.get(name), ticket, order, t)
    await staff.session.acknowledge()
    await staff.update(screens.preview(staff.t, ticket, name, filled, t.locale))


async def _send(staff: StaffSession, button: SendSavedReplyButton) -> None:
    """Send what the preview showed, and nothing else: where it would read differently by now, preview it again."""
    reference, name = button.ticket, button.name
    ticket, order, t = await _case(staff, reference)
    filled = _filled(await staff.desk.saved_answers.get(name), ticket, order, t)
    if stamp(filled) != button.stamp:
        await staff.toast("answers.changed", alert=True)
        await staff.update(screens.preview(staff.t, ticket, name, filled, t.locale))
        return
    if staff.message_id is None:
        raise Rejection("staff.gone")
    written = Written(chat_id=staff.chat_id, message_id=staff.message_id, text=filled)
    entry = await staff.desk.ticket_answers.reply(reference, staff.person.id, written)
    if entry is None:
        await staff.toast("answers.sent_already", alert=True)
        await staff.desk.messenger.edit_keyboard(staff.chat_id, staff.message_id, (), lane="talk")
        return
    await staff.session.acknowledge()
    await staff.update(screens.handed_over(staff.t, ticket, name, filled, staff.person.id))


async def _case(staff: StaffSession, reference: str) -> tuple[Ticket, Order | None, Translator]:
    """The ticket, its order, and the language that its person reads.

    Raises:
        Rejection: there is no such ticket, it is closed, or somebody else holds it.
    """
    async with staff.desk.store.reading() as tx:
        ticket = await TicketRepository(tx).get(reference)
        order = await OrderRepository(tx).get(ticket.order_reference) if ticket and ticket.order_reference else None
        person = await UserRepository(tx).get(ticket.person_id) if ticket else None
    if ticket is None:
        raise Rejection("staff.gone")
    if not ticket.is_open:
        raise Rejection("ticket.closed")
    if ticket.claimed_by not in {None, staff.person.id}:
        raise Rejection("ticket.held_by_another")
    return ticket, order, translator_for(staff.desk.translations, person, staff.desk.default_locale)


def _filled(answer: SavedReply | None, ticket: Ticket, order: Order | None, t: Translator) -> str:
    """What the person would read. Raises `Rejection` where that can't be."""
    if answer is None:
        raise Rejection("staff.gone")
    template = answer.texts.get(t.locale)
    if template is None:
        raise Rejection("answers.not_in_their_language")
    if order is None and needs_order(template):
        raise Rejection("answers.needs_order")
    filled = templates.fill(template, screens.values(t, ticket, order))
    over = too_long_by(Written(chat_id=0, message_id=0, text=filled))
    if over:
        raise Rejection("answers.too_long", over=over)
    return filled
