"""Users on the whole way from /send to a paid order, and the check of what each of them saw."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.faults import INVOICE
from tests.e2e.new_users import Sender, new_sender
from tests.e2e.orders.steps import DESTINATION_QUESTION, complete_order, review_pattern
from tests.e2e.system import System
from tests.replicas.chat_record import ChatRecord
from tests.texts import label, like, says

QUESTIONS = (
    DESTINATION_QUESTION,
    like("checkout.number.ask_bank"),
    like("checkout.holder.ask"),
    like("checkout.amount.ask"),
    like("checkout.review.title"),
)
"""The bot's messages on the way to an order, in their order."""

PAID, SENT = "orders.notification.paid", "orders.notification.sent_bank"
ABOUT_ORDER = {"invoice": INVOICE.pattern, "paid": like(PAID), "sent": like(SENT)}
"""The notifications that each paid order causes, in their order."""

FOUND, UNRESOLVED = like("orders.notification.recipient_masked"), like("orders.notification.unresolved")
REFUSED = like("orders.notification.refused")
PAYABLE = like("orders.status_message.waiting")
OUT_OF_DATE = (label("users.stale.button"), label("checkout.stale.cancelled"), label("checkout.stale.expired"))
"""The answers after which users press the same button of the newest message."""

MOST_PRESSES, LOOK_SECONDS = 5, 0.5
"""How often users press a button that is out of date, and how long they look at the new one before they press again."""

ANSWER_SECONDS = 30.0
"""How long a user waits for the answer to a press. A replica that dies in between may never give it."""

AMOUNT, AMOUNT_IDR = "Rp500,000", 500_000


