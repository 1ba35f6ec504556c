"""Stories of every question with valid, unusual, wrong and impossible answers."""

import asyncio
import re
import sqlite3
from contextlib import closing

import pytest

from bot.checkout.conversation import END, Context
from bot.checkout.draft import Step
from bot.checkout.handlers import DraftHandlers
from bot.checkout.steps.amount import COMMON
from bot.infra.db.errors import StoreDown
from bot.users.session import Session
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import review_pattern, tap_change
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


async def at_amount(shared_system: System, bank: str = "bca", number: str = "1234567890") -> ChatUser:
    """Return a user who is asked for the amount."""
    user = await at_number(shared_system, bank)
    await user.says(number)
    await user.sees(like("checkout.holder.ask"))
    await user.taps(label("checkout.holder.skip"))
    await user.sees(like("checkout.amount.ask"))
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


async def test_several_hits_are_offered_and_unknown_names_asked_again(shared_system: System) -> None:
    async def several() -> None:
        user = await new_user(shared_system)
        await user.says("/send")
        await user.sees(like("checkout.destination.ask"))
        await user.says("syariah")
        await user.sees(like("checkout.destination.several", query="syariah"))
        labels = await user.buttons()
        assert len(labels) > 4
        assert label("checkout.destination.all") in labels
        await user.taps(labels[0])
        await user.sees(like("checkout.number.ask_bank"))

    async def unknown() -> None:
        user = await new_user(shared_system)
        await user.says("/send")
        await user.sees(like("checkout.destination.ask"))
        await user.says("<b>xyzzy</b> & \u202eco")
        await user.sees(
            f"{like('checkout.destination.unknown', query='<b>xyzzy</b> & co')}\n\n{like('checkout.destination.ask')}"
        )

    async def in_pictures() -> None:
        user = await new_user(shared_system)
        await user.says("/send")
        await user.sees(like("checkout.destination.ask"))
        await user.says("🏦" * 2048)
        await user.sees(
            f"{like('checkout.destination.unknown', query=re.compile('🏦+…'))}\n\n{like('checkout.destination.ask')}"
        )

    async def leafs() -> None:
        user = await new_user(shared_system)
        await user.says("/send")
        await user.sees(like("checkout.destination.ask"))
        assert f"● {label('checkout.destination.kind.bank')}" in await user.buttons()
        first = await user.buttons()
        await user.taps(label("recipients.destination.next"))
        await user.waits_for(lambda _: True)
        assert "2 / 13" in str(await user.buttons())
        assert not set(first[2:10]) & set(await user.buttons())
        await user.taps(label("checkout.destination.kind.ewallet"))
        await user.waits_for(lambda message: f"● {label('checkout.destination.kind.ewallet')}" in str(message))
        await user.taps("OVO")
        await user.sees("^" + like("checkout.number.ask_ewallet", name="OVO"))

    await asyncio.gather(several(), unknown(), in_pictures(), leafs())


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


async def test_an_amount_is_read_as_it_is_meant_or_asked_back(shared_system: System) -> None:
    async def understood(typed: str, shown: str | re.Pattern[str]) -> None:
        user = await at_amount(shared_system)
        await user.says(typed)
        await user.sees(review_pattern(amount=shown))

    async def doubtful(typed: str, *readings: str) -> None:
        user = await at_amount(shared_system)
        await user.says(typed)
        asked = "checkout.amount.is_it" if len(readings) == 1 else "checkout.amount.which"
        await user.sees(like(asked, text=typed))
        labels = (await user.buttons())[:-2]
        assert len(labels) == len(readings)
        for shown, reading in zip(labels, readings, strict=True):
            assert says(shown, "checkout.amount.price", amount=reading)

    about = re.compile(like("checkout.review.about", amount=re.compile("Rp[0-9,]+")))
    retry_forever: dict[str, str | re.Pattern[str]] = {
        "150rb": "Rp150,000",
        "150 ribu": "Rp150,000",
        "150k": "Rp150,000",
        "1,5jt": "Rp1,500,000",
        "2 juta": "Rp2,000,000",
        "Rp 1.500.000": "Rp1,500,000",
        "1.500.000,00": "Rp1,500,000",
        "Rp50.000,-": "Rp50,000",
        "25000 sats": about,
        "25k sat": about,
        "0.0005 btc": about,
    }
    await asyncio.gather(
        *(understood(typed, shown) for typed, shown in retry_forever.items()),
        doubtful("1.500", "Rp1,500,000"),
        doubtful("1m", "Rp1,000,000"),
        doubtful("50.00", "Rp50,000"),
        doubtful(".5jt", "Rp500,000", "Rp5,000,000"),
        doubtful("Rp.5jt", "Rp500,000", "Rp5,000,000"),
    )


