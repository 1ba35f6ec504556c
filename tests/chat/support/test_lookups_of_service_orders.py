"""An AI agent creates an order with the same API key. Support finds it by its service ID, masked and marked."""

import pytest

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.chat_user import ChatUser
from tests.e2e.new_users import new_user
from tests.e2e.support.lookups import open_rinas_chat, place_order
from tests.e2e.system import System
from tests.texts import label, like, says

session_loop = pytest.mark.asyncio(loop_scope="session")
NUMBER, HOLDER = "0987650432", "Wulandari Kusumaningrum"


@session_loop
async def test_what_the_service_does_not_have_is_said_in_words_and_ours_is_shown_as_ours(
    shared_system: System,
) -> None:
    group = ChatUser(shared_system.telegram, shared_system.rina.id, SUPPORT_GROUP_ID)
    unknown = "cm7k2jt8x0000qz01abcd1234"
    rina, emma = await open_rinas_chat(shared_system), await new_user(shared_system)
    await rina.says(f"/order {unknown}")
    await rina.sees(like("support.service_order.not_found", id=unknown))
    reference, order = await place_order(shared_system, emma)
    for command in ("/order", "/find"):
        await rina.says(f"{command} {order['id']}")
        page = await rina.sees(like("support.case.reference", reference=reference))
        assert not says(page["text"], "support.service_order.not_ours")
    await shared_system.service.fails_with("503", method="GET", path=f"/v1/offramp/orders/{unknown}", times=1)
    await group.says(f"/order {unknown}")
    down = await group.sees(like("support.service_order.down", "id"))
    await group.taps(label("orders.button.try_again", "id"), message=down)
    await group.sees(like("support.service_order.not_found", "id", id=unknown))
