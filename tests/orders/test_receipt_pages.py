"""Receipts on the web, with a real database: the page of an order that was sent, and the check of a code by anyone."""

import asyncio
import html
import re
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest

from bot.infra.db.database import Database
from bot.infra.http.health import Health
from bot.infra.i18n import LOCALES
from bot.infra.metrics import LoopLag
from bot.infra.watchdog import ProcessState
from bot.orders.order import Order, Phase
from bot.orders.pay_page.app import CODES_PACE, create_app
from bot.orders.pay_page.lookup import BatchedReads, TooMany
from bot.orders.receipts.codes import compact_code, new_code
from bot.orders.receipts.service import ReceiptService
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderStep
from bot.users.model import Provider, User
from bot.users.repository import UserRepository
from tests.infra.keys import VAULT
from tests.orders.builders import an_open_order, as_sent
from tests.pictures import qr_texts
from tests.screens import NOW
from tests.settlement.fake_settlement import MovedClock
from tests.texts import TRANSLATIONS, label
from tests.users.stored_data import delete_user

TOKEN = "abcdefghijklmnopqrstuvwxyz_-0123"
PAGE = f"/p/{TOKEN}"
PUBLIC, BOT = "https://pay.example/kirim", "kirim_bot"
PRIVATE = ("1234567890", "567890", "Budi", "Santoso", "lnbcrt", "cm1")
SENT = replace(as_sent(an_open_order(holder="Budi Santoso")), page_token=TOKEN)
NOT_SENT: Mapping[str, dict[str, Any]] = {
    "waiting": {"state": "IDLE", "phase": Phase.OPEN, "step": OrderStep.CREATED, "paid_at": None, "ended_at": None},
    "sending": {"state": "IDR_SETTLED", "phase": Phase.OPEN, "step": OrderStep.SENDING, "ended_at": None},
    "expired": {
        "state": "IDLE",
        "phase": Phase.OPEN,
        "step": OrderStep.CREATED,
        "paid_at": None,
        "ended_at": None,
        "expires_at": NOW,
    },
    "failed_paid": {"state": "FAILED"},
    "failed_unpaid": {"state": "FAILED", "step": OrderStep.CREATED, "paid_at": None},
}


@pytest.fixture
async def store(file: str) -> AsyncIterator[Database]:
    store = Database(file, VAULT)
    yield store
    await store.close()


@pytest.fixture
async def browser(store: Database, clock: MovedClock) -> AsyncIterator[httpx.AsyncClient]:
    async with client(store, clock) as made:
        yield made


def client(store: Database, clock: MovedClock, **changes: Any) -> httpx.AsyncClient:
    known: dict[str, Any] = {
        "database": store,
        "clock": clock,
        "translations": TRANSLATIONS,
        "public_url": PUBLIC,
        "bot": BOT,
        "provider": Provider(name="PT Kirim"),
        "health": Health(store, ProcessState(), LoopLag()),
    }
    app = create_app(**{**known, **changes})
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://evil.example")


async def add(store: Database, order: Order = SENT) -> None:
    async with store.transaction() as tx:
        assert await OrderRepository(tx).add(order)


async def add_sent(store: Database, clock: MovedClock, order: Order = SENT) -> str:
    """Save an order that was sent, with its receipt. Return the receipt's code without dashes."""
    await add(store, order)
    receipt = await ReceiptService(store, clock).get_or_create(order)
    assert receipt is not None
    return compact_code(receipt.code)


def text_of(answer: httpx.Response) -> str:
    """Return the words of a page without its markup."""
    return html.unescape(re.sub(r"<[^>]+>", "\n", answer.text))


def heading(answer: httpx.Response) -> str:
    (found,) = re.findall(r"<h1[^>]*>(.*?)</h1>", answer.text)
    return html.unescape(found)


@pytest.mark.parametrize("locale", LOCALES)
async def test_the_page_of_a_sent_order_is_its_receipt(
    store: Database, clock: MovedClock, browser: httpx.AsyncClient, locale: str
) -> None:
    code = await add_sent(store, clock)
    answer = await browser.get(f"{PAGE}?l={locale}")
    assert heading(answer) == label("orders.pay_page.sent", locale)
    shown, rupiah = text_of(answer), TRANSLATIONS.get(locale).rupiah(500_000)
    for fact in (rupiah, "B••• S•••••• · BCA ••••7890", "ABC2345", "BANK CENTRAL ASIA", "••••7890", "WIB"):
        assert fact in shown
    assert f"{code[:4]}-{code[4:8]}-{code[8:]}" in shown
    assert "pay.example/kirim/verify" in shown
    assert "ABC2345" in answer.text.partition("<title>")[2].partition("</title>")[0]
    assert f'data-shares="{PUBLIC}/verify/{code}"' in answer.text
    assert f'href="https://t.me/{BOT}"' in answer.text
    assert [each for each in PRIVATE if each in answer.text] == []


@pytest.mark.parametrize(("status", "changes"), NOT_SENT.items())
async def test_an_order_that_was_not_sent_shows_no_receipt(
    store: Database, clock: MovedClock, browser: httpx.AsyncClient, status: str, changes: dict[str, Any]
) -> None:
    code = await add_sent(store, clock)
    async with store.transaction() as tx:
        order = await OrderRepository(tx).get("ABC2345")
        assert order is not None
        await OrderRepository(tx).save(replace(order, **changes))
    answer = await browser.get(PAGE)
    assert f'data-state="{status}"' in answer.text
    assert [each for each in ("ABC2345", "BCA", "••••", code, "data-shares") if each in answer.text] == []
    assert f'href="https://t.me/{BOT}"' in answer.text


