"""Users in end-to-end tests wait for new messages and texts. A message that only loses its buttons isn't new."""

import itertools

import httpx

from tests.e2e.chat_user import ChatUser, Json

BUTTONS = {"inline_keyboard": [[{"text": "Older", "callback_data": "older"}]]}


def listed(message_id: int, text: str = "The list", markup: Json | None = BUTTONS) -> Json:
    return {"message_id": message_id, "from": {"id": 1}, "text": text, "reply_markup": markup}


def user_of(*looks: list[Json]) -> ChatUser:
    """Return a user of a chat that has these messages, one list for each read."""
    coming, numbers = iter(looks), itertools.count(1)

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            return httpx.Response(200, json={"message": {}})
        return httpx.Response(200, json={"seq": next(numbers), "messages": next(coming)})

    return ChatUser(httpx.AsyncClient(base_url="http://chat", transport=httpx.MockTransport(answer)), 2001)


async def test_a_message_that_has_only_lost_its_buttons_is_not_taken_for_the_answer() -> None:
    before, without = listed(1), listed(1, markup=None)
    user = user_of([before], [without], [without, listed(2)])
    await user.says("/audit")
    assert (await user.sees("The list"))["message_id"] == 2


async def test_a_message_whose_text_has_changed_is_taken_for_the_answer_also_without_buttons() -> None:
    user = user_of([listed(1)], [listed(1, "The list is empty", None)])
    await user.says("/audit")
    assert (await user.sees("The list"))["message_id"] == 1
