"""Paying with bitcoin-backed tokens: offered when there are rails, and shown so that nothing gets lost."""

import asyncio
import re

import pytest
import zxingcpp

from tests.contract.telegram_pictures import as_image
from tests.e2e.people import Newcomer, newcomer, order_of, taps_to_review
from tests.e2e.world import Chatter, Json, World

pytestmark = pytest.mark.asyncio(loop_scope="session")

CBBTC, BTCB = "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf", "0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c"


async def test_a_deposit_is_shown_as_a_whole_transfer_and_as_its_parts(town: World) -> None:
    await asyncio.gather(
        pays_with(town, "cbBTC on Base", "Base", CBBTC, 8453, 1),
        pays_with(town, "BTCB on BNB Chain", "BNB Chain", BTCB, 56, 10**10),
    )


async def pays_with(  # noqa: PLR0917  each a fact of the token
    town: World, label: str, network: str, contract: str, chain: int, units_a_sat: int
) -> None:
    emma = await newcomer(town)
    await chooses(emma, label)
    await emma.taps("Confirm and get the address")
    shown = await emma.sees("Send exactly")
    sats, to = facts_of(shown)
    amount = f"{sats / 1e8:.8f}".rstrip("0")
    for part in (
        f"{amount} {label.split(maxsplit=1)[0]}",
        f"on {network} (chain {chain})",
        contract,
        "anything else is lost",
        "Pay until ",
    ):
        assert part in shown["caption"]
    payload = zxingcpp.read_barcodes(as_image(await emma.scans(shown)))[0].text
    assert payload == f"ethereum:{contract}@{chain}/transfer?address={to}&uint256={sats * units_a_sat}"
    copies = [button["copy_text"]["text"] for row in shown["reply_markup"]["inline_keyboard"] for button in row]
    assert copies == [to, amount]
    await emma.sees("Waiting for your payment, until", anywhere=True)
    order = await order_of(town, emma)
    assert (order["satAmount"], order["depositChainId"]) == (sats, chain)
    await town.service.pays(order)
    await emma.sees("Payment received at")
    await emma.sees_times(0, "Send exactly")


async def test_tokens_of_another_contract_are_never_shown_and_staff_hear_of_it(town: World) -> None:
    oscar, emma = Chatter(town.telegram, 2001), await newcomer(town)
    await oscar.says("/start")
    await chooses(emma, "cbBTC on Base")
    await town.service.does("settings", wrongDeposit="contract")
    await emma.taps("Confirm and get the address")
    await emma.sees("This order can't be paid")
    await oscar.sees("An invoice was not shown")
    assert await emma.count("Send exactly") == 0


async def chooses(person: Newcomer, label: str) -> None:
    """On to a review with this way to pay."""
    await taps_to_review(person)
    await person.taps("Way to pay")
    await person.sees("How would you like to pay")
    assert "● Lightning" in await person.buttons()
    await person.taps(label)
    await person.sees(f"You pay: about [0-9,]+ sats · {label}")


def facts_of(shown: Json) -> tuple[int, str]:
    """The sats and the address of a caption."""
    sats = re.search(r"\(([0-9,]+) sats\)", shown["caption"])
    to = re.search(r"to (0x[0-9a-fA-F]{40})", shown["caption"])
    assert sats is not None
    assert to is not None
    return int(sats[1].replace(",", "")), to[1]