@pytest.mark.parametrize("locale", LOCALES)
async def test_anyone_with_the_code_sees_what_the_receipt_says(
    store: Database, clock: MovedClock, browser: httpx.AsyncClient, locale: str
) -> None:
    code = await add_sent(store, clock)
    page = await browser.get(PAGE, params={"l": locale})
    answer = await browser.get(f"/verify/{code}", headers={"accept-language": locale})
    assert (answer.status_code, heading(answer)) == (200, label("orders.receipt_page.genuine", locale))
    facts = re.compile(r"<dl.*</dl>", re.DOTALL)
    assert facts.findall(answer.text) == facts.findall(page.text) != []
    assert label("orders.receipt_page.compare", locale, host="pay.example") in text_of(answer)
    assert f'href="https://t.me/{BOT}?start=v_{code}"' in answer.text
    assert [each for each in (*PRIVATE, TOKEN) if each in answer.text] == []
    for typed in (code.lower(), f"{code[:4]}-{code[4:8]}-{code[8:]}", f"{code[:6]}%20{code[6:]}"):
        assert (await browser.get(f"/verify/{typed}", headers={"accept-language": locale})).text == answer.text


async def test_every_code_without_a_receipt_gets_the_same_answer(
    store: Database, clock: MovedClock, browser: httpx.AsyncClient
) -> None:
    await add_sent(store, clock)
    paths = ["K7QM2XPA9RTW", "short", "'OR1=1--", "%00", "ABC2345", "🎉" * 12, new_code(), "?code=K7QM", "?code="]
    paths += [f"{new_code()}/qr.png", f"{new_code()}/receipt.png", "short/qr.png"]
    answers = [await browser.get(f"/verify/{path}") for path in paths]
    assert {answer.status_code for answer in answers} == {404}
    field = re.compile(r"<input id=\"code\" [^>]*>")
    assert len({field.sub("", answer.text) for answer in answers}) == 1
    assert heading(answers[0]) == label("orders.verify_page.unknown")


@pytest.mark.parametrize(
    ("typed", "kept"), [("k7qm 2xpa9rtw", "K7QM-2XPA-9RTW"), ("short", "short"), ('">x', "&#34;&gt;x")]
)
async def test_a_wrong_code_stays_in_its_field_to_be_corrected(
    store: Database, clock: MovedClock, browser: httpx.AsyncClient, typed: str, kept: str
) -> None:
    await add_sent(store, clock)
    answer = await browser.get("/verify/", params={"code": typed}, follow_redirects=True)
    assert (answer.status_code, heading(answer)) == (404, label("orders.verify_page.unknown"))
    assert f'value="{kept}" aria-describedby="about" aria-invalid="true"' in answer.text
    assert label("orders.verify_page.unknown_text") in text_of(answer)


async def test_after_a_deletion_a_receipt_can_be_checked_without_its_recipient(
    store: Database, clock: MovedClock, browser: httpx.AsyncClient
) -> None:
    code = await add_sent(store, clock)
    assert (await browser.get(PAGE)).status_code == 200
    async with store.transaction() as tx:
        await UserRepository(tx).save(User(id=SENT.user_id, created_at=NOW))
        await delete_user(tx, SENT.user_id)
    assert (await browser.get(PAGE)).status_code == 404
    answer = await browser.get(f"/verify/{code}")
    assert heading(answer) == label("orders.receipt_page.genuine")
    assert "ABC2345" in answer.text
    assert [each for each in (*PRIVATE, "7890", "B•••", "receipt.png") if each in answer.text] == []
    assert (await browser.get(f"/verify/{code}/receipt.png")).status_code == 404


class SlowReads(BatchedReads[str]):
    """Reads at the pace of codes, without real time. Nothing is served before `pace` is set."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.batches: list[tuple[str, ...]] = []
        self.pace = asyncio.Event()
        super().__init__(self._found, CODES_PACE)
        patch.setattr("bot.orders.pay_page.lookup.asyncio.sleep", self._pause)

    async def _found(self, codes: Collection[str]) -> dict[str, str]:
        await self.pace.wait()
        self.batches.append(tuple(codes))
        return dict.fromkeys(codes, "found")

    async def _pause(self, _seconds: float) -> None:
        await asyncio.get_running_loop().run_in_executor(None, int)


async def ask(reads: BatchedReads[str], codes: Iterable[object]) -> list[asyncio.Task[str | None]]:
    """Ask for each of these codes at once."""
    asked = [asyncio.create_task(reads.find(str(code))) for code in codes]
    for _ in range(2):  # until each of them waits
        await asyncio.get_running_loop().run_in_executor(None, int)
    return asked


async def test_a_genuine_code_is_checked_although_600_guesses_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = SlowReads(monkeypatch)
    asked = await ask(reads, ["being read"])
    guesses = await ask(reads, range(600))
    (genuine,) = await ask(reads, ["genuine"])
    reads.pace.set()
    assert await genuine == "found"
    results = await asyncio.gather(*asked, *guesses, return_exceptions=True)
    assert sum(isinstance(each, TooMany) for each in results) == 101
    assert results.count("found") == 500


async def test_the_pictures_of_a_receipt_lead_to_its_check(
    store: Database, clock: MovedClock, browser: httpx.AsyncClient
) -> None:
    code = await add_sent(store, clock)
    page = await browser.get(PAGE)
    for source in (f"../verify/{code}/qr.png", f"../verify/{code}/receipt.png?l=en"):
        assert f'"{source}"' in page.text
        answer = await browser.get(source.removeprefix(".."))
        assert answer.headers["content-type"] == "image/png"
        assert qr_texts(answer.content) == [f"{PUBLIC}/verify/{code}"]
