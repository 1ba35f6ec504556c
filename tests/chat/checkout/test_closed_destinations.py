"""Stories of listed destinations that take no orders: they stay listed, and users read why and choose another."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.chat.payment_requests.test_asking import NUMBER
from tests.chat.payment_requests.test_paying import a_link, an_open_link
from tests.chat.system import running_in_process
from tests.e2e.chat_user import ChatUser
from tests.e2e.new_users import new_user
from tests.e2e.system import System
from tests.texts import label, like

UNREADABLE, NOTHING = "orders.closed.unreadable", "orders.closed.nothing"


@pytest.fixture
async def system(tmp_path: Path) -> AsyncIterator[System]:
    """A system with a list of its own, which is read again for each question."""
    async with running_in_process(tmp_path) as made:
        yield made


async def chooses_again(user: ChatUser, why: str, name: str, question: str = "checkout.destination.ask") -> None:
    await user.sees(f"{like(why, name=name)}\n\n{like(question)}")


async def test_a_closed_destination_is_listed_and_says_why_it_takes_no_order(system: System) -> None:
    service, emma = system.service, await new_user(system)
    await service.lists_method("014", maxAmountTransfer="50.000")
    await service.lists_method("008", maxAmountTransfer=0)
    await service.lists_method("ovo", kind="qris")
    await service.lists_method("gopay", maxAmountTransfer="50,000,000")
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask"))
    await emma.taps("BCA")
    await chooses_again(emma, UNREADABLE, "BCA")
    await emma.says("mandiri")
    await chooses_again(emma, NOTHING, "Mandiri")
    await emma.taps(label("checkout.destination.kind.other"))
    await emma.sees(like("checkout.destination.ask"))
    await emma.taps("OVO")
    await chooses_again(emma, UNREADABLE, "OVO")
    await emma.says(f"500rb bca {NUMBER}")
    await emma.sees(f"{like(UNREADABLE, name='BCA')}\n\n{like('checkout.destination.ask')}")
    await emma.says("gopay")
    await emma.sees(like("checkout.number.ask_ewallet"))
    await emma.says("081234567890")
    await emma.sees(like("checkout.holder.ask"))
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees(like("checkout.review.title"))
    await service.lists_method("gopay", maxAmountTransfer="no idea")
    await emma.taps(label("checkout.review.confirm"))
    await chooses_again(emma, UNREADABLE, "GoPay")
    assert await service.orders() == []


async def test_a_link_to_a_closed_destination_takes_no_order_and_says_why(system: System) -> None:
    service, sari, emma = system.service, await new_user(system), await new_user(system)
    fixed, open_sum = await a_link(sari), await an_open_link(sari)
    await service.lists_method("014", maxAmountTransfer="50,000")
    await emma.says(f"/start {fixed}")
    await emma.sees(like("payment_requests.pay.trust"))  # of a list that was read a moment before
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like(UNREADABLE, name="BCA"))
    assert label("checkout.review.confirm") not in await emma.buttons()
    await emma.says(f"/start {open_sum}")
    await emma.sees(like("payment_requests.pay.ask_amount"))
    await emma.says("50rb")
    await emma.sees(like(UNREADABLE, name="BCA"))
    assert await service.orders() == []
