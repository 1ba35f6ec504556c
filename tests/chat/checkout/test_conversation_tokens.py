"""Stories of payments with bitcoin-backed tokens: when they are offered, and how the deposit is shown."""

import asyncio
import re
from decimal import Decimal

import pytest

from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import order_of, tap_to_review, type_to_review
from tests.e2e.system import System
from tests.pictures import qr_texts
from tests.texts import label, like, says

pytestmark = pytest.mark.asyncio(loop_scope="session")

CBBTC, BTCB = "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf", "0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c"
SUM = re.compile(r"0\.[0-9]+ (?:cbBTC on Base|BTCB on BNB Chain)")
DEPOSIT = like(
    "orders.pay.deposit", amount=re.compile(r"(?P<amount>0\.[0-9]+)"), address=re.compile("(?P<to>0x[0-9a-fA-F]{40})")
)


async def test_a_deposit_is_shown_as_a_whole_transfer_and_as_its_parts(shared_system: System) -> None:
    await asyncio.gather(
        pays_with(shared_system, label("payments.channel.cbbtc"), "cbBTC", "Base", CBBTC, 8453, 1),
        pays_with(shared_system, label("payments.channel.btcb"), "BTCB", "BNB Chain", BTCB, 56, 10**10),
    )


async def pays_with(  # noqa: PLR0917  each a fact of the token
    shared_system: System, channel: str, symbol: str, network: str, contract: str, chain: int, units_a_sat: int
) -> None:
    emma = await new_user(shared_system)
    await chooses(emma, channel)
    await emma.taps(label("checkout.review.confirm_deposit"))
    shown = await emma.sees(like("orders.pay.deposit"))
    sats, to = facts_of(shown)
    amount = f"{sats / 1e8:.8f}".rstrip("0")
    facts = {"amount": amount, "symbol": symbol, "network": network, "chain_id": str(chain), "contract": contract}
    assert re.search(like("orders.pay.deposit", "en", **facts), shown["caption"])
    assert says(shown["caption"], "orders.pay.until")
    payload = qr_texts(await emma.scans(shown))[0]
    assert payload == f"ethereum:{contract}@{chain}/transfer?address={to}&uint256={sats * units_a_sat}"
    buttons = [button for row in shown["reply_markup"]["inline_keyboard"] for button in row]
    copies = [button["copy_text"]["text"] for button in buttons if "copy_text" in button]
    assert copies == [to, amount]
    await emma.sees(like("orders.status_message.waiting"), anywhere=True)
    order = await order_of(shared_system, emma)
    assert (order["satAmount"], order["depositChainId"]) == (sats, chain)
    await shared_system.service.pays(order)
    await emma.sees(like("orders.notification.paid"))
    await emma.sees_times(0, like("orders.pay.deposit"))


async def chooses(user: ChatUser, channel: str) -> None:
    """Go to the review with this way to pay."""
    await tap_to_review(user)
    await user.taps(label("checkout.review.use_way", way=channel.split(maxsplit=1)[0]))
    await user.sees(like("checkout.review.figures", pay=re.compile(rf"0\.[0-9]+ {channel}")))


def facts_of(shown: Json) -> tuple[int, str]:
    """Return the sats and the address in a caption."""
    facts = re.search(DEPOSIT, shown["caption"])
    assert facts is not None
    return int(Decimal(facts["amount"]).scaleb(8)), facts["to"]


async def test_the_last_way_to_pay_and_the_last_amount_are_kept_for_the_recipient(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await type_to_review(emma, amount="275rb")
    await emma.taps(label("checkout.review.use_way", way="cbBTC"))
    await emma.taps(label("checkout.review.confirm_deposit"))
    await emma.sees(like("orders.pay.deposit"))
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask_again"))
    await emma.taps("BCA ••••")
    await emma.sees(like("checkout.amount.ask"))
    first, second, *_ = await emma.buttons()
    assert re.fullmatch(r"Rp275,000 ≈ 0\.[0-9]+ cbBTC", first)
    assert re.fullmatch(r"Rp50,000 ≈ 0\.[0-9]+ cbBTC", second)
    await emma.taps("Rp275,000")
    await emma.sees(like("checkout.review.figures", pay=SUM))
    await emma.taps(label("checkout.review.use_way", way="Lightning"))
    await emma.sees(like("checkout.review.figures", pay=re.compile("about [0-9,]+ sats · Lightning")))
    await emma.says("500rb bca 9876543210")  # another recipient is paid as the last review said
    await emma.sees(like("checkout.review.figures", pay=re.compile("about [0-9,]+ sats · Lightning")))
    await emma.says("/send 300rb bca 1234567890")
    await emma.sees(like("checkout.review.figures", pay=SUM))
