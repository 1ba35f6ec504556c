"""Read messages for tickets: the text with its formatting, and a picture or a file."""

from telegram import Message

from bot.support.model import IncomingMessage, MediaKind


def read_message(message: Message) -> IncomingMessage | None:
    """Return the content of a message. Return None for what we don't pass on: stickers, voice messages, locations."""
    if message.photo:
        return _to_incoming(message, message.caption_html, MediaKind.PHOTO, message.photo[-1].file_id)
    if message.document is not None:
        return _to_incoming(message, message.caption_html, MediaKind.DOCUMENT, message.document.file_id)
    return _to_incoming(message, message.text_html) if message.text else None


def _to_incoming(
    message: Message, text: str | None, media: MediaKind | None = None, file_id: str | None = None
) -> IncomingMessage:
    return IncomingMessage(
        chat_id=message.chat_id, message_id=message.message_id, text=text or None, media=media, file_id=file_id
    )
