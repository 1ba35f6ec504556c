"""Whom one has sent to before: offered first, named, corrected, deleted, and nobody else's."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from tests.e2e.people import Newcomer, completes, newcomer, order_of
from tests.e2e.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def has_sent(town: World) -> Newcomer:
    """Somebody who has ordered once: to Budi Santoso, at BCA, 1234567890."""
    person = await newcomer(town)
    await person.says("/send 500rb bca 1234567890 Budi Santoso")
    await person.sees("Please check")
    await person.taps("Confirm")
    await person.sees("Waiting for your payment, until")
    return person


async def opens(person: Newcomer, label: str) -> None:
    """To the page of one recipient."""
    await person.says("/recipients")
    await person.sees("Your recipients")
    await person.taps(label)
    await person.sees("Number: 1234567890")


async def is_called(person: Newcomer, before: str, name: str) -> None:
    """Give a recipient a name."""
    await opens(person, before)
    await person.taps("Give a name")
    await person.sees("What do you call this recipient")
    await person.says(name)
    await person.sees(f"^Saved as “{name}”")


def its_bank_was(town: World, person: Newcomer, name: str) -> None:
    """Make it seem that this person's recipients are at a bank of this name, which the live list doesn't have."""
    with closing(sqlite3.connect(town.state / "kirim.db", timeout=10)) as database:
        change = "UPDATE recipients SET method = json_set(method, '$.name', ?) WHERE person_id = ?"
        changed = database.execute(change, (name, person.id)).rowcount
        database.commit()
    assert changed == 1


async def the_last_recipient_is_one_tap_and_is_asked_nothing_but_the_sum(town: World) -> None:
    emma = await has_sent(town)
    await emma.says("/send")
    await emma.sees("Where should it go\\?\nChoose somebody you have sent to")
    assert (await emma.buttons())[0] == "Budi Santoso · BCA ••••7890"
    await emma.taps("Budi Santoso")
    await emma.sees("BCA · 1234567890 · Budi Santoso\n\nHow much")
    await emma.says("75rb")
    await emma.sees("(?s)Please check.*Rp75,000.*1234567890.*Budi Santoso")
    await emma.taps("Confirm")
    await emma.sees("Waiting for your payment, until")
    await emma.says("/recipients")
    await emma.sees("Your recipients")
    assert await emma.buttons() == ["Budi Santoso · BCA ••••7890"]  # sent to twice, kept once


async def the_holders_name_of_an_earlier_order_is_reused_where_its_number_is_typed(town: World) -> None:
    emma = await has_sent(town)
    await emma.says("/send")
    await emma.sees("Where should it go")
    await emma.says("bca")
    await emma.sees("Which account number")
    await emma.says("123-456 7890")
    await emma.sees("^BCA · 1234567890 · Budi Santoso\n\nHow much")
    await emma.taps("Back")
    await emma.sees("Whose account")
    await emma.taps("Skip")
    await emma.sees("^BCA · 1234567890\n\nHow much")


async def a_name_of_ones_own_finds_the_recipient_by_typing(town: World) -> None:
    emma = await has_sent(town)
    await is_called(emma, "Budi Santoso", "Ibu <b>&</b> Co")
    assert "Another name" in await emma.buttons()
    for typed in ("IBU <b>&</b> co", "ibu"):
        await emma.says("/send")
        await emma.sees("Where should it go")
        assert (await emma.buttons())[0] == "Ibu <b>&</b> Co · BCA ••••7890"
        await emma.says(typed)
        await emma.sees("^BCA · 1234567890 · Budi Santoso\n\nHow much")
        await emma.says("/cancel")
        await emma.sees("Cancelled")


async def a_name_that_is_a_banks_as_well_is_asked_back(town: World) -> None:
    emma = await has_sent(town)
    await is_called(emma, "Budi Santoso", "Dana")
    await emma.says("/send")
    await emma.sees("Where should it go")
    await emma.says("dana")
    await emma.sees("Which one do you mean by “dana”")
    assert (await emma.buttons())[:2] == ["Dana · BCA ••••7890", "DANA"]
    await emma.taps("DANA")
    await emma.sees("Which mobile number")


async def names_are_checked_changed_and_taken_away(town: World) -> None:
    emma = await has_sent(town)
    await opens(emma, "Budi Santoso")
    await emma.taps("Give a name")
    await emma.sees("What do you call this recipient")
    await emma.says("x" * 41)
    await emma.sees("(?s)41 characters, and 40 is the most.*What do you call")
    await emma.says("two\nlines")
    await emma.sees("(?s)on one line.*What do you call")
    await emma.says("Mama ❤")
    await emma.sees("^Saved as “Mama ❤”")
    await emma.taps("Another name")
    await emma.taps("Take the name away")
    await emma.sees("(?s)^The name is gone.*Budi Santoso\n\nAt: ")
    await emma.taps("Holder's name")
    await emma.sees("Whose account is it")
    await emma.says("12345")
    await emma.sees("(?s)doesn't look like a name.*Whose account")
    await emma.says("Siti Aminah")
    await emma.sees("(?s)^Changed.*Name: Siti Aminah")
    await emma.taps("Send to this recipient")
    await emma.sees("BCA · 1234567890 · Siti Aminah\n\nHow much")


async def a_deleted_recipient_is_gone_and_its_buttons_say_so(town: World) -> None:
    emma = await has_sent(town)
    await opens(emma, "Budi Santoso")
    message, send = await emma.button("Send to this recipient")
    await emma.taps("Delete")
    await emma.sees("Delete this recipient")
    await emma.taps("Back")
    await emma.sees("Number: 1234567890")
    await emma.taps("Delete")
    await emma.sees("Delete this recipient")
    await emma.taps("Yes, delete")
    await emma.sees("^Deleted.\n\nNobody here yet")
    assert "has been deleted" in (await emma.presses(message, send, force=True))["text"]
    await emma.sees("^That recipient has been deleted.\n\nNobody here yet")
    await emma.says("/send")
    await emma.sees("Where should it go\\?\nType a name")
    assert "Budi" not in str(await emma.buttons())


async def a_strangers_recipient_cannot_be_seen_used_or_changed(town: World) -> None:
    emma, sari = await asyncio.gather(has_sent(town), newcomer(town))
    await opens(emma, "Budi Santoso")
    _, send = await emma.button("Send to this recipient")
    await sari.says("/start")
    welcome = await sari.sees("Kirim sends rupiah")
    for action in ("page", "send", "name", "holder", "forget"):
        told = await sari.presses(welcome, send.replace("send", action), force=True)
        assert told["text"] == "That recipient has been deleted."
        assert not any("1234567890" in words or "Budi" in words for words in await sari.reads(last=9))
    await sari.says("/send")
    await sari.sees("Where should it go")
    where, _ = await sari.button("BCA")
    _, pick = await sari.button("BCA")
    stolen = pick.partition(":pick:")[0] + ":again:" + send.split(":")[1]
    await sari.presses(where, stolen, force=True)
    await sari.sees("^That recipient has been deleted.\n\nWhere should it go")
    await opens(emma, "Budi Santoso")


async def a_recipient_whose_bank_has_left_the_list_is_said_to_be_out_of_reach(town: World) -> None:
    emma = await has_sent(town)
    await emma.says("/send")
    await emma.sees("Where should it go")
    its_bank_was(town, emma, "BANK OF YORE")
    await emma.taps("Budi Santoso")
    await emma.sees("(?s)^BANK OF YORE isn't on the list of destinations any more.*Where should it go")
    await opens(emma, "Budi Santoso")
    await emma.taps("Send to this recipient")
    await emma.sees("(?s)^BANK OF YORE isn't on the list of destinations any more.*Where should it go")


async def sending_to_one_from_the_list_puts_an_open_draft_aside_once(town: World) -> None:
    emma = await has_sent(town)
    await emma.says("/send")
    await emma.sees("Where should it go")
    await emma.says("gopay")
    await emma.sees("Which mobile number")
    await opens(emma, "Budi Santoso")
    assert "Continue" in await emma.buttons()
    message, send = await emma.button("Send to this recipient")
    await emma.presses(message, send)
    await emma.sees("^Your unfinished order was put aside for this one.\n\nBCA · 1234567890 · Budi Santoso\n\nHow much")
    await emma.presses(message, send, force=True)
    await emma.sees("^BCA · 1234567890 · Budi Santoso\n\nHow much")


async def after_the_first_order_a_name_is_offered_and_only_then(town: World) -> None:
    emma = await has_sent(town)
    order = await order_of(town, emma)
    await town.service.pays(order)
    await completes(town, order)
    sent = await emma.sees("The rupiah have been sent to the bank.* They usually show in the account")
    await emma.taps("Give the recipient a name", message=sent)
    await emma.sees("^Budi Santoso · BCA ••••7890\n\nWhat do you call this recipient")
    assert await emma.finds(sent) == sent  # news is never written over
    await emma.says("Ibu")
    await emma.sees("^Saved as “Ibu”")
    await emma.says("/send 500rb ibu")
    await emma.sees("Please check")
    await emma.taps("Confirm")
    await emma.sees("Waiting for your payment, until")
    second = await order_of(town, emma)
    await town.service.pays(second)
    await completes(town, second)
    again = await emma.sees("The rupiah have been sent to the bank.* They usually show in the account")
    assert "Give the recipient a name" not in await emma.labels_of(again)


async def test_who_was_sent_to_before_is_offered_first_under_names_of_ones_own(town: World) -> None:
    await asyncio.gather(
        the_last_recipient_is_one_tap_and_is_asked_nothing_but_the_sum(town),
        the_holders_name_of_an_earlier_order_is_reused_where_its_number_is_typed(town),
        a_recipient_whose_bank_has_left_the_list_is_said_to_be_out_of_reach(town),
        sending_to_one_from_the_list_puts_an_open_draft_aside_once(town),
        after_the_first_order_a_name_is_offered_and_only_then(town),
        a_name_of_ones_own_finds_the_recipient_by_typing(town),
        a_name_that_is_a_banks_as_well_is_asked_back(town),
        names_are_checked_changed_and_taken_away(town),
    )


async def test_a_recipient_is_its_owners_alone_and_gone_when_deleted(town: World) -> None:
    await asyncio.gather(
        a_deleted_recipient_is_gone_and_its_buttons_say_so(town),
        a_strangers_recipient_cannot_be_seen_used_or_changed(town),
    )
