"""Saved recipients: offered first, named, corrected, deleted, and never shown to other users."""

import asyncio
from dataclasses import replace

import pytest

from bot.recipients.repository import RecipientRepository
from tests.e2e.bot_database import open_transaction
from tests.e2e.chat_user import ChatUser
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, order_of, review_pattern
from tests.e2e.system import System
from tests.texts import label, like

pytestmark = pytest.mark.asyncio(loop_scope="session")

TO_BUDI = like("checkout.amount.ask", recipient="BCA · 1234567890 · Budi Santoso")


async def has_sent(shared_system: System) -> ChatUser:
    """Return a new user who has ordered once: to Budi Santoso, at BCA, 1234567890."""
    user = await new_user(shared_system)
    await user.says("/send 500rb bca 1234567890 Budi Santoso")
    await user.sees(like("checkout.review.title"))
    await user.taps(label("checkout.review.confirm"))
    await user.sees(like("orders.status_message.waiting"))
    return user


async def opens(user: ChatUser, label: str) -> None:
    """Open the page of one recipient."""
    await user.says("/recipients")
    await user.sees(like("recipients.list.ask"))
    await user.taps(label)
    await user.sees(like("recipients.page", number="1234567890"))


async def is_called(user: ChatUser, before: str, name: str) -> None:
    """Give a recipient a name."""
    await opens(user, before)
    await user.taps(label("recipients.name"))
    await user.sees(like("recipients.ask_name"))
    await user.says(name)
    await user.sees("^" + like("recipients.named", label=name))


async def its_bank_was(shared_system: System, user: ChatUser, name: str) -> None:
    """Move this user's recipient to a bank of this name, which the live list doesn't have."""
    async with open_transaction(shared_system) as tx:
        (known,) = await RecipientRepository(tx).find_by_user(user.id)
        await RecipientRepository(tx).save(replace(known, method=replace(known.method, name=name)))


async def the_last_recipient_is_one_tap_and_is_asked_nothing_but_the_sum(shared_system: System) -> None:
    emma = await has_sent(shared_system)
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask_again"))
    assert (await emma.buttons())[0] == "Budi Santoso · BCA ••••7890"
    await emma.taps("Budi Santoso")
    await emma.sees(TO_BUDI)
    await emma.says("75rb")
    await emma.sees(review_pattern(amount="Rp75,000", number="1234567890", holder="Budi Santoso"))
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    await emma.says("/recipients")
    await emma.sees(like("recipients.list.ask"))
    assert await emma.buttons() == ["Budi Santoso · BCA ••••7890"]  # sent to twice, saved once


async def the_holders_name_of_an_earlier_order_is_reused_where_its_number_is_typed(shared_system: System) -> None:
    emma = await has_sent(shared_system)
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask_again"))
    await emma.says("bca")
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.says("123-456 7890")
    await emma.sees(f"^{TO_BUDI}")
    await emma.taps(label("users.button.back"))
    await emma.sees(like("checkout.holder.ask"))
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees("^" + like("checkout.amount.ask", recipient="BCA · 1234567890"))


async def a_name_of_ones_own_finds_the_recipient_by_typing(shared_system: System) -> None:
    emma = await has_sent(shared_system)
    await is_called(emma, "Budi Santoso", "Ibu <b>&</b> Co")
    assert label("recipients.rename") in await emma.buttons()
    for typed in ("IBU <b>&</b> co", "ibu"):
        await emma.says("/send")
        await emma.sees(like("checkout.destination.ask_again"))
        assert (await emma.buttons())[0] == "Ibu <b>&</b> Co · BCA ••••7890"
        await emma.says(typed)
        await emma.sees(f"^{TO_BUDI}")
        await emma.says("/cancel")
        await emma.sees(like("checkout.draft.cancelled"))


