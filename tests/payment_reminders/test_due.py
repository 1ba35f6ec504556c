"""Payment reminders on a real database: once on their day, and none for who doesn't answer, has blocked or deleted."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.app import build_declared
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.ui.screen import Screen
from bot.payment_reminders.model import MAX_REMINDERS, MAX_UNANSWERED, WEEKDAYS, PaymentReminder
from bot.payment_reminders.notifications import ReminderNotification, ReminderPayload, show_due
from bot.payment_reminders.service import EVERY_SECONDS, ReminderService
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.recipients.model import SavedRecipient
from bot.recipients.repository import RecipientRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.orders.order_system import EMMA, SARI, OrderSystem
from tests.recipients.builders import a_recipient
from tests.rendering import context_for
from tests.settlement.fake_settlement import BEGINNING
from tests.texts import readable

JAKARTA = ZoneInfo("Asia/Jakarta")
FRIDAY = (BEGINNING + timedelta(days=6)).date()
WEEK = timedelta(days=7)
HOUR = 8


def friday(hour: int, minute: int = 0, weeks: int = 0) -> datetime:
    """Return a time in Jakarta on the first Friday, or weeks after it."""
    return datetime.combine(FRIDAY + weeks * WEEK, time(hour, minute), JAKARTA).astimezone(UTC)


@dataclass
class ReminderSystem:
    """The service of one process, with the outbox."""

    system: OrderSystem
    service: ReminderService

    async def add(self, user_id: int = EMMA, day: str = "fri", **changes: str) -> PaymentReminder | None:
        """Save a user with a recipient, and a reminder of Rp500,000."""
        user = User(id=user_id, created_at=BEGINNING, language_code="en", **changes)  # type: ignore[arg-type]
        recipient = recipient_of(user_id)
        async with self.system.sql.transaction() as tx:
            await UserRepository(tx).save(user)
            await RecipientRepository(tx).save(recipient)
        return await self.service.add(user, recipient, 500_000, day)

    async def pass_to(self, moment: datetime) -> float:
        """Set the clock, queue what is due, and send it."""
        self.system.clock.at = moment
        pause = await self.service.queue_due()
        await self.system.deliver()
        return pause

    def count(self, user_id: int = EMMA) -> int:
        """Return how many reminders a user has got."""
        return self.system.sender.kinds(user_id).count(ReminderNotification.DUE)

    async def all_of(self, user_id: int = EMMA) -> tuple[PaymentReminder, ...]:
        return await self.service.find_by_user(user_id)


def recipient_of(user_id: int) -> SavedRecipient:
    return a_recipient(f"{user_id:016x}", user_id, label="<b>Ibu</b>")


@pytest.fixture
async def reminders(system: OrderSystem) -> ReminderSystem:
    return ReminderSystem(system, ReminderService(system.infra, HOUR))


async def test_a_reminder_comes_once_on_each_of_its_days(reminders: ReminderSystem) -> None:
    await reminders.add()
    assert await reminders.pass_to(friday(7, 59)) == EVERY_SECONDS
    assert reminders.count() == 0
    for week in range(3):
        await reminders.pass_to(friday(8, 15, week))
        await reminders.pass_to(friday(8, 16, week))
        assert reminders.count() == week + 1
        (reminder,) = await reminders.all_of()
        await reminders.service.answer(EMMA, reminder.id, stop=False)


async def test_two_processes_that_find_the_same_one_queue_it_once(
    reminders: ReminderSystem, other_system: OrderSystem
) -> None:
    await reminders.add()
    (due,) = await reminders.all_of()
    other_system.clock.at = reminders.system.clock.at = friday(8, 15)
    other = ReminderService(other_system.infra, HOUR)
    await reminders.service._queue(due)
    await other._queue(due)
    await reminders.system.deliver()
    assert reminders.count() == 1
    (left,) = await reminders.all_of()
    assert left.unanswered == 1


@pytest.mark.parametrize("again", [True, False])
async def test_one_that_was_answered_or_set_again_since_it_was_found_counts_from_the_start(
    reminders: ReminderSystem, *, again: bool
) -> None:
    await reminders.add()
    for week in range(MAX_UNANSWERED):
        await reminders.pass_to(friday(9, weeks=week))
    (last,) = await reminders.all_of()
    reminders.system.clock.at = friday(8, 15, weeks=MAX_UNANSWERED)
    await (reminders.add() if again else reminders.service.answer(EMMA, last.id, stop=False))
    await reminders.service._queue(last)
    (kept,) = await reminders.all_of()
    assert kept.unanswered == 0
    await reminders.pass_to(friday(9, weeks=MAX_UNANSWERED + again))
    assert reminders.count() == MAX_UNANSWERED + 1
    (kept,) = await reminders.all_of()
    assert kept.unanswered == 1


async def test_a_process_that_ends_between_moving_and_queueing_loses_and_repeats_none(
    reminders: ReminderSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Exception):
        pass

    async def end(*_: object) -> int:
        raise Killed

    await reminders.add()
    reminders.system.clock.at = friday(8, 15)
    with monkeypatch.context() as patched:
        patched.setattr(OutboxRepository, "add", end)
        with pytest.raises(Killed):
            await reminders.service.queue_due()
    for minute in (16, 17):
        await reminders.pass_to(friday(8, minute))
        assert reminders.count() == 1


async def test_one_that_is_hours_late_comes_the_same_day_and_not_at_night_or_the_day_after(
    reminders: ReminderSystem,
) -> None:
    await reminders.add()
    await reminders.pass_to(friday(21, 30))
    assert reminders.count() == 1
    await reminders.pass_to(friday(22, 30, weeks=1))
    await reminders.pass_to(friday(8, 15, weeks=1) + timedelta(days=1))
    assert reminders.count() == 1
    (reminder,) = await reminders.all_of()
    assert reminder.unanswered == 1
    assert friday(8, weeks=2) <= reminder.due_at < friday(8, 15, weeks=2)


async def test_one_waits_for_the_end_of_the_users_own_quiet_hours(reminders: ReminderSystem) -> None:
    await reminders.add()
    quiet = Subscription(user_id=EMMA, subscribed_at=BEGINNING, quiet_from=22 * 60, quiet_until=10 * 60)
    async with reminders.system.sql.transaction() as tx:
        await SubscriptionRepository(tx).save(quiet)
    await reminders.pass_to(friday(8, 15))
    await reminders.pass_to(friday(9, 59))
    assert reminders.count() == 0
    await reminders.pass_to(friday(10))
    assert reminders.count() == 1


async def test_it_ends_after_three_that_nobody_answered_and_any_answer_counts_from_the_start(
    reminders: ReminderSystem,
) -> None:
    await reminders.add()
    for week in range(2):
        await reminders.pass_to(friday(9, weeks=week))
    (reminder,) = await reminders.all_of()
    assert await reminders.service.answer(EMMA, reminder.id, stop=False)
    for week in range(2, 2 + MAX_UNANSWERED):
        await reminders.pass_to(friday(9, weeks=week))
    assert reminders.count() == 2 + MAX_UNANSWERED
    for week in (5, 6):
        await reminders.pass_to(friday(9, weeks=week))
    assert reminders.count() == 2 + MAX_UNANSWERED
    assert await reminders.all_of() == ()


async def test_it_ends_with_its_recipient(reminders: ReminderSystem) -> None:
    await reminders.add()
    async with reminders.system.sql.transaction() as tx:
        # As whoever gives it another name saves it: the reminder stays.
        await RecipientRepository(tx).save(replace(recipient_of(EMMA), label="Bu Sari"))
    assert len(await reminders.all_of()) == 1
    async with reminders.system.sql.transaction() as tx:
        await RecipientRepository(tx).delete(recipient_of(EMMA).id)
    assert await reminders.all_of() == ()
    await reminders.pass_to(friday(9))
    assert reminders.count() == 0


async def test_a_block_of_the_bot_ends_all_of_a_user_and_no_others(reminders: ReminderSystem) -> None:
    await reminders.add()
    await reminders.add(SARI)
    app = build_declared()
    async with reminders.system.sql.transaction() as tx:
        for end in app.delivery._on_chat_unreachable:
            await end(tx, EMMA, BEGINNING)
    assert (await reminders.all_of(), len(await reminders.all_of(SARI))) == ((), 1)


async def test_one_user_has_ten_at_most_and_one_for_a_recipient_and_a_day(reminders: ReminderSystem) -> None:
    for day in (*WEEKDAYS, "1", "2", "31", "30", "29"):
        await reminders.add(day=day)
        await reminders.add(day=day)
    every = await reminders.all_of()
    assert sorted(each.day for each in every) == sorted((*WEEKDAYS, "1", "2", "31"))
    assert len(every) == MAX_REMINDERS
    assert await reminders.add(day="28") is None
    assert await reminders.add(day="mon") is not None
    assert await reminders.service.answer(EMMA, every[0].id, stop=True)
    assert await reminders.add(day="28") is not None


async def test_nobody_answers_or_stops_another_users(reminders: ReminderSystem) -> None:
    reminder = await reminders.add()
    assert reminder is not None
    assert await reminders.service.answer(SARI, reminder.id, stop=True) is None
    assert await reminders.service.answer(SARI, reminder.id, stop=False) is None
    assert await reminders.all_of() == (reminder,)


async def show(reminders: ReminderSystem, now: datetime, user: User | None, payload: ReminderPayload) -> Screen | None:
    context = context_for(user, store=reminders.system.store, messenger=None, now=now)
    return await show_due(ReminderNotification.DUE.create(EMMA, "s", payload, now), context)


async def test_what_is_sent_says_the_day_and_is_left_out_when_it_no_longer_applies(reminders: ReminderSystem) -> None:
    reminder = await reminders.add()
    assert reminder is not None
    emma = User(id=EMMA, created_at=BEGINNING, language_code="en")
    due = ReminderPayload(reminder.id, friday(8))
    shown = await show(reminders, friday(8), emma, due)
    assert shown is not None
    assert readable(shown.text).startswith("🔔 Friday: Rp500,000 to <b>Ibu</b> · BCA ••••4455")
    assert "&lt;b&gt;Ibu" in shown.text
    assert await show(reminders, friday(22), emma, due) is None
    assert await show(reminders, friday(8, weeks=1), emma, due) is None
    assert await show(reminders, friday(8), None, due) is None
    assert await show(reminders, friday(8), replace(emma, deletion_requested_at=BEGINNING), due) is None
    assert await reminders.service.answer(EMMA, reminder.id, stop=True)
    assert await show(reminders, friday(8), emma, due) is None
