"""Sari shares her link in a group where the bot isn't. What stands there follows the link, whoever pays it."""

from collections.abc import Callable

from bot.sandbox.bot_api.model import FRIENDS_GROUP_ID
from tests.chat.payment_requests.test_asking import LINK, has_link
from tests.chat.payment_requests.test_paying import confirms
from tests.chat.system import InProcessSystem
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, order_of
from tests.texts import label, like, says
from tests.waiting import found


async def test_what_is_shared_follows_the_payment_of_a_link_that_is_paid_once(kirim: InProcessSystem) -> None:
    sari, emma = ChatUser(kirim.telegram, 1002), await new_user(kirim)
    await sari.speaks("en")
    link = LINK.search(text_of(await has_link(sari)))
    assert link is not None
    there = ChatUser(kirim.telegram, 1002, FRIENDS_GROUP_ID)
    for _ in range(2):
        await there.sends_result(await there.types_inline(""), "Sari Dewi")

    async def shared() -> list[Json]:
        return [message for message in await there.messages() if "via_bot" in message]

    def all_say(key: str, *, has_button: bool) -> Callable[[list[Json]], bool]:
        def check(messages: list[Json]) -> bool:
            return len(messages) == 2 and all(
                says(text_of(each), key) and ("reply_markup" in each) is has_button for each in messages
            )

        return check

    async def they_say(key: str, *, has_button: bool = False) -> None:
        await found(shared, all_say(key, has_button=has_button), what=key)

    await they_say("payment_requests.inline.message", has_button=True)
    await emma.says(f"/start {link[0].partition('start=')[2]}")
    await emma.sees(like("payment_requests.pay.asker"))
    await confirms(emma)
    order = await order_of(kirim, emma)
    await kirim.service.pays(order)
    await they_say("payment_requests.shared.in_progress")
    await complete_order(kirim, order)
    await they_say("payment_requests.shared.sent")
    receipt = await emma.waits_for(lambda message: bool(message.get("photo")) and "••••4455" in text_of(message))
    assert label("orders.button.open_link") not in await emma.labels_of(receipt), "it was paid, and only once"
    await sari.says("/requests")
    listed = await sari.sees(like("payment_requests.list.ask"))
    for shown in ("today", "Rp150,000", label("payment_requests.list.sent")):
        assert shown in text_of(listed)