async def names_are_checked_changed_and_taken_away(shared_system: System) -> None:
    emma = await has_sent(shared_system)
    await opens(emma, "Budi Santoso")
    await emma.taps(label("recipients.name"))
    await emma.sees(like("recipients.ask_name"))
    await emma.says("x" * 41)
    await emma.sees(f"{like('recipients.name_too_long', actual=41, longest=40)}\n\n{like('recipients.ask_name')}")
    await emma.says("two\nlines")
    await emma.sees(f"{like('recipients.holder.one_line')}\n\n{like('recipients.ask_name')}")
    await emma.says("Mama ❤")
    await emma.sees("^" + like("recipients.named", label="Mama ❤"))
    await emma.taps(label("recipients.rename"))
    await emma.taps(label("recipients.unname"))
    await emma.sees(f"^{like('recipients.unnamed')}\n\n{like('recipients.page', title='Budi Santoso')}")
    await emma.taps(label("recipients.edit_holder"))
    await emma.sees(like("recipients.ask_holder"))
    await emma.says("12345")
    await emma.sees(f"{like('recipients.holder.not_a_name')}\n\n{like('recipients.ask_holder')}")
    await emma.says("Siti Aminah")
    await emma.sees(f"^{like('recipients.held')}\n\n{like('recipients.page', holder='Siti Aminah')}")
    await emma.taps(label("recipients.send"))
    await emma.sees(like("checkout.amount.ask", recipient="BCA · 1234567890 · Siti Aminah"))


async def a_deleted_recipient_is_gone_and_its_buttons_say_so(shared_system: System) -> None:
    emma = await has_sent(shared_system)
    await opens(emma, "Budi Santoso")
    message, send = await emma.button(label("recipients.send"))
    await emma.taps(label("recipients.delete"))
    await emma.sees(like("recipients.ask_delete"))
    await emma.taps(label("users.button.back"))
    await emma.sees(like("recipients.page", number="1234567890"))
    await emma.taps(label("recipients.delete"))
    await emma.sees(like("recipients.ask_delete"))
    await emma.taps(label("recipients.delete_sure"))
    await emma.sees(f"^{like('recipients.deleted')}\n\n{like('recipients.list.none')}")
    assert (await emma.presses(message, send, force=True))["text"] == label("recipients.gone")
    await emma.sees(f"^{like('recipients.gone')}\n\n{like('recipients.list.none')}")
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask"))
    assert "Budi" not in str(await emma.buttons())


async def after_the_first_order_a_name_is_offered_and_only_then(shared_system: System) -> None:
    emma = await has_sent(shared_system)
    order = await order_of(shared_system, emma)
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    sent = await emma.sees(like("orders.notification.sent_bank"))
    await emma.taps(label("recipients.offer"), message=sent)
    await emma.sees("^" + like("recipients.ask_name", who="Budi Santoso · BCA ••••7890"))
    assert await emma.finds(sent) == sent  # a notification is never replaced
    await emma.says("Ibu")
    await emma.sees("^" + like("recipients.named", label="Ibu"))
    await emma.says("/send 500rb ibu")
    await emma.sees(like("checkout.review.title"))
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    second = await order_of(shared_system, emma)
    await shared_system.service.pays(second)
    await complete_order(shared_system, second)
    again = await emma.sees(like("orders.notification.sent_bank"))
    assert label("recipients.offer") not in await emma.labels_of(again)


async def test_who_was_sent_to_before_is_offered_first_under_names_of_ones_own(shared_system: System) -> None:
    await asyncio.gather(
        the_last_recipient_is_one_tap_and_is_asked_nothing_but_the_sum(shared_system),
        the_holders_name_of_an_earlier_order_is_reused_where_its_number_is_typed(shared_system),
        after_the_first_order_a_name_is_offered_and_only_then(shared_system),
        a_name_of_ones_own_finds_the_recipient_by_typing(shared_system),
        names_are_checked_changed_and_taken_away(shared_system),
    )


async def test_a_recipient_is_its_owners_alone_and_gone_when_deleted(shared_system: System) -> None:
    await asyncio.gather(
        a_deleted_recipient_is_gone_and_its_buttons_say_so(shared_system),
    )
