"""The sandbox knows who was asked for which payment, also once the bot has changed or deleted the message."""

from pathlib import Path

from telegram import CopyTextButton, InlineKeyboardButton, InlineKeyboardMarkup

from tests.sandbox.telegram_sandbox import EMMA, SARI, Running, running

INVOICE = "lnbcrt5m1" + "q" * 120
ADDRESS = "0x" + "Ab" * 20
LINE = "Rp500,000 → BCA ••••7890 ·"
COPIED = InlineKeyboardMarkup(
    [[InlineKeyboardButton(text, copy_text=CopyTextButton(text)) for text in (ADDRESS, "0.00031412")]]
)


async def list_requests(server: Running) -> list[tuple[str, int, str]]:
    listed = (await server.people.get("/sandbox/payment-requests")).json()["payment_requests"]
    return [(request["payment"], request["chat_id"], request["reference"]) for request in listed]


async def test_invoices_and_deposits_are_remembered_with_their_user_and_reference(tmp_path: Path) -> None:
    state = tmp_path / "telegram.sqlite3"
    expected = [(INVOICE, EMMA, "ABC2345"), (f"{ADDRESS.lower()} 31412", SARI, "DEF6789")]
    async with running(state_path=state) as server:
        for person in (EMMA, SARI):
            await server.says(person, "/start")
        invoice = await server.bot.send_message(EMMA, f"{LINE} ABC2345\nPay\n{INVOICE.upper()}")
        deposit = await server.bot.send_message(SARI, f"{LINE} DEF6789\nPay", reply_markup=COPIED)
        await invoice.edit_text("Paid")
        await deposit.delete()
        assert await list_requests(server) == expected
    async with running(state_path=state) as server:
        assert await list_requests(server) == expected
