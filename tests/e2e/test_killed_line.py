"""A line that is answered in bad weather: nothing of it is lost, and nothing is done twice."""

from tests.e2e.people import newcomer
from tests.e2e.trouble import calls_of, held, killed_and_restarted
from tests.e2e.world import World

WHOLE = r"(?s)^Please check\n\nArrives: Rp500,000\nAt: BCA .*Number: 1234567890\nName: Budi"


async def test_kill_9_while_a_line_is_answered_and_an_outage_before_lose_and_double_nothing(kirim: World) -> None:
    emma, sari = await newcomer(kirim), await newcomer(kirim)
    await kirim.service.fails_with("empty_list", method="GET", path="/v1/payout/methods")
    for line in ("/send 500rb bca 1234567890 Budi", "500rb bca 1234567890 Budi"):
        await emma.says(line)
        await emma.sees("^The service can't be reached right now, so I couldn't read that order")
    await emma.sees_times(2, "I couldn't read that order")
    await kirim.service.heals()
    answers = calls_of(kirim, "sendMessage")
    async with held(answers, emma), held(answers, sari, "delay_after"):
        await emma.says("500rb bca 1234567890 Budi")
        await sari.says("/send 1.500 bca 1234567890 Budi, hello")
    await killed_and_restarted(kirim)
    await emma.sees(WHOLE)
    await sari.sees_times(2, "(?s)BCA · 1234567890.*I didn't understand “Budi hello”.*“1.500” can be read")
    assert await emma.count("Kirim sends rupiah|put aside") == await sari.count("put aside") == 0
    await sari.taps("Rp1,500,000")
    await sari.sees("(?s)Please check.*Rp1,500,000")
