"""Whoever isn't support finds nothing, and support itself nothing by a button that was made up."""

import pytest

from tests.e2e.looking_up import COMMANDS, looked, orders, rina_of
from tests.e2e.people import newcomer
from tests.e2e.world import World
from tests.texts import label, like

session_loop = pytest.mark.asyncio(loop_scope="session")


@session_loop
async def test_nobody_else_finds_anything_by_command_button_or_forwarding(shared_world: World) -> None:
    emma, sari = await newcomer(shared_world), await newcomer(shared_world)
    reference, order = await orders(shared_world, emma)
    before = looked(shared_world)
    await sari.says("/start")
    greeting = await sari.sees(like("start.text"))
    known = {"reference": reference, "service_id": order["id"], "user": emma.id}
    for command in COMMANDS:
        await sari.says(command.format(**known))
        await sari.sees(like("talk.unknown_command"))
    for button in (f"lu:order:{reference}", f"lu:person:{emma.id}", f"lu:like:{reference[:4]}~0", "lu:tickets:open~0"):
        pressed = await sari.presses(greeting, button, force=True)
        assert pressed["text"] == label("staff.not_yours")
    await sari.forwards_of(emma, reference)
    await sari.says("/start")
    await sari.sees(like("start.text"))
    assert await sari.count(reference) == 2, "their own words alone"
    assert looked(shared_world) == before


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
        "lu:find:014~zzzzzzzzzzzzzzzzzzzz~~~~0",
        "lu:find:014~~~zzzzzzzzzzzz~~0",
        "lu:nothing:1",
        "lu:find:014~-1~~~~0",
    ],
)
async def test_a_forged_button_of_support_itself_shows_nothing(shared_world: World, button: str) -> None:
    rina = await rina_of(shared_world)
    await rina.says("/tickets")
    page = await rina.sees(like("lookup.tickets.open"))
    pressed = await rina.presses(page, button, force=True)
    assert pressed["text"] == label("staff.gone")
