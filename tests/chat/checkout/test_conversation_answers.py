"""Stories of every question with valid, unusual, wrong and impossible answers."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from bot.checkout.conversation import END, Context
from bot.checkout.draft import Step
from bot.checkout.handlers import DraftHandlers
from bot.infra.db.errors import StoreDown
from bot.users.session import Session
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.new_users import new_user
from tests.e2e.system import System
from tests.texts import label, like, says, text

pytestmark = pytest.mark.asyncio(loop_scope="session")


def wide(text: str) -> str:
    """Return the text in full-width characters, as East Asian keyboards type them."""
    return "".join(chr(ord(character) + 0xFEE0) for character in text)


async def at_number(shared_system: System, bank: str) -> ChatUser:
    """Return a user who has chosen a destination."""
    user = await new_user(shared_system)
    await user.says("/send")
    await user.sees(like("checkout.destination.ask"))
    await user.says(bank)
    await user.sees(f"{like('checkout.number.ask_bank')}|{like('checkout.number.ask_ewallet')}")
    return user


async def test_an_answer_that_is_handled_again_after_it_was_saved_answers_no_other_question(
    shared_system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, show = await at_number(shared_system, "bca"), DraftHandlers.show
    failures = iter([StoreDown("away")])

    async def fail_once(handlers: DraftHandlers, session: Session) -> None:
        if session.user.id == user.id and (failure := next(failures, None)) is not None:
            raise failure
        await show(handlers, session)

    monkeypatch.setattr(DraftHandlers, "show", fail_once)
    await user.says("1234567890")
    asked = await user.sees(like("checkout.holder.ask"))
    assert not says(text_of(asked), "recipients.holder.not_a_name")


async def test_a_callback_returns_the_state_that_the_row_has(
    shared_system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, returned, read_state = await new_user(shared_system), list[object](), vars(Context)["state"].fget

    def compare(context: Context) -> Step | int:
        state: Step | int = read_state(context)
        if context.session.user.id == user.id:
            returned.append(state)
            with closing(sqlite3.connect(shared_system.state / "kirim.db")) as database:
                find = "SELECT step FROM drafts WHERE chat_id = ? AND status = 'open'"
                row = database.execute(find, (user.chat_id,)).fetchone()
            assert state == (row[0] if row else END)
        return state

    monkeypatch.setattr(Context, "state", property(compare))
    for said, seen in (
        ("/send", "checkout.destination.ask"),
        ("bca", "checkout.number.ask_bank"),
        ("no number", "recipients.number.missing"),
        ("1234567890", "checkout.holder.ask"),
        ("Budi", "checkout.amount.ask"),
        ("/cancel", "checkout.draft.cancelled"),
        ("500rb bca 1234567890 Budi", "checkout.review.title"),
    ):
        await user.says(said)
        await user.sees(like(seen))
    await user.taps(label("checkout.review.confirm"))
    await user.sees(like("orders.status_message.waiting"))
    steps = (Step.DESTINATION, Step.NUMBER, Step.NUMBER, Step.HOLDER, Step.AMOUNT, END, Step.REVIEW, END)
    assert returned == list(steps)


async def test_a_typed_name_finds_the_right_destination(shared_system: System) -> None:
    typed = {
        "bca": r"^BCA · BANK CENTRAL ASIA\n",
        "mandri": r"^Mandiri · BANK MANDIRI\n",
        "gopay": "^" + like("checkout.number.ask_ewallet", name="GoPay"),
        "seabank": r"^SeaBank · SEABANK INDONESIA\n",
        f"{wide('BNI')}\u200b": r"^BNI · BANK NEGARA INDONESIA\n",
        "BCA syariah": r"BCA SYARIAH\n",
    }

    async def finds(query: str, shown: str) -> None:
        user = await new_user(shared_system)
        await user.says("/send")
        await user.sees(like("checkout.destination.ask"))
        await user.says(query)
        await user.sees(shown)

    await asyncio.gather(*(finds(query, shown) for query, shown in typed.items()))


async def test_numbers_are_cleaned_and_shown_back_and_doubts_are_questions(shared_system: System) -> None:
    async def answered(bank: str, number: str, shown: str) -> None:
        user = await at_number(shared_system, bank)
        await user.says(number)
        await user.sees(shown)

    def odd(actual: int) -> str:
        return text("recipients.number.unusual_length", method="BCA", expected=10, actual=actual)

    async def asked_about_number() -> None:
        user = await at_number(shared_system, "bca")
        await user.says("123-456 789")
        await user.sees(like("checkout.number.doubt", name="BCA", number="123456789", remark=odd(9)))
        await user.says("123 456 78")
        await user.sees(like("checkout.number.doubt", name="BCA", number="12345678", remark=odd(8)))
        await user.taps(label("checkout.number.use_it"))
        await user.sees("^" + like("checkout.holder.ask", recipient="BCA · 12345678"))

    which = like("checkout.number.ask_bank", name="BCA · BANK CENTRAL ASIA")

    def whose(recipient: str) -> str:
        return "^" + like("checkout.holder.ask", recipient=recipient)

    await asyncio.gather(
        asked_about_number(),
        answered("bca", "123-456 7890", whose("BCA · 1234567890")),
        answered("bca", f"\u202a{wide('12345')} 67890\u202c", whose("BCA · 1234567890")),
        answered("bca", "Gopay", like("checkout.number.ask_ewallet", name="GoPay")),
        answered("gopay", "bank mandiri", like("checkout.number.ask_bank", name="Mandiri · BANK MANDIRI")),
        answered("bca", "12ab", f"{like('recipients.number.not_digits')}\n\n{which}"),
        answered("bca", "1234", f"{like('recipients.number.too_short', actual=4)}\n\n{which}"),
        answered("bca", "🙈" * 2048, like("recipients.number.missing")),
        answered("gopay", "+62 812-3456-7890", whose("GoPay · 081234567890")),
        answered("gopay", "62812 3456 7890", whose("GoPay · 081234567890")),
        answered("ovo", wide("081234567890"), whose("OVO · 081234567890")),
        answered("dana", "021 3456789", like("recipients.number.landline")),
        answered("dana", "+60 12-345 6789", like("recipients.number.foreign", code="+60")),
    )


async def test_a_holders_name_is_welcome_and_never_required(shared_system: System) -> None:
    async def named(typed: str, shown: str) -> None:
        user = await at_number(shared_system, "bca")
        await user.says("1234567890")
        await user.sees(like("checkout.holder.ask"))
        await user.says(typed)
        await user.sees(shown)

    await asyncio.gather(
        named("  budi   santoso ", like("checkout.amount.ask", recipient="BCA · 1234567890 · budi santoso")),
        named("<b>Budi</b> & Co", f"{like('recipients.holder.symbols')}\n\n{like('checkout.holder.ask')}"),
        named("O'Neil & Sons", like("checkout.amount.ask", recipient="BCA · 1234567890 · O'Neil & Sons")),
        named("😀" * 2048, like("checkout.holder.ask")),
        named("12345", f"{like('recipients.holder.not_a_name')}\n\n{like('checkout.holder.ask')}"),
    )
