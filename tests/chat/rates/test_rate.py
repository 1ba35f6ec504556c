"""`/rate` shows a picture of the recorded rates."""

from pathlib import Path

from tests.chat.system import running_in_process
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.new_users import new_user
from tests.e2e.system import System
from tests.texts import label, like

DAY, WEEK, MONTH = label("rates.button_day"), label("rates.button_week"), label("rates.button_month")


async def test_the_rate_is_a_picture_whose_period_changes_in_place(tmp_path: Path) -> None:
    async with running_in_process(tmp_path, QUOTE_RECORD_SECONDS="10") as kirim:
        await kirim.service.keeps_its_quote()
        emma, sari = await new_user(kirim), await new_user(kirim, "id")
        await emma.says("/rate")
        day = await emma.sees(like("rates.btc", rate="Rp"))
        assert day["photo"]
        assert "Rp100,000 ≈" in text_of(day)
        assert (await emma.buttons())[:3] == [f"· {DAY} ·", WEEK, MONTH]
        await emma.taps(MONTH)
        month = await emma.sees(like("rates.btc", rate="Rp"))
        assert month["message_id"] == day["message_id"]
        assert (await emma.buttons())[:3] == [DAY, WEEK, f"· {MONTH} ·"]
        assert month["photo"][-1]["file_id"] != day["photo"][-1]["file_id"]
        await emma.taps(DAY)
        again = await emma.sees(like("rates.btc", rate="Rp"))
        assert again["photo"][-1]["file_id"] == day["photo"][-1]["file_id"]  # sent by its id
        await sari.says("/rate")
        assert "Rp100.000 ≈" in text_of(await sari.sees(like("rates.btc", "id", rate="Rp")))
        await what_cannot_be_had(kirim, emma)


async def what_cannot_be_had(kirim: System, emma: ChatUser) -> None:
    """A reader of a picture keeps it while the service is down."""
    await kirim.kill_bot()
    await kirim.service.fails_with("503", method="GET", path="/v1/quote")
    await kirim.start_bot()
    toast = await emma.taps(WEEK)
    assert toast["text"] == label("rates.none")
    await emma.says("/rate")
    await emma.sees(like("rates.none"))
    await kirim.service.heals()