@dataclass
class Journey:
    """One user and their order. `confirmations` is how often the user asked for it: once, and for each new try."""

    sender: Sender
    is_typing_ahead: bool = False
    confirmations: int = 0
    order: Json | None = None
    has_ended: bool = False
    answers: list[str] = field(default_factory=list)
    """What the bot answered to presses: empty, or a text such as that the button is out of date."""

    problems: list[str] = field(default_factory=list)

    @property
    def chat(self) -> ChatUser:
        """The user's chat."""
        return self.sender.chat

    async def goes_to_review(self) -> None:
        """Answer all questions. Who types ahead doesn't wait for the first ones."""
        chat, number = self.chat, self.sender.number
        if self.is_typing_ahead:
            await chat.says_all(["/send", "bca", number])
        else:
            await chat.says("/send")
            await chat.sees(QUESTIONS[0])
            await chat.says("bca")
            await chat.sees(QUESTIONS[1])
            await chat.says(number)
        await self.goes_on_to_review()

    async def goes_on_to_review(self) -> None:
        """Go on to the review, after the number."""
        chat = self.chat
        await chat.sees(QUESTIONS[2], anywhere=True)
        await chat.taps(label("checkout.holder.skip"), wait=0)
        await chat.sees(QUESTIONS[3], anywhere=True)
        await chat.says("500rb")
        await chat.sees(review_pattern(number=self.sender.number, amount=AMOUNT))

    async def confirms(self, wait: float = ANSWER_SECONDS) -> None:
        """Confirm the review, and wait so many seconds for the answer to the press."""
        self.confirmations += 1
        await self._press(label("checkout.review.confirm"), wait=wait)

    async def _press(self, button: str, message: Json | None = None, wait: float = ANSWER_SECONDS) -> None:
        """Press a button. If it is out of date, because the bot has asked again, press the newest one."""
        for _ in range(MOST_PRESSES):
            answer = await self.chat.taps(button, message=message, wait=wait)
            self.answers.append(answer["text"])
            if answer["text"] not in OUT_OF_DATE:
                return
            message = None
            await asyncio.sleep(LOOK_SECONDS)

    async def gets_invoice(self) -> Json:
        """Wait for the invoice, and decide what the bot asks. Return the service's order."""
        answered: set[int] = set()
        while True:
            shown = await self.chat.waits_for(
                _is_new_outcome(answered), anywhere=True, what="the invoice or a question"
            )
            text = text_of(shown)
            answered.add(shown["message_id"])
            if re.search(PAYABLE, text):
                break
            if re.search(FOUND, text):
                await self._press(label("orders.button.found_is_mine"), shown)
            elif re.search(UNRESOLVED, text):
                self.confirmations += 1
                await self._press(label("orders.button.try_again"), shown)
            else:
                await self._press(label("orders.button.back_to_review"), shown)
                await self.chat.sees(review_pattern(number=self.sender.number, amount=AMOUNT))
                await self.confirms()
        invoice = await self.chat.sees(INVOICE.pattern, anywhere=True)
        (bolt11,) = set(INVOICE.findall(text_of(invoice)))
        self.order = next(order for order in await self.sender.orders() if order["invoiceBolt11"] == bolt11)
        return self.order

    async def pays(self) -> None:
        """Pay, and wait until the bot says so."""
        assert self.order is not None
        await self.sender.system.service.pays(self.order)
        await self.chat.sees(like(PAID), anywhere=True)

    async def gets_rupiah_sent(self) -> None:
        """Let the service send the rupiah, and wait until the bot says so."""
        assert self.order is not None
        await complete_order(self.sender.system, self.order)
        await self.chat.sees(like(SENT), anywhere=True)
        self.has_ended = True

    async def walks(self) -> None:
        """Walk the whole way."""
        await self.goes_to_review()
        await self.goes_on_from_review()

    async def goes_on_from_review(self) -> None:
        """Confirm, pay, and wait until the rupiah are sent."""
        await self.confirms()
        await self.goes_on_from_confirmation()

    async def goes_on_from_confirmation(self) -> None:
        """Pay, and wait until the rupiah are sent."""
        await self.gets_invoice()
        await self.pays()
        await self.gets_rupiah_sent()

    async def tries_to_walk(self) -> None:
        """Walk the whole way, and note as a problem what made that impossible."""
        try:
            await self.walks()
        except (AssertionError, TimeoutError) as error:
            self.problems.append(f"{error or type(error).__name__}; presses were answered with {self.answers}")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a user saw: how often each notification came, copies without a mark, and what was wrong."""

    notifications: dict[str, int]
    unmarked_copies: list[str]
    repeated_questions: int
    problems: list[str]


async def check_chat(journey: Journey, record: ChatRecord) -> Seen:
    """Return what a user saw, with everything that was wrong: missing, in another order, or an order too many."""
    messages = list(record.messages(journey.chat.id))
    problems, unmarked = list(journey.problems), list[str]()
    counts: dict[str, int] = {}
    firsts: list[int] = []
    for name, pattern in ABOUT_ORDER.items():
        found = [index for index, message in enumerate(messages) if re.search(pattern, message.text)]
        counts[name] = len(found)
        firsts += found[:1]
        if not found and journey.has_ended:
            problems.append(f"the user never saw: {name}")
        # The first copy can be marked as well: after a kill no process knows whether it was sent.
        copies = [messages[index] for index in found[1:]]
        unmarked += [
            f"{name}, message {copy.message_id}" for copy in copies if not says(copy.text, "infra.outbox.again")
        ]
    if firsts != sorted(firsts):
        problems.append("the notifications came in another order")
    shown = [message.text for message in record.of(journey.chat.id)]
    asked = [index for pattern in QUESTIONS for index in _places(pattern, shown)[:1]]
    if asked != sorted(asked):
        problems.append("the questions came in another order")
    orders = await journey.sender.orders()
    if len(orders) > journey.confirmations:
        problems.append(f"{len(orders)} orders, and the user asked for {journey.confirmations}")
    if any(order["idrAmount"] != AMOUNT_IDR for order in orders):
        problems.append(f"orders of another amount: {[order['idrAmount'] for order in orders]}")
    repeated = sum(
        sum(re.search(pattern, message.text) is not None for message in messages) > 1 for pattern in QUESTIONS
    )
    return Seen(counts, unmarked, repeated, problems)


def _places(pattern: str, texts: Sequence[str]) -> list[int]:
    return [index for index, text in enumerate(texts) if re.search(pattern, text)]


def _is_new_outcome(answered: set[int]) -> Callable[[Json], bool]:
    outcome = re.compile(f"{PAYABLE}|{FOUND}|{UNRESOLVED}|{REFUSED}")

    def fits(message: Json) -> bool:
        return message["message_id"] not in answered and outcome.search(text_of(message)) is not None

    return fits


async def new_journey(system: System, *, is_typing_ahead: bool = False) -> Journey:
    """Return a new user who has done nothing yet."""
    return Journey(await new_sender(system), is_typing_ahead)


async def new_journeys(system: System, count: int) -> list[Journey]:
    """Return new users, every second of whom types ahead."""
    return await asyncio.gather(*(new_journey(system, is_typing_ahead=number % 2 == 1) for number in range(count)))
