"""Links to messages of the staff's group."""

from bot.support.model import TicketPost

SUPERGROUP = "-100"


def link_to(post: TicketPost | None) -> str | None:
    """Return the link to a message, for members of its group; None outside of supergroups, which have no links."""
    chat = str(post.chat_id) if post is not None else ""
    if post is None or not chat.startswith(SUPERGROUP):
        return None
    parts = (chat.removeprefix(SUPERGROUP), *([post.topic_id] if post.topic_id else []), post.message_id)
    return "https://t.me/c/" + "/".join(map(str, parts))
