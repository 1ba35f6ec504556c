"""The messages in which an asker has shared a request follow it, and nobody else's do."""

import re
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from bot.app import build_declared
from bot.infra.outbox.model import DeliveryOutcome, StoredNotification, Undeliverable
from bot.infra.outbox.rendering import Renderers
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, NotModified, Outcome, TryLater, Unreachable
from bot.infra.telegram.ui.screen import Keyboard
from bot.orders.order import payer_in_chat
from bot.payment_requests import user_data
from bot.payment_requests.model import MAX_SHARED, PaymentRequest, PaymentRequestRules, new_token
from bot.payment_requests.notifications import RENDERERS, PaymentRequestNotification
from bot.payment_requests.paying.notifications import LinkNotification
from bot.payment_requests.paying.service import PayService
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payment_requests.service import PaymentRequestService, ReportService
from bot.users.readers import RenderContext, RenderContexts
from bot.users.repository import DeletionRepository
from tests.infra.builders import all_notifications, an_infra
from tests.orders.order_system import EMMA, OSCAR, SARI, OrderSystem, RecordingSender
from tests.payment_requests.test_paying import a_system, ask, connect, pay
from tests.settlement.fake_settlement import FakeSettlement, MovedClock
from tests.texts import like, readable
from tests.users.stored_data import delete_user

FIRST, SECOND = "inline-first", "inline-second"
RULES = PaymentRequestRules(operator_ids=frozenset({OSCAR}))


class SharedMessages:
    """The messages by Telegram's id: their text, and whether they have a button. `outcomes`: of the next edits."""

    username = "kirim_bot"

    def __init__(self) -> None:
        self.shown: dict[str, tuple[str, bool]] = {}
        self.outcomes: deque[Outcome] = deque()
        self.calls = 0

    async def edit_inline(self, inline_id: str, html: str, keyboard: Keyboard = ()) -> Outcome:
        self.calls += 1
        if self.outcomes and not isinstance(outcome := self.outcomes.popleft(), Delivered):
            return outcome
        shown = (readable(html), bool(keyboard))
        is_new = self.shown.get(inline_id) != shown
        self.shown[inline_id] = shown
        return Delivered() if is_new else NotModified()


class Sender(RecordingSender):
    """Records messages to chats, and edits the messages that share a request."""

    def __init__(self, clock: MovedClock, messages: SharedMessages) -> None:
        super().__init__(clock)
        self.messages = messages

    async def send(self, notification: StoredNotification) -> DeliveryOutcome:  # type: ignore[override]  # of edits
        if notification.kind != PaymentRequestNotification.SHARED:
            return await super().send(notification)
        assert self.store is not None
        readers = RenderContexts(an_infra(self.store, self.clock, self.messages))
        renderers: Renderers[RenderContext] = Renderers(readers.open, RENDERERS)
        return await renderers.send(notification)


@pytest.fixture
def messages() -> SharedMessages:
    return SharedMessages()


@pytest.fixture
async def system(file: str, service: FakeSettlement, messages: SharedMessages) -> AsyncIterator[OrderSystem]:
    system = a_system(file, service, sender=Sender(service.clock, messages))
    yield system
    await system.close()


@pytest.fixture
def paying(system: OrderSystem) -> PayService:
    return connect(system)


@pytest.fixture
def requests(system: OrderSystem) -> PaymentRequestService:
    return PaymentRequestService(system.infra, RULES)


async def read(system: OrderSystem, request: PaymentRequest) -> PaymentRequest | None:
    async with system.sql.reading() as tx:
        return await PaymentRequestRepository(tx).get(request.id)


async def shared(system: OrderSystem, requests: PaymentRequestService, **changes: object) -> PaymentRequest:
    """Return a request of Sari's that she has shared in two messages."""
    request = await ask(system, **changes)
    for message in (FIRST, SECOND):
        await requests.record_shared(SARI, request.id, message)
    return request


async def says(system: OrderSystem, messages: SharedMessages, key: str, *, button: bool = False) -> None:
    """Check what both messages say after the outbox was sent, and whether they can be paid."""
    await system.deliver()
    assert messages.shown.keys() == {FIRST, SECOND}
    for said, has_button in messages.shown.values():
        assert re.search(like(key), said), said
        assert has_button is button
        assert "Sari Dewi" in said
        assert "7731004455" not in said


