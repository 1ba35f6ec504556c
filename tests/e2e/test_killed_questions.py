"""A question whose answer is typed, outside of an order, is still open when the bot comes back."""

from tests.e2e.people import newcomer
from tests.e2e.world import World


async def test_a_question_outlives_the_bot(kirim: World) -> None:
    emma = await newcomer(kirim)
    await emma.says("/settings")
    await emma.taps("Time zone")
    await emma.taps("Another place")
    await emma.sees("Where are you")
    await kirim.kill_bot()
    await emma.says("Berlin")
    await kirim.start_bot()
    await emma.sees(r"It is now \d\d:\d\d UTC\+[12] · Berlin")
    await emma.says("/phrase")
    await emma.taps("My own words")
    await emma.sees("Which words")
    await kirim.kill_bot()
    await kirim.start_bot()
    await emma.says("hujan di bulan juni")
    await emma.sees("hujan di bulan juni is your phrase now")
    assert b"hujan di bulan" not in (kirim.state / "kirim.db").read_bytes()
