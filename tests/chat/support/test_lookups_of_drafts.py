"""A customer is stuck in an order. Support sees the question, the answers with a masked number, and the refusal."""

import pytest

from tests.e2e.new_users import new_user
from tests.e2e.support.lookups import open_rinas_chat
from tests.e2e.system import System
from tests.texts import label, like, says, text

session_loop = pytest.mark.asyncio(loop_scope="session")
NUMBER = "8620123456"


@session_loop
@pytest.mark.parametrize("language", ["en", "id"])
async def test_support_sees_where_a_customer_is_stuck(shared_system: System, language: str) -> None:
    rina, emma = await open_rinas_chat(shared_system, language), await new_user(shared_system)
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask"))
    await emma.says("BCA")
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.says(f"{NUMBER} is Sari's")
    await emma.sees(like("recipients.number.not_digits"))
    await rina.says(f"/customer {emma.id}")
    page = await rina.sees(like("support.draft.open", language))
    assert says(page["text"], "support.draft.step", language, step=text("support.draft.step.number", language))
    assert text("recipients.number.not_digits", language) in page["text"]
    assert "BCA" in page["text"]
    await emma.says(NUMBER[:-1])
    await emma.sees(like("recipients.number.unusual_length"))
    await rina.taps(label("orders.button.refresh", language), message=page)
    page = await rina.sees(like("support.draft.doubted", language))
    doubt = text("recipients.number.unusual_length", language, method="…", expected=10, actual=9)
    assert doubt in page["text"]
    assert NUMBER[:-1] not in str(page)
    await emma.says(NUMBER)
    await emma.sees(like("checkout.holder.ask"))
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees(like("checkout.amount.ask"))
    await emma.says("1.500")
    await emma.sees(like("checkout.amount.is_it", text="1.500"))
    await rina.taps(label("orders.button.refresh", language), message=page)
    page = await rina.sees(like("support.draft.doubted", language))
    assert text("checkout.amount.which", language, text="…") in page["text"]
    await emma.says("5000")
    await emma.sees(like("orders.amount.below_minimum"))
    await rina.taps(label("orders.button.refresh", language), message=page)
    page = await rina.sees(like("support.draft.step", language, step=text("support.draft.step.amount", language)))
    assert text("orders.amount.below_minimum", language, minimum=20_000) in page["text"], "in the agent's language"
    assert "BCA ••••3456" in page["text"]
    assert NUMBER not in str(page)
    await emma.says("150k")
    await emma.sees(like("checkout.review.title"))
    await rina.taps(label("orders.button.refresh", language), message=page)
    page = await rina.sees(like("support.draft.step", language, step=text("support.draft.step.review", language)))
    assert not says(page["text"], "support.draft.refused", language), "the answer after it was taken"
    await emma.says("/cancel")
    await emma.sees(like("checkout.draft.cancelled"))
    await rina.taps(label("orders.button.refresh", language), message=page)
    page = await rina.sees(like("support.lookup.no_orders", language))
    assert not says(page["text"], "support.draft.open", language)
