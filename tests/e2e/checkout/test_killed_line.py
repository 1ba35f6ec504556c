"""Stories of a bot killed while it answers one line: nothing is lost or done twice."""

from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import review_pattern
from tests.e2e.system import System
from tests.texts import like

WHOLE = "^" + review_pattern(amount="Rp500,000", bank="BCA · BANK CENTRAL ASIA", number="1234567890", holder="Budi")
REPLACED = like("checkout.draft.replaced")


async def test_kill_9_while_a_line_is_answered_and_an_outage_before_lose_and_double_nothing(kirim: System) -> None:
    emma, sari = await new_user(kirim), await new_user(kirim)
    await kirim.service.fails_with("empty_list", method="GET", path="/v1/payout/methods")
    for line in ("/send 500rb bca 1234567890 Budi", "500rb bca 1234567890 Budi"):
        await emma.says(line)
        await emma.sees("^" + like("checkout.one_line.unread"))
    await emma.sees_times(2, like("checkout.one_line.unread"))
    await kirim.service.heals()
    answers = calls_of(kirim, "sendMessage")
    async with hold_call(answers, emma), hold_call(answers, sari, "delay_after"):
        await emma.says("500rb bca 1234567890 Budi")
        await sari.says("/send 1.500 bca 1234567890 Budi, hello")
    await kill_and_restart(kirim)
    await emma.sees(WHOLE)
    await sari.sees_times(
        2,
        f"(?s)BCA · 1234567890.*{like('checkout.one_line.leftover', text='hello')}"
        f".*{like('checkout.amount.is_it', text='1.500')}",
    )
    assert await emma.count(f"{like('home.start.text')}|{REPLACED}") == await sari.count(REPLACED) == 0
    await sari.taps("Rp1,500,000")
    await sari.sees(review_pattern(amount="Rp1,500,000"))