async def test_messages_of_a_request_for_one_payment_say_what_became_of_it(
    system: OrderSystem, paying: PayService, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    request = await shared(system, requests, is_reusable=False, idr=None)
    await pay(system, paying, payer_in_chat(EMMA), request, idr=170_000)
    await system.deliver()
    assert messages.shown == {}, "an order that isn't paid is nobody's business"
    for state, key in (("LN_INVOICE_PAID", "in_progress"), ("COMPLETED", "sent")):
        system.service.becomes("svc-1", state)
        await system.poll()
        await system.poll()
        await says(system, messages, f"payment_requests.shared.{key}")
        assert not any("170" in said for said, _ in messages.shown.values()), "the sum that was paid"
    kept = await read(system, request)
    assert kept is not None
    assert kept.shared == (), "after the last change the ids are gone"


async def test_they_say_that_the_payment_failed(
    system: OrderSystem, paying: PayService, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    request = await shared(system, requests, is_reusable=False)
    await pay(system, paying, payer_in_chat(EMMA), request)
    system.service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    system.service.becomes("svc-1", "FAILED")
    await system.poll()
    await says(system, messages, "payment_requests.shared.failed")


async def test_a_link_that_is_closed_while_a_payment_is_on_its_way_says_what_becomes_of_the_payment(
    system: OrderSystem, paying: PayService, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    request = await shared(system, requests, is_reusable=False)
    await pay(system, paying, payer_in_chat(EMMA), request)
    system.service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    await requests.close(SARI, request.id)
    await says(system, messages, "payment_requests.shared.in_progress")
    system.service.becomes("svc-1", "COMPLETED")
    await system.poll()
    await system.poll()
    await says(system, messages, "payment_requests.shared.sent")


async def test_messages_of_a_reusable_request_say_nothing_of_payments(
    system: OrderSystem, paying: PayService, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    request = await shared(system, requests)
    await pay(system, paying, payer_in_chat(EMMA), request)
    for state in ("LN_INVOICE_PAID", "COMPLETED"):
        system.service.becomes("svc-1", state)
        await system.poll()
    await system.deliver()
    assert messages.calls == 0
    await requests.close(SARI, request.id)
    await says(system, messages, "payment_requests.pay.closed")


async def test_the_button_goes_while_it_cannot_be_paid(
    system: OrderSystem, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    request = await shared(system, requests, ends_at=system.clock.now() + timedelta(hours=1))
    await requests.pause(SARI, request.id)
    await says(system, messages, "payment_requests.pay.paused")
    await requests.resume(SARI, request.id)
    await says(system, messages, "payment_requests.inline.message", button=True)
    await requests.follow_ended()
    await system.deliver()
    calls = messages.calls
    system.clock.passes(seconds=3_600)
    for _ in range(3):
        await requests.follow_ended()
        await says(system, messages, "payment_requests.pay.ended")
    assert messages.calls == calls + 2, "once for its end"
    kept = await read(system, request)
    assert kept is not None
    assert kept.shared == (FIRST, SECOND), "its asker can set another end"


@pytest.mark.parametrize("is_all", [True, False])
async def test_what_an_operator_closes_is_closed_there_too(
    system: OrderSystem, requests: PaymentRequestService, messages: SharedMessages, *, is_all: bool
) -> None:
    request = await shared(system, requests)
    other = await ask(system, request_id="f" * 16, token=new_token())
    await requests.record_shared(SARI, other.id, "inline-other")
    await ReportService(system.infra, RULES).close(OSCAR, request.id, is_all=is_all)
    await system.deliver()
    assert ("inline-other" in messages.shown) is is_all
    messages.shown.pop("inline-other", None)
    await says(system, messages, "payment_requests.pay.closed")


async def test_a_deletion_waits_until_they_are_closed_and_the_ids_go_with_it(
    system: OrderSystem, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    request = await shared(system, requests)
    async with system.sql.transaction() as tx:
        await user_data.begin_deletion(tx, SARI, system.clock.now())
        assert await DeletionRepository(tx).has_notifications(SARI)
    await says(system, messages, "payment_requests.pay.closed")
    async with system.sql.transaction() as tx:
        await user_data.begin_deletion(tx, SARI, system.clock.now())
        assert not await DeletionRepository(tx).has_notifications(SARI)
        await delete_user(tx, SARI)
    assert await read(system, request) is None


async def test_a_deletion_does_not_wait_for_messages_that_can_never_be_edited(
    system: OrderSystem, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    await shared(system, requests)
    messages.outcomes.extend([TryLater(0)] * 100)
    for _ in range(2):
        async with system.sql.transaction() as tx:
            await user_data.begin_deletion(tx, SARI, system.clock.now())
        for _ in range(30):
            await system.deliver()
            system.clock.passes(seconds=3_600)
    async with system.sql.reading() as tx:
        assert not await DeletionRepository(tx).has_notifications(SARI)


async def test_nobody_elses_message_is_recorded_and_one_is_recorded_once(
    system: OrderSystem, requests: PaymentRequestService
) -> None:
    request = await ask(system)
    for user, request_id in ((EMMA, request.id), (OSCAR, request.id), (SARI, "0" * 16), (SARI, "price-150000")):
        await requests.record_shared(user, request_id, FIRST)
    assert await read(system, request) == request
    for _ in range(2):
        await requests.record_shared(SARI, request.id, FIRST)
    assert await read(system, request) == replace(request, shared=(FIRST,))


async def test_of_many_shares_the_newest_follow(system: OrderSystem, requests: PaymentRequestService) -> None:
    request = await ask(system)
    for n in range(200):
        await requests.record_shared(SARI, request.id, f"inline-{n}")
    kept = await read(system, request)
    assert kept is not None
    assert kept.shared == tuple(f"inline-{n}" for n in range(200 - MAX_SHARED, 200))


async def test_what_is_shared_after_it_was_closed_is_closed_at_once(
    system: OrderSystem, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    request = await ask(system)
    await requests.close(SARI, request.id)
    await requests.record_shared(SARI, request.id, FIRST)
    await requests.record_shared(SARI, request.id, SECOND)
    await says(system, messages, "payment_requests.pay.closed")


async def test_the_ids_are_sealed_and_in_no_other_row(system: OrderSystem, requests: PaymentRequestService) -> None:
    request = await shared(system, requests)
    await requests.pause(SARI, request.id)
    async with system.sql.reading() as tx:
        (stored,) = (await tx.connection.execute(text("SELECT shared FROM payment_requests"))).scalars()
        assert FIRST not in stored
        assert all(FIRST not in str(row) for row in await all_notifications(tx))
    assert FIRST not in repr(await read(system, request))


async def test_an_edit_is_left_out_if_a_newer_one_waits(
    system: OrderSystem, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    request = await shared(system, requests)
    for _ in range(5):
        await requests.pause(SARI, request.id)
        await requests.resume(SARI, request.id)
    await requests.close(SARI, request.id)
    await says(system, messages, "payment_requests.pay.closed")
    assert messages.calls == 2, "one edit of each message"


@pytest.mark.parametrize("lost", [Gone(), Invalid("MESSAGE_TOO_OLD"), Unreachable("bot was kicked")])
async def test_a_message_that_cannot_be_edited_stops_no_other_and_no_message_to_the_asker(
    system: OrderSystem, requests: PaymentRequestService, messages: SharedMessages, lost: Outcome
) -> None:
    request = await shared(system, requests)
    messages.outcomes.append(lost)
    await requests.close(SARI, request.id)
    await system.deliver()
    assert messages.shown.keys() == {SECOND}
    async with system.sql.reading() as tx:
        assert {row.failure for row in await all_notifications(tx)} == {None}


async def test_a_message_about_which_telegram_never_answers_stops_no_other(
    system: OrderSystem, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    request = await shared(system, requests)
    messages.outcomes.append(TryLater(0, maybe_sent=True))
    await requests.close(SARI, request.id)
    await system.deliver()
    assert messages.shown.keys() == {SECOND}
    system.clock.passes(seconds=60)
    await says(system, messages, "payment_requests.pay.closed")


async def test_they_follow_though_the_asker_has_blocked_the_bot_meanwhile(
    system: OrderSystem,
    paying: PayService,
    requests: PaymentRequestService,
    messages: SharedMessages,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = await shared(system, requests, is_reusable=False)
    await pay(system, paying, payer_in_chat(EMMA), request)
    send = system.sender.send

    async def as_blocked(notification: StoredNotification) -> DeliveryOutcome:
        if notification.kind == LinkNotification.PAID:
            return Undeliverable("bot was blocked by the user", whole_chat=True)
        return await send(notification)

    monkeypatch.setattr(system.sender, "send", as_blocked)
    system.delivery._follow_ups = build_declared().delivery._follow_ups
    messages.outcomes.append(TryLater(0))  # the edit is tried again later
    system.service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    system.clock.passes(seconds=60)
    await says(system, messages, "payment_requests.shared.in_progress")


async def test_what_was_interrupted_is_edited_again_and_changes_nothing(
    system: OrderSystem, requests: PaymentRequestService, messages: SharedMessages
) -> None:
    request = await shared(system, requests)
    await requests.close(SARI, request.id)
    async with system.sql.transaction() as tx:
        (row,) = await all_notifications(tx)
    messages.outcomes.extend([Delivered(), TryLater(0)])
    sent = system.sender.send
    assert (await sent(row)).__class__.__name__ == "RetryLater"
    assert messages.shown.keys() == {FIRST}
    for _ in range(2):  # the second as after a kill between the edit and its row
        await sent(row)
    await says(system, messages, "payment_requests.pay.closed")
