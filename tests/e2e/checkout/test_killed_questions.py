"""Stories of typed questions outside an order: they are still open after a restart."""

import re

from tests.e2e.new_users import new_user
from tests.e2e.system import System
from tests.texts import label, like


async def test_a_question_outlives_the_bot(kirim: System) -> None:
    emma = await new_user(kirim)
    await emma.says("/settings")
    await emma.taps(label("users.settings.zone"))
    await emma.taps(label("users.zone.other"))
    await emma.sees(like("users.zone.ask_place"))
    await kirim.kill_bot()
    await emma.says("Berlin")
    await kirim.start_bot()
    asked = await emma.sees(like("users.zone.is_it"))
    assert re.search(r"\d\d:\d\d UTC\+[12] · Berlin", asked["text"])
    await emma.says("/phrase")
    await emma.taps(label("users.phrase.own"))
    await emma.sees(like("users.phrase.ask"))
    await kirim.kill_bot()
    await kirim.start_bot()
    await emma.says("hujan di bulan juni")
    await emma.sees(like("users.phrase.kept", phrase="hujan di bulan juni"))
    assert b"hujan di bulan" not in (kirim.state / "kirim.db").read_bytes()