@pytest.mark.asyncio(loop_scope="function")
async def test_each_sum_is_shown_with_its_price_and_the_review_has_the_same(kirim: System) -> None:
    await kirim.service.keeps_its_quote()
    user = await new_user(kirim)
    await user.says("/send")
    example = await user.sees(like("checkout.amount.example", price=re.compile("Rp500,000 ≈ [0-9,]+ sats")))
    price = re.search("Rp500,000 ≈ ([0-9,]+ sats)", text_of(example))
    assert price is not None
    await user.says("bca")
    await user.sees(like("checkout.number.ask_bank"))
    await user.says("1234567890")
    await user.sees(like("checkout.holder.ask"))
    await user.says("Budi")
    await user.sees(like("checkout.amount.ask"))
    labels = (await user.buttons())[:-2]
    for shown, amount in zip(labels, COMMON, strict=True):
        assert says(shown, "checkout.amount.price", amount=f"Rp{amount:,}")
    assert f"Rp500,000 ≈ {price[1]}" in labels
    await user.says("500rb")
    await user.sees(
        like("checkout.review.figures", pay=text("checkout.review.about", amount=f"{price[1]} · Lightning"))
    )


async def test_dollars_are_asked_about_in_rupiah_and_never_taken(shared_system: System) -> None:
    async def asks(typed: str, shown: str) -> None:
        user = await at_amount(shared_system)
        await user.says(typed)
        asked = await user.sees(like("checkout.amount.dollars", text=shown))
        amount = (await user.buttons())[0].split(" ≈ ")[0]
        assert re.fullmatch(r"Rp3\d\d,000", amount)
        assert f"≈ {amount}" in text_of(asked)
        assert (await user.count(like("checkout.review.title"))) == 0
        await user.taps(amount)
        await user.sees(review_pattern(amount=amount))

    async def in_a_line() -> None:
        user = await new_user(shared_system)
        await user.says("/send $20 bca 1234567890 Budi")
        await user.sees(like("checkout.amount.dollars", text="$20"))
        await user.taps((await user.buttons())[0])
        await user.sees(review_pattern(number="1234567890", holder="Budi"))

    async def others() -> None:
        user = await at_amount(shared_system)
        for typed in ("S$20", "20 eur", "20 dolar singapura"):
            await user.says(typed)
            await user.sees(f"{like('core.amount.foreign')}\n\n{like('checkout.amount.ask')}")

    await asyncio.gather(
        asks("$20", "$20"), asks("20 USD", "20 USD"), asks("20usdt ya", "20usdt"), in_a_line(), others()
    )


async def test_amounts_that_do_not_fit_are_refused_with_the_one_that_would(shared_system: System) -> None:
    async def refused(typed: str, shown: str, bank: str = "bca", number: str = "1234567890") -> None:
        user = await at_amount(shared_system, bank, number)
        await user.says(typed)
        await user.sees(f"{shown}\n\n{like('checkout.amount.ask')}")

    async def chosen() -> None:
        user = await at_amount(shared_system)
        await user.says("1.500")
        await user.sees(like("checkout.amount.is_it", text="1.500"))
        await user.taps("Rp1,500,000")
        await user.sees(like("checkout.review.figures", amount="Rp1,500,000"))
        await tap_change(user, "amount")
        await user.sees(like("checkout.amount.ask"))
        await user.taps("Rp50,000")
        await user.sees(like("checkout.review.figures", amount="Rp50,000"))

    await asyncio.gather(
        chosen(),
        refused("19.999", like("orders.amount.below_minimum", minimum=20_000)),
        refused("100 sats", like("orders.amount.below_minimum", minimum=20_000)),
        refused("$1", like("orders.amount.below_minimum", minimum=20_000)),
        refused("21jt", like("orders.amount.above_cap", name="GoPay", cap=20_000_000), "gopay", "081234567890"),
        refused("-50000", like("core.amount.not_positive")),
        refused("lots of money", like("core.amount.unreadable")),
        refused("💸" * 2048, like("core.amount.unreadable")),
        refused("<b>5</b>", like("core.amount.unreadable")),
        refused("999999999jt", f"(?:{like('core.amount.too_large')}|{like('orders.amount.above_cap', name='BCA')})"),
    )
