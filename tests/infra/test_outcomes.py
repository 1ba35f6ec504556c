"""What Telegram's refusals mean for a chat."""

import pytest
from telegram.error import BadRequest, Forbidden

from bot.infra.telegram.outcomes import Invalid, Unreachable, to_outcome


@pytest.mark.parametrize("content", ["photos", "documents", "video notes", "polls", "stickers and GIFs"])
def test_a_missing_right_for_one_kind_of_content_is_not_the_loss_of_the_chat(content: str) -> None:
    assert isinstance(to_outcome(BadRequest(f"Not enough rights to send {content} to the chat")), Invalid)


@pytest.mark.parametrize(
    "refusal",
    [
        BadRequest("Not enough rights to send text messages to the chat"),
        BadRequest("Have no rights to send a message"),
        BadRequest("CHAT_WRITE_FORBIDDEN"),
        Forbidden("Forbidden: bot was kicked from the supergroup chat"),
    ],
)
def test_a_chat_that_takes_no_text_is_lost(refusal: BadRequest | Forbidden) -> None:
    assert isinstance(to_outcome(refusal), Unreachable)
