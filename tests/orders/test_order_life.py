"""Orders from beginning to end: two bots on one database, another program with their key, users, payers and crashes.

Hypothesis chooses the steps, and reduces a failure to a short sequence. Each step is one action of a user, a payer, the
service, Telegram or a worker. A plan says at which of its calls a process hangs, is killed or gets an error.
`HYPOTHESIS_EXAMPLES` sets the number of examples.
"""

import asyncio
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bot.checkout.draft import OrderDraft, Step, new_draft
from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.outbox.model import KEEP_SENT, StoredNotification
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.limits import Limits, can_still_be_paid
from bot.orders.messages import order_subject
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.placement.service import ConfirmationOutdated
from bot.orders.repository import OrderRepository
from bot.orders.status_handlers import StatusMessages
from bot.orders.tables import NEEDS_MESSAGE_IDS
from bot.payments import bolt11
from bot.payments.tokens import LIGHTNING
from bot.settlement.errors import MethodVanished, SettlementFailure
from bot.settlement.model import OrderReport, OrderRequest
from bot.staff.model import AlarmKind
from bot.staff.repository import AlarmRepository
from bot.support.notifications import AboutTicket, TicketNotification, ticket_notification
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.infra.keys import VAULT
from tests.orders.crashes import Crash
from tests.orders.faults import FAULT_PLAN, Fault, FaultPlan, HangingCall, KillableProcess
from tests.orders.order_system import EMMA, OSCAR, SARI, rules
from tests.orders.simulation import (
    ANOMALIES,
    INVOICE,
    TRANSFER,
    Bot,
    FakeTelegram,
    Message,
    ServiceModel,
    predictable_output,
)
from tests.orders.stepped_loop import SteppedLoop
from tests.settlement.builders import BCA, GOPAY
from tests.settlement.fake_settlement import MovedClock
from tests.texts import readable, says, text

pytestmark = pytest.mark.usefixtures("sqlite_in_the_loop")

OPEN_AT_ONCE = 4
NUMBERS = {BCA: ("8620123456", "7710003456"), GOPAY: ("081234567890",)}
AMOUNTS = tuple(Amount("IDR", value) for value in (50_000, 20_000, 10_000_000)) + tuple(
    Amount("SAT", value) for value in (1_200, 588_000)
)
MINIMUM, CAP = 20_000, GOPAY.cap or 0
MAX_WORSE, MAX_BETTER = Decimal(1), Decimal(-5)
"""By how many percent a locked price may be worse or better than the reviewed one without a question."""

QUESTIONS = (OrderNotification.UNRESOLVED, OrderNotification.PRICE_MOVED, OrderNotification.RECIPIENT_MASKED)
MONEY_ENDS = (OrderNotification.PAID, OrderNotification.PAID_LATE, OrderNotification.SENT, OrderNotification.FAILED)
CONVENIENCES = {"receipt", "ticket_reply"}
EXPECTED = (ConfirmationOutdated, MethodVanished, Rejection, SettlementFailure, StoreDown, Crash)

requests = st.tuples(
    st.sampled_from([(BCA, 0), (BCA, 1), (GOPAY, 0)]), st.sampled_from(AMOUNTS), st.sampled_from(["lightning", "cbbtc"])
)
plans = st.dictionaries(st.integers(0, 14), st.sampled_from(Fault), max_size=2)
picks = st.integers(0, 5)
bots = st.integers(0, 1)
people = st.sampled_from([EMMA, EMMA, SARI])
STORIES = (
    "a price moves",
    "an amount is at a limit",
    "an invoice is for another network",
    "an invoice comes again",
    "an order is lost",
    "an order is found",
    "another's order is found",
    "an order is paid",
    "a message is repeated",
    "a deposit is never shown",
    "another program has an equal deposit",
)
stories = st.tuples(st.sampled_from(STORIES), people, bots, st.integers(0, 11))
"""A story, its user, the bot, and a variant."""

ORDERED = (
    people,
    requests,
    bots,
    plans | st.fixed_dictionaries({5: st.sampled_from(Fault), 6: st.sampled_from(Fault)}),
    st.sampled_from([None, None, None, None, *ANOMALIES]),
    st.sampled_from([0, 0, 0, 0, -2, 2]),
)
"""The user, the request, the bot, the faults, the anomaly of the service, and the change of the price before."""


@dataclass
class Running:
    """A step in progress. A process takes one step of each name at a time."""

    bot: Any
    name: str
    task: Any


