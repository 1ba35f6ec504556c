"""An agent sees a full recipient in private, with a reason, for a minute, and can't forward it."""

from functools import partial

from tests.e2e.faults import calls_of, hold_call
from tests.e2e.support.reveals import an_order, audit_rows, end_minute, is_not_shown, message_to_press
from tests.e2e.system import System
from tests.texts import label, like
from tests.waiting import until


async def test_killed_while_it_is_shown_and_while_it_is_about_to_be_it_is_masked(kirim: System) -> None:
    _, reference = await an_order(kirim)
    for fault in ("delay", "delay_after"):
        await kirim.rina.presses(await message_to_press(kirim.rina), f"rv:{reference}:ask", force=True)
        await kirim.rina.sees(like("support.reveal.ask"))
        async with hold_call(calls_of(kirim, "editMessageText"), kirim.rina, fault):
            await kirim.rina.taps(label("support.reveal.reason_trace"), wait=0)
        await kirim.kill_bot()
        assert await is_not_shown(kirim.rina) is (fault == "delay")
        await kirim.telegram_heals()
        await end_minute(kirim)
        await kirim.start_bot()
        await until(partial(is_not_shown, kirim.rina), what="the mask")
    assert len(audit_rows(kirim, reference)) == 2
