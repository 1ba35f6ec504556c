"""Users who aren't agents find nothing, and a forged button finds nothing for agents either."""

import pytest

from tests.e2e.new_users import new_user
from tests.e2e.support.lookups import COMMANDS, lookups_in_audit_log, open_rinas_chat, place_order
from tests.e2e.system import System
from tests.texts import label, like

session_loop = pytest.mark.asyncio(loop_scope="session")


@session_loop
async def test_nobody_else_finds_anything_by_command_button_or_forwarding(shared_system: System) -> None:
    emma, sari = await new_user(shared_system), await new_user(shared_system)
    reference, order = await place_order(shared_system, emma)
    before = lookups_in_audit_log(shared_system)
    await sari.says("/start")
    greeting = await sari.sees(like("home.start.text"))
    known = {"reference": reference, "service_id": order["id"], "user": emma.id}
    for command in COMMANDS:
        await sari.says(command.format(**known))
        await sari.sees(like("checkout.chat.unknown_command"))
    for button in (
        f"lu:order:@{order['id']}",
        f"lu:proof:@{order['id']}",
        f"rv:@{order['id']}:ask",
        f"lu:order:{reference}",
        f"lu:person:{emma.id}",
        f"lu:find:{reference[:4]}~0",
        "lu:tickets:open~0",
    ):
        pressed = await sari.presses(greeting, button, force=True)
        assert pressed["text"] == label("support.staff.not_yours")
    await sari.forwards_of(emma, reference)
    await sari.says("/start")
    await sari.sees(like("home.start.text"))
    assert await sari.count(reference) == 2, "their own words alone"
    assert lookups_in_audit_log(shared_system) == before


@session_loop
@pytest.mark.parametrize(
    "button",
    [
        "lu:order:",
        "lu:order:NOSUCH2",
        "lu:person:0",
        "lu:person:-5",
        "lu:person:99999999999999999999",
        "lu:orders:x~0",
        "lu:matters:~",
        "lu:tickets:none~0",
        "lu:find:",
        "lu:find:~~~~~0",
        "lu:find:=~0",
        "lu:find:<b>~0",
        "lu:nothing:1",
        "lu:order:@",
        "lu:order:@12345678901234567890",
        "lu:order:@../../../../platform/stats",
        "lu:proof:@cm7k2jt8x0000qz01abcd%2F",
        "rv:@:ask",
        "rv:@12345678901234567890:ask",
    ],
)
async def test_a_forged_button_of_support_itself_shows_nothing(shared_system: System, button: str) -> None:
    rina = await open_rinas_chat(shared_system)
    await rina.says("/tickets")
    page = await rina.sees(like("support.lookup.tickets.open"))
    pressed = await rina.presses(page, button, force=True)
    assert pressed["text"] == label("support.staff.gone")