class OrderLifeMachine(RuleBasedStateMachine):
    """Runs the steps and checks the invariants. `folder` has an empty database."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.clock = MovedClock()
        self.loop = SteppedLoop(self.clock)
        self.service = ServiceModel(self.clock)
        self.telegram = FakeTelegram(self.clock)
        self.hanging_calls: list[HangingCall] = []
        self.steps: list[Running] = []
        self.rules_used = rules(limits=Limits(open_orders=OPEN_AT_ONCE, idr_per_day=25_000_000))
        path = self.folder / "life.db"
        for each in self.folder.glob("life.db*"):
            each.unlink()
        shutil.copy(self.folder / "empty.db", path)
        self.sql = Database(f"sqlite:///{path}", VAULT)
        self.bots = [self.start_bot("old"), self.start_bot("new")]
        self.drafts: list[OrderDraft] = []
        self.retries: Counter[str] = Counter()
        self.accepted: set[str] = set()
        self.dropped: set[str] = set()
        self.shown: dict[str, str] = {}
        self.checked: set[tuple[int, int]] = set()
        self.payment_request: dict[int, str] = {}
        self.known: list[Order] = []
        self.read_at = -1
        self.loop.run_reading(self.add_users())

    async def add_users(self) -> None:
        async with self.sql.transaction() as tx:
            for each in (EMMA, SARI, OSCAR):
                await UserRepository(tx).save(User(id=each, created_at=self.clock.now(), language_code="en"))

    def start_bot(self, name: str) -> Bot:
        return Bot(KillableProcess(name, self.hanging_calls), self.sql, self.service, self.telegram, self.rules_used)

    # processes

    def run_step(
        self, bot: Any, name: str, work: Coroutine[Any, Any, Any], plan: dict[int, Fault] | None = None
    ) -> Any:
        """Start a step and run it until it waits. Return its task, or None if that step is still running."""
        self.steps = [each for each in self.steps if not each.task.done()]
        if any(each.bot is bot and each.name == name for each in self.steps):
            work.close()
            return None
        FAULT_PLAN.set(FaultPlan(plan or {}))
        task = self.loop.create_task(work)
        FAULT_PLAN.set(None)
        self.steps.append(Running(bot, name, task))
        self.loop.run_until_idle()
        self.restart_killed()
        if task.done() and not task.cancelled() and (error := task.exception()) and not isinstance(error, EXPECTED):
            raise error
        return task

    def restart_killed(self) -> None:
        """Restart killed processes. A new process continues where the killed one ended."""
        for place, bot in enumerate(self.bots):
            if bot.process.is_dead:
                for each in self.hanging_calls:
                    if each.process is bot.process:
                        each.resume()
                self.loop.run_until_idle()
                self.bots[place] = self.start_bot(bot.process.name)

    def result(self, task: Any) -> Any:
        return task.result() if task and task.done() and not task.cancelled() and not task.exception() else None

    @initialize(
        skew=st.sampled_from([0, 90, -3600]),
        masked=st.booleans(),
        first=st.tuples(*ORDERED),
        first_stories=st.lists(stories, min_size=4, max_size=4, unique_by=lambda story: story[0]),
    )
    def begin_story(self, skew: int, first: Any, first_stories: Any, *, masked: bool) -> None:
        self.service.skew = timedelta(seconds=skew)
        if masked:
            self.service.masks = lambda number: "*" * (len(number) - 4) + number[-4:]
        for story in first_stories:
            self.tell_story(story)
        self.place_order_with(*first)

    # sequences that random steps rarely produce

    @rule(story=stories)
    def tell_story(self, story: Any) -> None:
        """Run a story: an anomaly of the service, and what its users do then."""
        title, who, number, way = story
        getattr(self, f"story_of_{STORIES.index(title)}")(who, number, way)

    def story_of_0(self, who: int, number: int, way: int) -> None:
        """The price changes, so the sender is asked. The sender answers, perhaps twice and in two processes."""
        amount = AMOUNTS[way % 2]
        anomaly = ("worse", "better")[way // 2 % 2]
        self.place_order_with(who, ((BCA, way % 2), amount, "lightning"), number, {}, anomaly, 0)
        self.deliver(number, {})
        if way >= 6:
            self.answer_question(self.newest_order(), "drop", number, {})
        self.answer_question(self.newest_order(), "accept", 1 - number, {})
        self.deliver(number, {})

    def story_of_1(self, who: int, number: int, way: int) -> None:
        """An amount in sats is just within the limits at the review, and just outside at the locked price."""
        edge, anomaly = (
            (MINIMUM * Decimal("1.002"), "slightly worse"),
            (CAP * Decimal("0.998"), "slightly better"),
        )[way % 2]
        amount = Amount("SAT", int(edge / self.service.rate * 10**8))
        channel = ("lightning", "cbbtc")[way // 2 % 2]
        self.place_order_with(who, ((GOPAY, 0), amount, channel), number, {}, anomaly, 0)
        self.deliver(number, {})

    def story_of_2(self, who: int, number: int, way: int) -> None:
        self.place_order_with(who, ((BCA, way % 2), AMOUNTS[0], "lightning"), number, {}, "network", 0)
        self.deliver(number, {})

    def story_of_3(self, who: int, number: int, way: int) -> None:
        for anomaly in (None, "hash"):
            self.place_order_with(who, ((BCA, way % 2), AMOUNTS[0], "lightning"), number, {}, anomaly, 0)
            order = self.newest_order()
            assert order is None or order.phase is not Phase.INTENDED, "an answer was not saved"
            self.deliver(number, {})
            who, way = EMMA + SARI - who, way + 1

    def story_of_4(self, who: int, number: int, way: int) -> None:
        """An order isn't found, because it wasn't created or isn't listed. The sender tries again or drops it."""
        listed, self.service.listed = self.service.listed, False
        lost = {5 + way % 2: Fault.FAIL}
        self.place_order_with(who, ((BCA, way // 2 % 2), AMOUNTS[0], "lightning"), number, lost, None, 0)
        self.clock.passes(seconds=61)
        self.run_all_workers(number)
        self.service.listed = listed
        asked = self.newest_order()
        self.answer_question(asked, "again" if way < 10 else "drop", number, {6: Fault.FAIL} if way >= 8 else {})
        self.answer_question(asked, "again", 1 - number, {})
        self.deliver(number, {})

    def story_of_5(self, who: int, number: int, way: int) -> None:
        """The answer is lost, but the order is listed. If its recipient is masked, the sender is asked."""
        listed, self.service.listed = self.service.listed, True
        anomaly, amount = (None, "worse", "network")[way // 4], Amount("IDR", 70_000 + way)
        self.place_order_with(who, ((BCA, way % 2), amount, "lightning"), number, {6: Fault.FAIL}, anomaly, 0)
        self.run_all_workers(number)
        self.service.listed = listed
        self.answer_question(self.newest_order(), ("accept", "drop")[way // 2 % 2], number, {})
        self.deliver(number, {})

    def story_of_6(self, who: int, number: int, way: int) -> None:
        """A request is lost before the order is created, and another program creates nearly the same order."""
        listed, self.service.listed = self.service.listed, True
        amount = Amount("IDR", 60_000 + way)  # no other story has this amount
        other = (amount, AMOUNTS[1])[way // 10]
        self.place_order_with(who, ((BCA, way % 2), amount, "lightning"), number, {5: Fault.FAIL}, None, 0)
        there = NUMBERS[BCA][(way + 1 + way // 2) % 2]
        request = OrderRequest(method=BCA, number=there, holder=None, amount=other, channel="lightning")
        self.service.create(request, "other")
        self.run_all_workers(number)
        self.service.listed = listed

    def story_of_7(self, who: int, number: int, way: int) -> None:
        """An order is paid, and then sent or failed, with or without a poll in between."""
        self.place_order_with(who, ((GOPAY, 0), AMOUNTS[0], ("lightning", "cbbtc")[way % 2]), number, {}, None, 0)
        self.deliver(number, {})
        self.check_messages()
        payable = self.payable()
        if payable:
            self.service.receive_payment(payable[-1])
            for steps in ((6,), (1, 6), (0,))[way // 2 % 3]:
                self.poll_later(number)
                self.service.advance(payable[-1], steps)
            if way // 2 % 3 == 2:
                self.service.fail_order(payable[-1])
            self.poll_later(1 - number)

    def poll_later(self, number: int) -> None:
        self.clock.passes(seconds=6)
        self.run_all_workers(number)

    def story_of_8(self, who: int, number: int, way: int) -> None:
        """A process is killed or fails while it sends a message, and the message is repeated."""
        self.place_order_with(who, ((BCA, way % 2), AMOUNTS[way % 2], "lightning"), number, {}, None, 0)
        self.deliver(number, {3 + way: (Fault.KILL, Fault.FAIL)[way % 2]})
        self.clock.passes(seconds=61)
        self.deliver(number, {})

    def story_of_9(self, who: int, number: int, way: int) -> None:
        """A deposit isn't shown in the end, but the service still has its order. Then another user orders the same."""
        ordered = ((BCA, 0), (AMOUNTS[0], AMOUNTS[3])[way % 2], "cbbtc")
        end = ("drop", "time", "contract", "lost")[way // 2 % 4]
        listed, self.service.listed = self.service.listed, end != "lost"
        anomaly = {"drop": "worse", "time": "worse", "contract": "contract"}.get(end)
        self.place_order_with(who, ordered, number, {6: Fault.FAIL} if end == "lost" else {}, anomaly, 0)
        self.deliver(number, {})
        self.check_messages()  # what earlier stories have shown can expire now
        self.clock.passes(seconds=90_000 if end == "time" else 61)
        self.run_all_workers(number)
        asked, self.service.listed = self.newest_order(), listed
        self.answer_question(asked, "again" if way >= 8 else "drop", number, {})
        self.place_order_with(EMMA + SARI - who, ordered, 1 - number, {}, None, 0)
        self.deliver(1 - number, {})

    def story_of_10(self, who: int, number: int, way: int) -> None:
        """Another program with the same key orders an equal deposit, before the bot or after it."""
        amount, before = AMOUNTS[3 + way % 2], way // 2 % 2
        for is_others in (before, 1 - before):
            if is_others:
                self.other_program_orders(0)
            else:
                self.place_order_with(who, ((BCA, 0), amount, "cbbtc"), number, {}, None, 0)
                self.deliver(number, {})
            self.clock.passes(seconds=1)

    def newest_order(self) -> Order | None:
        """Return the order of the last draft, or None."""
        return next((order for order in self.orders() if order.draft_id == self.drafts[-1].id), None)

    # users

    @rule(ordered=st.tuples(*ORDERED))
    def user_places_order(self, ordered: Any) -> None:
        self.place_order_with(*ordered)

    def place_order_with(  # noqa: PLR0917  they are drawn together
        self, who: int, request: Any, number: int, plan: dict[int, Fault], anomaly: str | None, percent: int
    ) -> None:
        """Review and confirm an order. In between, the price may change, and the service may have an anomaly."""
        (method, chosen), amount, channel = request
        self.drafts.append(self.loop.run_reading(self.review(who, method, NUMBERS[method][chosen], amount, channel)))
        self.service.anomaly = anomaly
        self.change_price(percent)
        self.confirm_draft(number, 0, plan)

    async def review(self, who: int, method: Any, number: str, amount: Amount, channel: str) -> OrderDraft:
        bot = self.start_bot("review")
        draft = await bot.drafts.begin(new_draft(chat_id=who, user_id=who, now=self.clock.now()), 1)
        known = {"method": method, "number": number, "amount": amount, "channel": channel, "step": Step.REVIEW}
        quote = await self.service.quote()
        saved = await bot.drafts.save(replace(draft, holder_asked=True, quote=quote, **known), 2)
        assert saved is not None
        return saved

    @precondition(lambda self: self.drafts)
    @rule(number=bots, pick=picks, plan=plans)
    def confirm_draft(self, number: int, pick: int, plan: dict[int, Fault]) -> None:
        """Confirm one of the last drafts, perhaps again and in another process."""
        draft, bot = self.drafts[-1 - pick % len(self.drafts)], self.bots[number]
        self.run_step(bot, f"chat {draft.chat_id}", bot.confirm(draft), plan)

    @precondition(lambda self: self.orders())
    @rule(number=bots, pick=picks, plan=plans, answer=st.sampled_from(["again", "accept", "drop", "refresh"]))
    def user_answers(self, number: int, pick: int, plan: dict[int, Fault], answer: str) -> None:
        """Answer the last question, or refresh an order."""
        orders = self.orders()
        asked = [order for order in orders if self.was_asked(order, *QUESTIONS)]
        if asked and answer != "refresh":
            orders = asked
        self.answer_question(orders[pick % len(orders)], answer, number, plan)

    def answer_question(self, order: Order | None, answer: str, number: int, plan: dict[int, Fault]) -> None:
        """Press a button, if it is shown."""
        if order is None:
            return
        bot, name = self.bots[number], f"chat {order.user_id}"
        if answer == "again" and self.was_asked(order, OrderNotification.UNRESOLVED):
            self.retries[order.draft_id] += 1
            self.run_step(bot, name, bot.orders.try_again(order.reference), plan)
        elif answer == "accept" and self.was_asked(
            order, OrderNotification.PRICE_MOVED, OrderNotification.RECIPIENT_MASKED
        ):
            self.accepted.add(order.reference)
            self.run_step(bot, name, bot.orders.accept(order.reference), plan)
        elif answer == "drop" and self.was_asked(order, *QUESTIONS):
            if self.result(self.run_step(bot, name, bot.orders.drop(order.reference), plan)):
                self.dropped.add(order.reference)
        elif answer == "refresh":
            self.run_step(bot, name, self.refresh_order(bot, order), plan)

    def was_asked(self, order: Order, *notices: OrderNotification) -> bool:
        return bool(self.telegram.messages_about(order_subject(order), *notices))

    async def refresh_order(self, bot: Bot, order: Order) -> None:
        none: Any = None  # refreshing uses no contacts
        messages = StatusMessages(bot.infra, bot.settlement, bot.tracker, none)
        session = SimpleNamespace(now=self.clock.now(), t=lambda key: key)
        await messages.refresh_order(session, order)  # type: ignore[arg-type]

    # workers

    @rule(number=bots, plan=plans, worker=st.sampled_from(["poll", "find lost orders", "check overdue", "clean up"]))
    def run_worker(self, number: int, plan: dict[int, Fault], worker: str) -> None:
        bot = self.bots[number]
        self.run_step(bot, worker, self.worker_task(bot, worker), plan)

    def worker_task(self, bot: Bot, worker: str) -> Any:
        ticks: dict[str, Callable[[], Awaitable[object]]] = {
            "poll": bot.poller.tick,
            "find lost orders": bot.lost_orders.tick,
            "check overdue": bot.tracker.tick,
            "clean up": partial(self.clean_up, bot),
        }
        return ticks[worker]()

    async def clean_up(self, bot: Bot) -> None:
        async with bot.store.transaction() as tx:
            await OutboxRepository(tx).delete_old(self.clock.now() - KEEP_SENT, (NEEDS_MESSAGE_IDS,))
        await bot.tracker.find_malformed()

    @rule(number=bots, plan=plans | st.fixed_dictionaries({6: st.sampled_from(Fault), 7: st.sampled_from(Fault)}))
    def deliver(self, number: int, plan: dict[int, Fault]) -> None:
        """Send due messages until none is left. Then no message about money may wait for one of another kind."""
        self.loop.run_until_idle()  # tasks that waited for the time may queue messages, too
        self.restart_killed()
        bot, before = self.bots[number], self.hanging_calls[:]
        task = self.run_step(bot, "outbox", bot.delivery.start_due(), plan)
        while self.result(task):
            task = self.run_step(bot, "outbox", bot.delivery.start_due())
        if self.result(task) == 0 and not bot.process.is_dead and before == self.hanging_calls:
            self.check_no_money_waits(bot)

    def check_no_money_waits(self, bot: Bot) -> None:
        rows = self.loop.run_reading(self.rows())
        for chat in {row.chat_id for row in rows}:
            money = [row for row in rows if row.chat_id == chat and row.kind not in CONVENIENCES]
            head = min(money, key=lambda row: row.id, default=None)
            if head is None or head.id in bot.delivery._attempts:
                continue
            assert head.status == "sending" or head.due_at > self.clock.now(), f"{head.kind} waits"

    async def rows(self) -> list[StoredNotification]:
        async with self.sql.reading() as tx:
            return [row for chat in (EMMA, SARI, OSCAR) for row in await OutboxRepository(tx).find_unsent(chat)]

    @rule(number=bots, seconds=st.sampled_from([2, 10, 65]), pays=st.booleans())
    def pass_time_with_workers(self, number: int, seconds: int, *, pays: bool) -> None:
        """Let time pass, run all workers of a bot, and perhaps pay an order."""
        payable = self.payable()
        if pays and payable:
            self.service.receive_payment(payable[0])
        self.clock.passes(seconds=seconds)
        self.run_all_workers(number)

    @precondition(lambda self: self.hanging_calls)
    @rule(pick=picks, fault=st.sampled_from([Fault.NONE, Fault.FAIL, Fault.ODD_ANSWER, Fault.KILL]))
    def resume_call(self, pick: int, fault: Fault) -> None:
        """Resume a hanging call, however late."""
        self.hanging_calls[pick % len(self.hanging_calls)].resume(fault)
        self.loop.run_until_idle()
        self.restart_killed()

    @rule(number=bots)
    def kill_bot(self, number: int) -> None:
        self.bots[number].process.is_dead = True
        self.restart_killed()

    # time, prices, the service and Telegram

    @rule(seconds=st.sampled_from([1, 6, 20, 61, 61, 700, 3700, 90_000, 200_000]))
    def pass_time(self, seconds: int) -> None:
        self.clock.passes(seconds=seconds)
        self.loop.run_until_idle()
        self.restart_killed()

    def change_price(self, percent: int) -> None:
        self.service.rate *= 1 + Decimal(percent) / 100

    @rule()
    def toggle_list(self) -> None:
        self.service.listed = not self.service.listed

    @rule(pictures=st.booleans())
    def toggle_telegram_faults(self, *, pictures: bool) -> None:
        """Let Telegram reject pictures or be down, or end that."""
        if pictures:
            self.telegram.rejects_pictures = not self.telegram.rejects_pictures
        else:
            self.telegram.is_down = not self.telegram.is_down

    @precondition(lambda self: self.payable())
    @rule(pick=picks)
    def pay_order(self, pick: int) -> None:
        payable = self.payable()
        self.service.receive_payment(payable[pick % len(payable)])

    @precondition(lambda self: self.service.records)
    @rule(pick=picks, steps=st.sampled_from([1, 1, 2, 5]), fails=st.sampled_from([False, False, True]))
    def advance_order(self, pick: int, steps: int, *, fails: bool) -> None:
        """Move a paid order on, or let any order fail."""
        known = sorted(self.service.records)
        service_id = known[pick % len(known)]
        if fails:
            self.service.fail_order(service_id)
        else:
            self.service.advance(service_id, steps)

    @rule(who=st.sampled_from([EMMA, SARI]))
    def send_support_file(self, who: int) -> None:
        self.loop.run_reading(self.queue_support_file(who))

    async def queue_support_file(self, who: int) -> None:
        now, number = self.clock.now(), len(self.telegram.messages)
        async with self.sql.transaction() as tx:
            about = AboutTicket("T", number)
            row = ticket_notification(who, TicketNotification.REPLY, about, now, str(number))
            await OutboxRepository(tx).add([row])

    # other programs with the same key

    @rule(pick=picks)
    def other_program_orders(self, pick: int) -> None:
        """Let another program order a deposit of the sum of one of the last orders, or the next sum."""
        amounts = [each.sats or 1_200 for each in self.service.records.values() if each.deposit] or [1_200]
        amount = Amount("SAT", amounts[-1 - pick // 2 % len(amounts)] + pick % 2)
        request = OrderRequest(method=BCA, number="5550001111", holder=None, amount=amount, channel="cbbtc")
        self.service.create(request, "other")

    # invariants

    def orders(self) -> list[Order]:
        """Return all users' orders, the newest first."""
        if self.read_at != self.loop.steps:
            self.known, self.read_at = self.loop.run_reading(self._orders()), self.loop.steps
        return self.known

    async def _orders(self) -> list[Order]:
        async with self.sql.reading() as tx:
            found = [order for who in (EMMA, SARI) for order in await OrderRepository(tx).of_user(who, limit=100)]
        return sorted(found, key=lambda order: order.reference, reverse=True)

    def payable(self) -> list[str]:
        """Return the ids of the service's orders that somebody was shown and could pay."""
        shown = {
            bolt11.normalize(each.bolt11): each.service_id for each in self.service.records.values() if each.bolt11
        }
        by_invoice = {shown[payment_request] for payment_request in self.shown if payment_request in shown}
        by_deposit = {service_id for service_id in self.shown.values() if service_id in self.service.records}
        return sorted(each for each in by_invoice | by_deposit if self.service.is_payable(each))

    @invariant()
    def check_messages(self) -> None:
        fresh = [each for each in self.telegram.messages if (each.id, each.versions) not in self.checked]
        for message in fresh:
            self.checked.add((message.id, message.versions))
            payment_request = None if message.is_deleted else message.payment_request()
            # A message that is too old to delete loses its text first and its picture later. That shows nothing new.
            if payment_request and self.payment_request.get(message.id) != payment_request:
                self.check_payable(message, payment_request)
                self.payment_request[message.id] = payment_request
            if message.kind == OrderNotification.EXPIRED:
                self.check_expired(message)
            if message.kind == OrderNotification.FAILED:
                self.check_failed(message)
            self.check_repeated(message)

    def order_of(self, message: Message) -> Order:
        reference = message.notification.payload["reference"]
        return next(order for order in self.orders() if order.reference == reference)

    def check_payable(self, message: Message, payment_request: str) -> None:
        order = self.order_of(message)
        record = self.service.records[order.service_id or ""]
        request, draft = (
            self.service.actual_orders[record.service_id].request,
            next(d for d in self.drafts if d.id == order.draft_id),
        )
        assert message.chat_id == order.user_id == draft.chat_id
        assert order.reference not in self.dropped, "shown although its sender had dropped it"
        if order.reference not in self.accepted:
            assert (request.method.pair, request.number) == ((draft.method and draft.method.pair), draft.number)
        assert (request.method.pair, order.amount, request.channel) == (
            draft.method and draft.method.pair,
            draft.amount,
            draft.channel,
        )
        if request.channel != LIGHTNING:
            self.check_deposit(order, request, record)
        else:
            assert request.amount == draft.amount
        if INVOICE.fullmatch(payment_request):
            assert payment_request == bolt11.normalize(record.bolt11 or "")
        else:
            assert f"uint256={record.sats}" in payment_request
        self.check_amounts(payment_request, request, record.idr, record.sats)
        if order.reference not in self.accepted:
            locked = Decimal(record.sats or 0) / (record.idr or 1)
            drift = (locked * order.expected_idr / order.expected_sats - 1) * 100
            assert MAX_BETTER <= drift <= MAX_WORSE, f"shown at a price that is {drift:.1f}% worse"
        if not INVOICE.fullmatch(payment_request) and self.is_done(self.shown.get(payment_request)):
            self.shown.pop(
                payment_request
            )  # all deposits share an address: the amount is available again once its order is done
        before = self.shown.setdefault(payment_request, record.service_id)
        assert before == record.service_id, "one payment for two orders"
        same_request = {o.reference for o in self.orders() if o.draft_id == order.draft_id}
        shown = {
            m.notification.subject
            for m in self.telegram.messages
            if m.payment_request() and m.notification.payload["reference"] in same_request
        }
        assert len(shown) <= 1, "two invoices for one request"

    def is_done(self, service_id: str | None) -> bool:
        return any(
            order.service_id == service_id and (order.phase is Phase.DONE or order.is_paid) for order in self.orders()
        )

    def check_deposit(self, order: Order, request: OrderRequest, record: OrderReport) -> None:
        """Check that a deposit is ordered in sats, and brings at least the rupiah that were asked for."""
        assert request.amount == Amount("SAT", order.expected_sats)
        if order.amount.currency == "SAT":
            assert request.amount.value >= order.amount.value
        elif order.reference not in self.accepted:
            assert (record.idr or 0) >= order.amount.value, "the recipient gets less than was asked for"

    @invariant()
    def check_services_view(self) -> None:
        """Check for each deposit that is in sight which of the service's open orders a payment of it could settle."""
        for message in self.telegram.messages:
            shown = None if message.is_deleted else message.payment_request()
            service_id = shown and self.shown.get(shown)
            if not shown or not service_id or not TRANSFER.fullmatch(shown):
                continue
            record = self.service.records[service_id]
            others = self.service.could_settle(record.channel or "", record.sats)
            if service_id in others:
                rivals = [each for each in others if each != service_id and not self.is_unforeseeable(each, record)]
                assert not rivals, f"a payment for {service_id} can settle {rivals}"

    def is_unforeseeable(self, rival: str, shown: OrderReport) -> bool:
        """Return whether the bot couldn't know of `rival` when it showed an order.

        Another program can order the same afterwards, or out of the list. The service can name a sum that nobody asked
        for.
        """
        actual, created_at = self.service.actual_orders[rival], self.service.records[rival].created_at
        assert created_at is not None
        is_later = actual.requested_by == "other" and shown.created_at is not None and created_at >= shown.created_at
        return is_later or not self.service.is_as_requested(rival)

    def check_amounts(self, payment_request: str, request: Any, idr: int | None, sats: int | None) -> None:
        cap = request.method.cap
        assert idr is not None
        assert idr >= MINIMUM
        assert cap is None or idr <= cap
        assert request.amount.value == (idr if request.amount.currency == "IDR" else sats)
        if INVOICE.fullmatch(payment_request):
            assert payment_request.startswith("lnbcrt")
            bolt11.check(bolt11.decode(payment_request), sats=sats or 0, network="bcrt", now=self.clock.now())

    def check_expired(self, message: Message) -> None:
        """Check that an expired order is unpaid: the service was polled after the expiry."""
        assert self.paid_at(self.order_of(message)) is None, "told as expired though it was paid"

    def check_failed(self, message: Message) -> None:
        if self.paid_at(self.order_of(message)) is not None:
            assert not says(message.html, "orders.notification.failed_unpaid"), "told as unpaid though it was paid"

    def paid_at(self, order: Order) -> Any:
        actual = self.service.actual_orders.get(order.service_id or "")
        return actual and actual.paid_at

    def check_repeated(self, message: Message) -> None:
        """Check that only one copy of a message has no note that it may be a repetition."""
        mark = text("infra.outbox.again")
        if message.kind in {"ticket_reply", OrderNotification.EDIT_STATUS, OrderNotification.INVOICE_TEXT}:
            return
        copies = [
            m
            for m in self.telegram.messages
            if notification_key(m.notification) == notification_key(message.notification)
        ]
        unmarked = [m for m in copies if mark not in readable(m.sent_html)]
        assert len({m.chat_id for m in unmarked}) == len(unmarked), (
            f"{message.notification.kind} came twice and didn't say so"
        )

    @invariant()
    def check_no_double_post(self) -> None:
        posts = Counter(self.service.posts)
        assert all(times == 1 for times in posts.values()), "an intent was posted twice"
        orders = {order.reference: order for order in self.orders()}
        assert posts.keys() <= orders.keys(), "posted without a saved intent"
        per_draft = Counter(orders[reference].draft_id for reference in posts)
        assert all(times <= 1 + self.retries[draft] for draft, times in per_draft.items())

    @invariant()
    def check_open_limit(self) -> None:
        waiting = Counter(o.user_id for o in self.orders() if can_still_be_paid(o, self.clock.now()))
        assert all(count <= OPEN_AT_ONCE for count in waiting.values())

    # end of a run

    def teardown(self) -> None:
        try:
            self.let_everything_finish()
            self.check_end()
        finally:
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.run_until_idle()
            self.loop.run_reading(self.sql.close())
            self.loop.close()

    def let_everything_finish(self) -> None:
        """Resume all calls, keep one bot, end all faults of the service, and let time pass."""
        self.service.listed, self.service.anomaly, self.telegram.is_down = True, None, False
        while self.hanging_calls:
            self.resume_call(0, Fault.NONE)
        self.bots[0].process.is_dead = True
        self.restart_killed()
        pauses = (1, 6, 10, 65, 70, 700, 3700, 20_000, 70_000, 90_000, 90_000, 300_000, 300_000)
        for pause in pauses:
            self.run_all_workers()
            self.check_messages()
            self.clock.passes(seconds=pause)
            if pause > 60:
                for service_id in self.service.records:
                    self.service.advance(service_id, 2)
        self.run_all_workers()

    def run_all_workers(self, number: int = 1) -> None:
        bot = self.bots[number]
        for worker in ("find lost orders", "poll", "check overdue", "clean up"):
            self.run_step(bot, worker, self.worker_task(bot, worker))
        self.deliver(number, {})

    def check_end(self) -> None:
        self.check_messages()
        rows = self.loop.run_reading(self.rows())
        assert not rows, f"never told: {[row.kind for row in rows]}"
        for order in self.orders():
            self.check_resolved(order)
            self.check_notifications(order)
            self.check_invoice_removed(order)
        for who in (EMMA, SARI):
            self.loop.run_reading(self.bots[1].check_user(who))

    def check_resolved(self, order: Order) -> None:
        ends = {Phase.REFUSED, Phase.ABANDONED, Phase.DONE}
        state = self.service.records[order.service_id].state if order.service_id else ""
        assert order.phase in ends, f"{order.reference} stays {order.phase}"
        if order.phase is Phase.DONE:
            assert order.state == state or not self.paid_at(order)

    def check_notifications(self, order: Order) -> None:
        events = self.loop.run_reading(self.events(order))
        if not any(event.phase is Phase.OPEN for event in events):
            return
        about, subject = self.telegram.messages_about, order_subject(order)
        refused = {each.kind for each in self.telegram.rejected if each.subject == subject}
        sent = {each.kind for each in about(subject, *OrderNotification)} | refused
        state, actual = self.service.records[order.service_id or ""].state, self.paid_at(order)
        if actual:
            assert sent & set(MONEY_ENDS), f"nothing told of the payment of {order.reference}"
        if state == "COMPLETED":
            assert OrderNotification.SENT in sent
        elif state == "FAILED":
            assert sent & {OrderNotification.FAILED, *(() if actual else (OrderNotification.EXPIRED,))}
            assert not actual or (AlarmKind.ORDER_FAILED, order.reference) in self.loop.run_reading(self.alarms())
        elif not actual and order.expires_at:
            assert OrderNotification.EXPIRED in sent

    async def alarms(self) -> Any:
        async with self.sql.reading() as tx:
            return [(each.kind, each.subject) for each in await AlarmRepository(tx).find_open()]

    async def events(self, order: Order) -> Any:
        async with self.sql.reading() as tx:
            return await OrderRepository(tx).events(order.reference)

    def check_invoice_removed(self, order: Order) -> None:
        """Check that invoices are removed. If one was sent twice, the bot knows only one copy."""
        if order.is_paid or order.is_ended or order.phase is Phase.DONE or order.is_expired(self.clock.now()):
            for notice in (OrderNotification.INVOICE, OrderNotification.INVOICE_TEXT):
                copies = self.telegram.messages_about(order_subject(order), notice)
                left = [each for each in copies if each.is_known and not each.is_deleted and each.payment_request()]
                assert len(left) <= max(len(copies) - 1, 0), f"{order.reference} can still be paid in the chat"


def notification_key(notification: StoredNotification) -> tuple[str, str, str]:
    """Return what identifies a notification in a chat."""
    return notification.subject, notification.kind, notification.mark


def test_no_life_of_an_order_breaks_a_promise(migrated_file: Path, tmp_path: Path) -> None:
    shutil.copy(migrated_file, tmp_path / "empty.db")
    OrderLifeMachine.folder = tmp_path
    with predictable_output():
        run_state_machine_as_test(
            OrderLifeMachine,
            settings=settings(
                max_examples=max(settings().max_examples // 5, 1),
                stateful_step_count=20,
                suppress_health_check=list(HealthCheck),
            ),
        )
