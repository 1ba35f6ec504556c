"""A full recipient is shown with a reason for a minute, and is then masked, whatever fails in between.

`Chat` records what each message shows, and can raise `Killed` before or after each request. A second `Bot` on the same
file is the next process.
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field, replace

import pytest

from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.infra.outbox.model import DeliveryOutcome, RetryLater, Sent, Undeliverable
from bot.infra.telegram.inbound.repository import InboxItem
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository
from bot.settlement.budget import Budget
from bot.settlement.errors import NoAnswer, OrderNotFound, SettlementFailure, SlowDown
from bot.settlement.model import OrderRequest
from bot.staff.model import AuditAction, AuditEntry
from bot.staff.repository import AuditRepository
from bot.staff.staff_chat import StaffChat
from bot.support.model import Reveal
from bot.support.repository import RevealRepository
from bot.support.reveals import PAUSE_WHILE_NONE, MaskingService, RevealMessages, RevealService
from bot.support.service_orders import MARK, ServiceOrder, ServiceOrders, Subject
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.orders.builders import an_order
from tests.orders.order_system import EMMA, NUMBER, OSCAR, OrderSystem
from tests.settlement.builders import BCA
from tests.settlement.fake_settlement import MovedClock
from tests.users.stored_data import delete_user

RINA, BUDI = 3001, 3002
BLOCKED = Undeliverable("blocked", whole_chat=True)


class Killed(BaseException):
    """Stands for a kill of the process: nothing after it runs."""


@dataclass
class Chat(RevealMessages):
    """The agents' chats: the text of each message, and the outcomes of the next requests."""

    clock: MovedClock
    messages: dict[int, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    outcomes: dict[str, deque[DeliveryOutcome | str]] = field(default_factory=dict)
    block_show: asyncio.Event | None = None
    is_blocked: asyncio.Event = field(default_factory=asyncio.Event)

    def plan(self, call: str, *outcomes: DeliveryOutcome | str) -> None:
        self.outcomes.setdefault(call, deque()).extend(outcomes)

    async def open(self, staff_id: int, order: Subject) -> DeliveryOutcome:
        del staff_id, order
        return self._do("open", len(self.messages) + 1, "masked")

    async def show(self, reveal: Reveal, order: Subject) -> DeliveryOutcome:
        if self.block_show is not None:
            self.is_blocked.set()
            await self.block_show.wait()
        return self._do("show", reveal.message_id or 0, order.number)

    async def mask(self, reveal: Reveal, order: Subject | None) -> DeliveryOutcome:
        return self._do("mask", reveal.message_id or 0, "masked" if order and order.number else "forgotten")

    def _do(self, call: str, message_id: int, text: str) -> DeliveryOutcome:
        self.calls.append(call)
        planned = self.outcomes.get(call)
        outcome = planned.popleft() if planned else None
        if outcome == "killed before":
            raise Killed
        if outcome is None or isinstance(outcome, str):
            self.messages[message_id] = text
        if outcome == "killed after":
            raise Killed
        if outcome == "lost after":
            return RetryLater(3, maybe_sent=True)
        return outcome if outcome is not None and not isinstance(outcome, str) else Sent(message_id)

    @property
    def shows_number(self) -> bool:
        return NUMBER in self.messages.values()


@dataclass
class Bot:
    """One process of the bot, with its own monotonic clock."""

    system: OrderSystem
    chat: Chat
    agent_ids: frozenset[int] = frozenset({RINA, BUDI})
    elapsed: float = 0.0
    wakeups: int = 0
    jobs: list[InboxItem] = field(default_factory=list)

    def __post_init__(self) -> None:
        store, clock, system = self.system.store, self.system.clock, StaffChat(0, self.agent_ids)
        self.masking = MaskingService(
            database=store,
            clock=clock,
            staff_chat=system,
            screen=self.chat,
            add_job=self._add_job,
            elapsed=lambda: self.elapsed,
            on_change=self._count_wakeup,
        )
        self.reveals = RevealService(
            database=store,
            clock=clock,
            staff_chat=system,
            screen=self.chat,
            masking=self.masking,
            service_orders=ServiceOrders(store, self.system.service, clock, Budget(1_000)),
        )

    async def run_worker(self, *, after: float = 0) -> float:
        """Let time pass, and run the worker once."""
        self.elapsed += after
        self.system.clock.passes(seconds=after)
        pause = await self.masking.mask_due()
        await self.run_jobs()
        return pause

    async def run_jobs(self) -> None:
        """Run the jobs that the worker has added, as the process does that has the agents' chats."""
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            await self.masking.jobs()[job.kind](job)

    async def _add_job(self, chat_id: int, kind: str, argument: str) -> None:
        self.jobs.append(InboxItem.job(chat_id, kind, argument, self.system.clock.now()))

    def restarted(self, *agent_ids: int) -> "Bot":
        return Bot(self.system, self.chat, frozenset(agent_ids) or self.agent_ids)

    def _count_wakeup(self) -> None:
        self.wakeups += 1


@pytest.fixture
async def bot(system: OrderSystem) -> Bot:
    return Bot(system, Chat(system.clock))


@pytest.fixture
async def order(system: OrderSystem) -> Order:
    order = await system.place()
    assert order.number == NUMBER
    return order


async def audit_entries(bot: Bot) -> list[AuditEntry]:
    async with bot.system.store.reading() as tx:
        return list(await AuditRepository(tx).page())


async def unmasked(bot: Bot) -> list[Reveal]:
    async with bot.system.store.reading() as tx:
        return list(await RevealRepository(tx).unmasked())


async def test_it_is_seen_for_a_minute_and_written_down_with_who_why_and_whom(bot: Bot, order: Order) -> None:
    assert await bot.reveals.reveal(RINA, order.reference, "trace")
    assert bot.chat.messages == {1: NUMBER}
    assert await bot.run_worker(after=59) == 1
    assert bot.chat.shows_number
    await bot.run_worker(after=1)
    assert bot.chat.messages == {1: "masked"}
    assert await unmasked(bot) == []
    assert await bot.run_worker(after=1) == PAUSE_WHILE_NONE
    assert bot.chat.calls == ["open", "show", "mask"]
    (entry,) = await audit_entries(bot)
    assert (entry.actor_id, entry.action, entry.subject) == (RINA, AuditAction.REVEALED, f"order:{order.reference}")
    assert (entry.user_id, entry.detail) == (EMMA, "trace")


@pytest.mark.parametrize(
    ("call", "moment", "is_seen"),
    [
        ("open", "killed before", False),
        ("open", "killed after", False),
        ("show", "killed before", False),
        ("show", "killed after", True),
    ],
)
async def test_killed_at_any_line_nothing_stays_to_be_seen(
    bot: Bot, order: Order, call: str, moment: str, *, is_seen: bool
) -> None:
    bot.chat.plan(call, moment)
    with pytest.raises(Killed):
        await bot.reveals.reveal(RINA, order.reference, "trace")
    assert bot.chat.shows_number is is_seen
    assert len(await audit_entries(bot)) == len(await unmasked(bot)) == (call == "show"), "recorded before it is shown"
    after = bot.restarted()
    await after.run_worker(after=60)
    assert not bot.chat.shows_number
    assert await unmasked(after) == []


async def test_killed_while_it_is_masked_the_next_process_masks_it(bot: Bot, order: Order) -> None:
    await bot.reveals.reveal(RINA, order.reference, "trace")
    (reveal,) = await unmasked(bot)
    bot.chat.plan("mask", "killed before", "killed after")
    for _ in range(2):
        with pytest.raises(Killed):
            await bot.restarted().reveals.hide(RINA, reveal.id)
        assert len(await unmasked(bot)) == 1
    await bot.restarted().run_worker(after=60)
    assert not bot.chat.shows_number
    assert await unmasked(bot) == []


async def test_an_update_that_a_crash_repeats_shows_it_in_the_same_message_and_not_for_longer(
    bot: Bot, order: Order
) -> None:
    bot.chat.plan("show", "killed before")
    with pytest.raises(Killed):
        await bot.reveals.reveal(RINA, order.reference, "trace")
    bot.system.clock.passes(seconds=30)
    again = bot.restarted()
    assert not await again.reveals.reveal(RINA, order.reference, "trace")
    assert bot.chat.messages == {1: NUMBER}
    assert len(await audit_entries(bot)) == 1
    await again.run_worker(after=30)
    assert not bot.chat.shows_number


async def test_a_press_that_a_crash_repeats_after_the_minute_shows_nothing_more(bot: Bot, order: Order) -> None:
    bot.chat.plan("show", "killed before")
    with pytest.raises(Killed):
        await bot.reveals.reveal(RINA, order.reference, "trace", question=7)
    again = bot.restarted()
    await again.run_worker(after=61)
    assert await again.reveals.reveal(RINA, order.reference, "trace", question=7)
    assert not bot.chat.shows_number
    assert len(await audit_entries(bot)) == 1
    assert await again.reveals.reveal(RINA, order.reference, "trace", question=8), "asked anew, it is shown anew"
    assert bot.chat.shows_number
    assert len(await audit_entries(bot)) == 2


async def test_a_second_tap_shows_nothing_twice(bot: Bot, order: Order) -> None:
    first, second = await asyncio.gather(
        bot.reveals.reveal(RINA, order.reference, "trace"), bot.reveals.reveal(RINA, order.reference, "trace")
    )
    assert first or second
    await bot.run_worker(after=60)
    assert not bot.chat.shows_number
    assert await unmasked(bot) == []


async def test_two_reveals_at_once_end_each_by_itself(bot: Bot, order: Order) -> None:
    another = await bot.system.place()
    await bot.reveals.reveal(RINA, order.reference, "trace")
    await bot.run_worker(after=20)
    await asyncio.gather(
        bot.reveals.reveal(RINA, another.reference, "wrong"), bot.reveals.reveal(BUDI, order.reference, "compare")
    )
    assert list(bot.chat.messages.values()) == [NUMBER] * 3
    await bot.run_worker(after=40)
    assert sorted(bot.chat.messages.values()) == sorted(["masked", NUMBER, NUMBER])
    await bot.run_worker(after=20)
    assert set(bot.chat.messages.values()) == {"masked"}
    assert {(each.actor_id, each.subject) for each in await audit_entries(bot)} == {
        (RINA, f"order:{order.reference}"),
        (RINA, f"order:{another.reference}"),
        (BUDI, f"order:{order.reference}"),
    }


@pytest.mark.parametrize("jump", [-86_400, -61, -10, 86_400])
async def test_a_clock_that_is_set_gives_nobody_more_than_a_minute(bot: Bot, order: Order, jump: float) -> None:
    await bot.reveals.reveal(RINA, order.reference, "trace")
    await bot.run_worker(after=5)
    bot.system.clock.passes(seconds=jump)
    await bot.run_worker(after=55)
    assert not bot.chat.shows_number


async def test_a_clock_that_is_set_back_while_the_bot_is_away_masks_at_the_start(bot: Bot, order: Order) -> None:
    await bot.reveals.reveal(RINA, order.reference, "trace")
    bot.system.clock.passes(hours=-5)
    await bot.restarted().run_worker()
    assert not bot.chat.shows_number


async def test_what_masks_it_never_overtakes_what_shows_it(bot: Bot, order: Order) -> None:
    """If Telegram delays the edit by more than a minute, the recipient is masked as soon as it is shown."""
    bot.chat.block_show = asyncio.Event()
    showing = asyncio.create_task(bot.reveals.reveal(RINA, order.reference, "trace"))
    await bot.chat.is_blocked.wait()
    bot.elapsed += 61
    bot.system.clock.passes(seconds=61)
    await bot.masking.mask_due()
    assert bot.wakeups
    bot.chat.block_show.set()
    # The job waits until the agent's press is handled.
    await showing
    await bot.run_jobs()
    assert bot.chat.messages == {1: "masked"}


async def test_what_may_have_been_shown_is_masked_too(bot: Bot, order: Order) -> None:
    bot.chat.plan("show", "lost after")
    with pytest.raises(Rejection, match=r"support\.reveal\.not_shown"):
        await bot.reveals.reveal(RINA, order.reference, "trace")
    assert bot.chat.shows_number
    await bot.run_worker(after=60)
    assert not bot.chat.shows_number
    assert len(await audit_entries(bot)) == 1


async def test_whoever_blocks_the_bot_to_keep_it_is_shown_no_more_until_it_is_masked(bot: Bot, order: Order) -> None:
    another = await bot.system.place()
    await bot.reveals.reveal(RINA, order.reference, "trace")
    bot.chat.plan("mask", *[BLOCKED] * 4)
    await bot.run_worker(after=60)
    with pytest.raises(Rejection, match=r"support\.reveal\.still_to_mask"):
        await bot.reveals.reveal(RINA, another.reference, "trace")
    assert await bot.reveals.reveal(BUDI, another.reference, "trace"), "the others are shown theirs"
    assert bot.chat.calls.count("mask") == 2
    await bot.run_worker(after=1)
    assert bot.chat.calls.count("mask") == 2, "not each second"
    await bot.run_worker(after=1)
    assert bot.chat.calls.count("mask") == 3
    await bot.run_worker(after=3)
    assert bot.chat.calls.count("mask") == 3, "less and less often"
    await bot.run_worker(after=1)
    assert bot.chat.calls.count("mask") == 4
    assert await bot.reveals.reveal(RINA, another.reference, "trace"), "they are back: at once"
    assert bot.chat.messages[1] == "masked"


async def test_a_job_that_is_run_after_the_agent_hid_it_masks_nothing_again(bot: Bot, order: Order) -> None:
    await bot.reveals.reveal(RINA, order.reference, "trace")
    (reveal,) = await unmasked(bot)
    bot.elapsed += 60
    await bot.masking.mask_due()
    assert [(job.chat_id, job.body) for job in bot.jobs] == [(RINA, reveal.id)]
    await bot.reveals.hide(RINA, reveal.id)
    await bot.run_jobs()
    assert bot.chat.calls.count("mask") == 1


async def test_the_leader_has_masked_what_another_process_shows(bot: Bot, order: Order) -> None:
    leader = bot.restarted()
    await bot.reveals.reveal(RINA, order.reference, "trace")
    assert await leader.masking.mask_due() == 1
    leader.elapsed += 60
    await leader.masking.mask_due()
    bot.jobs = leader.jobs
    await bot.run_jobs()
    assert not bot.chat.shows_number
    assert await unmasked(bot) == []


async def test_a_process_that_leads_again_adds_the_job_at_once(bot: Bot, order: Order) -> None:
    await bot.reveals.reveal(RINA, order.reference, "trace")
    bot.chat.plan("mask", *[BLOCKED] * 3)
    for after in (60, 2, 4):
        await bot.run_worker(after=after)
    await bot.masking.begin_to_lead()
    bot.system.clock.passes(seconds=1)
    await bot.run_worker()
    assert not bot.chat.shows_number


async def test_a_process_that_ends_leaves_what_others_show(bot: Bot, order: Order) -> None:
    other = bot.restarted()
    await bot.reveals.reveal(RINA, order.reference, "trace")
    await other.masking.close(1)
    assert bot.chat.shows_number
    await bot.masking.close(1)
    assert not bot.chat.shows_number


async def test_a_user_who_is_forgotten_meanwhile_is_masked_at_once_and_for_good(bot: Bot, order: Order) -> None:
    await bot.reveals.reveal(RINA, order.reference, "trace")
    async with bot.system.store.transaction() as tx:
        await delete_user(tx, EMMA)
    await bot.run_worker(after=1)
    assert bot.chat.messages == {1: "forgotten"}
    with pytest.raises(Rejection, match=r"support\.reveal\.forgotten"):
        await bot.reveals.reveal(RINA, order.reference, "trace")


async def test_a_user_who_is_forgotten_before_it_is_shown_is_not_shown(bot: Bot, order: Order) -> None:
    class Forgetful(Chat):
        async def open(self, staff_id: int, order: Subject) -> DeliveryOutcome:
            async with bot.system.store.transaction() as tx:
                await delete_user(tx, EMMA)
            return await super().open(staff_id, order)

    chat = Forgetful(bot.system.clock)
    with pytest.raises(Rejection, match=r"support\.reveal\.not_shown"):
        await Bot(bot.system, chat).reveals.reveal(RINA, order.reference, "trace")
    assert chat.calls == ["open"]


@pytest.mark.parametrize("who", [OSCAR, EMMA, 4_444])
async def test_nobody_but_a_supporter_is_shown_anything(bot: Bot, order: Order, who: int) -> None:
    with pytest.raises(Rejection, match=r"support\.staff\.not_yours"):
        await bot.reveals.reveal(who, order.reference, "trace")
    assert bot.chat.calls == []
    assert await audit_entries(bot) == []


async def test_whoever_is_no_supporter_any_more_has_it_masked_at_the_start(bot: Bot, order: Order) -> None:
    await bot.reveals.reveal(RINA, order.reference, "trace")
    after = bot.restarted(BUDI)
    await after.run_worker(after=1)
    assert not bot.chat.shows_number
    with pytest.raises(Rejection, match=r"support\.staff\.not_yours"):
        await after.reveals.reveal(RINA, order.reference, "trace")


async def test_an_order_that_there_is_not_cant_be_asked_for(bot: Bot) -> None:
    with pytest.raises(Rejection, match=r"support\.staff\.gone"):
        await bot.reveals.reveal(RINA, "R2222ZZ", "trace")


async def test_only_whoever_sees_it_can_hide_it_before_its_time_and_only_once(bot: Bot, order: Order) -> None:
    await bot.reveals.reveal(RINA, order.reference, "trace")
    (reveal,) = await unmasked(bot)
    assert not await bot.reveals.hide(BUDI, reveal.id)
    assert not await bot.reveals.hide(RINA, "0" * 16)
    assert bot.chat.shows_number
    assert await bot.reveals.hide(RINA, reveal.id)
    assert not bot.chat.shows_number
    assert not await bot.reveals.hide(RINA, reveal.id)


async def test_nothing_is_written_down_where_nothing_could_be_sent(bot: Bot, order: Order) -> None:
    bot.chat.plan("open", BLOCKED)
    with pytest.raises(Rejection, match=r"support\.reveal\.not_shown"):
        await bot.reveals.reveal(RINA, order.reference, "trace")
    assert (await audit_entries(bot), await unmasked(bot), bot.chat.calls) == ([], [], ["open"])


async def test_who_typed_the_reason_is_kept_with_it(bot: Bot, order: Order) -> None:
    rina = User(id=RINA, created_at=bot.system.clock.now(), answered_update_id=77)
    await bot.reveals.reveal(RINA, order.reference, "the bank asks", answered=rina)
    async with bot.system.store.reading() as tx:
        kept = await UserRepository(tx).get(RINA)
    assert kept is not None
    assert kept.answered_update_id == 77


async def test_a_bot_that_is_told_to_end_masks_what_it_leaves_and_the_next_one_makes_sure(
    bot: Bot, order: Order
) -> None:
    await bot.reveals.reveal(RINA, order.reference, "trace")
    await bot.masking.close(1)
    assert not bot.chat.shows_number
    bot.chat.messages[1] = NUMBER  # a late request of the old process
    await bot.restarted().run_worker(after=60)
    assert not bot.chat.shows_number
    assert await unmasked(bot) == []


SERVICE_ID = "cm7k2jt8x0000qz01abcd1234"
OF_SERVICE = f"{MARK}{SERVICE_ID}"


@pytest.fixture
def of_agent(system: OrderSystem) -> str:
    """Let an agent create an order with our key, and return what stands for it in buttons."""
    wanted = OrderRequest(method=BCA, number=NUMBER, holder=None, amount=Amount("IDR", 500_000), channel="lightning")
    report = system.service.records.pop(system.service.make(wanted).service_id)
    system.service.records[SERVICE_ID] = replace(report, service_id=SERVICE_ID)
    system.service.calls.clear()
    return OF_SERVICE


async def test_a_recipient_of_another_program_has_the_same_rules(bot: Bot, of_agent: str) -> None:
    subject = await bot.reveals.find_order(RINA, of_agent)
    assert isinstance(subject, ServiceOrder)
    assert bot.system.service.calls == [], "the question for the reason asks nothing of the service"
    with pytest.raises(Rejection, match="not_yours"):
        await bot.reveals.reveal(EMMA, of_agent, "trace")
    assert await bot.reveals.reveal(RINA, of_agent, "trace", question=5)
    assert bot.chat.messages == {1: NUMBER}
    assert not await bot.reveals.reveal(RINA, of_agent, "trace", question=6), "it is shown already"
    (entry,) = await audit_entries(bot)
    assert (entry.action, entry.subject) == (AuditAction.REVEALED, f"service_order:{SERVICE_ID}")
    assert (entry.user_id, entry.detail) == (0, "trace")
    bot.system.service.reads.extend([NoAnswer()] * 9)
    after = bot.restarted()
    await after.run_worker(after=60)
    assert not bot.chat.shows_number, "masked without the service"
    assert await unmasked(after) == []


@pytest.mark.parametrize(
    ("failure", "key"),
    [
        (NoAnswer(), "support.service_order.not_revealed"),
        (SlowDown(retry_after=3), "support.service_order.not_revealed"),
        (OrderNotFound(), "support.staff.gone"),
    ],
)
async def test_nothing_is_shown_or_written_down_if_the_service_does_not_answer(
    bot: Bot, of_agent: str, failure: SettlementFailure, key: str
) -> None:
    bot.system.service.reads.append(failure)
    with pytest.raises(Rejection, match=key):
        await bot.reveals.reveal(RINA, of_agent, "trace")
    assert bot.chat.calls == []
    assert await audit_entries(bot) == []


async def test_a_services_id_does_not_get_around_the_deletion_of_a_customer(bot: Bot, order: Order) -> None:
    assert order.service_id is not None
    service_id = "cm_of_our_own_order_0001"
    async with bot.system.store.transaction() as tx:
        found = await OrderRepository(tx).get(order.reference)
        assert found is not None
        ended = replace(found, service_id=service_id, phase=Phase.DONE, state="COMPLETED", ended_at=order.created_at)
        assert await OrderRepository(tx).save(ended)
    bot.system.service.records[service_id] = replace(
        bot.system.service.records[order.service_id], service_id=service_id, recipient=NUMBER
    )
    subject = await bot.reveals.find_order(RINA, f"{MARK}{service_id}")
    assert subject.reference == order.reference, "it is ours, with our rules"
    async with bot.system.store.transaction() as tx:
        await delete_user(tx, EMMA)
    bot.system.service.calls.clear()
    with pytest.raises(Rejection, match="forgotten"):
        await bot.reveals.reveal(RINA, f"{MARK}{service_id}", "trace")
    assert bot.system.service.calls == []


async def test_what_may_be_of_a_deleted_customer_is_not_revealed(bot: Bot, of_agent: str) -> None:
    async with bot.system.store.transaction() as tx:
        blank = an_order(
            phase=Phase.ABANDONED,
            user_id=0,
            chat_id=0,
            number="",
            holder=None,
            requested_amount=Amount("IDR", 500_000),
            created_at=bot.system.clock.now(),
        )
        assert await OrderRepository(tx).add(blank)
    with pytest.raises(Rejection, match="forgotten"):
        await bot.reveals.reveal(RINA, of_agent, "trace")
    assert bot.chat.calls == []


async def test_a_forged_id_reveals_nothing(bot: Bot) -> None:
    for forged in (MARK, f"{MARK}../../x", f"{MARK}{'9' * 20}"):
        with pytest.raises(Rejection, match="gone"):
            await bot.reveals.reveal(RINA, forged, "trace")
    assert bot.system.service.calls == []


async def test_what_the_service_masks_itself_is_not_revealed(bot: Bot, of_agent: str) -> None:
    report = bot.system.service.records[SERVICE_ID]
    for recipient in ("******3456", "", None):
        bot.system.service.records[SERVICE_ID] = replace(report, recipient=recipient)
        with pytest.raises(Rejection, match=r"service_order\.masked"):
            await bot.reveals.reveal(RINA, of_agent, "trace")
    assert bot.chat.calls == []
    assert await audit_entries(bot) == []
