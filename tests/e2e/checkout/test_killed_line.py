"""A line that is answered in bad weather: nothing of it is lost, and nothing is done twice."""

from tests.e2e.people import newcomer, reviewed
from tests.e2e.trouble import calls_of, held, killed_and_restarted
from tests.e2e.world import World
from tests.texts import like

WHOLE = "^" + reviewed(amount="Rp500,000", bank="BCA · BANK CENTRAL ASIA", number="1234567890", holder="Budi")
REPLACED = like("draft.replaced")


async def test_kill_9_while_a_line_is_answered_and_an_outage_before_lose_and_double_nothing(kirim: World) -> None:
    emma, sari = await newcomer(kirim), await newcomer(kirim)
    await kirim.service.fails_with("empty_list", method="GET", path="/v1/payout/methods")
    for line in ("/send 500rb bca 1234567890 Budi", "500rb bca 1234567890 Budi"):
        await emma.says(line)
        await emma.sees("^" + like("oneline.unread"))
    await emma.sees_times(2, like("oneline.unread"))
    await kirim.service.heals()
    answers = calls_of(kirim, "sendMessage")
    async with held(answers, emma), held(answers, sari, "delay_after"):
        await emma.says("500rb bca 1234567890 Budi")
        await sari.says("/send 1.500 bca 1234567890 Budi, hello")
    await killed_and_restarted(kirim)
    await emma.sees(WHOLE)
    await sari.sees_times(
        2, f"(?s)BCA · 1234567890.*{like('oneline.leftover', text='hello')}.*{like('amount.which', text='1.500')}"
    )
    assert await emma.count(f"{like('start.text')}|{REPLACED}") == await sari.count(REPLACED) == 0
    await sari.taps("Rp1,500,000")
    await sari.sees(reviewed(amount="Rp1,500,000"))
