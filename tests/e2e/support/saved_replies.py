"""Helpers for stories of saved replies."""

from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.support.tickets import OpenTicket
from tests.texts import label, like, name_of, says


async def list_saved_replies(rina: ChatUser) -> Json:
    """Ask for a new list of the saved replies, since older pages have buttons with the same names."""
    await rina.says("/replies")
    return await rina.sees(like("support.saved_reply.list"))


async def add_saved_reply(rina: ChatUser, name: str, *, en: str, id_: str) -> Json:
    """Add a saved reply, and return its page."""
    await rina.taps(label("support.saved_reply.add"), message=await list_saved_replies(rina))
    await rina.sees(like("support.saved_reply.ask_name"))
    await rina.says(name)
    for _ in range(2):
        asked = await rina.sees(like("support.saved_reply.ask_text", name=name))
        in_indonesian = says(text_of(asked), "support.saved_reply.ask_text", name=name, language=name_of("id"))
        await rina.says(id_ if in_indonesian else en)
    return await rina.sees(f"^{name}\n")


async def preview_reply(case: OpenTicket, name: str) -> Json:
    """Choose a saved reply under the card, and return its preview."""
    await case.presses(label("support.staff_ticket.saved_replies"))
    choosing = await case.rina.sees(like("support.saved_reply.choose", ticket=case.reference))
    await case.rina.taps(name, message=choosing)
    return await case.rina.sees(like("support.saved_reply.preview"))
