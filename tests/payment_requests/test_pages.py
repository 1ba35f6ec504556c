"""The page of a request in a browser: what it shows and to whom, one order for each payer, and its bounds."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from bot.core.locales import LOCALES
from bot.infra.http.server import CONTENT_SECURITY_POLICY
from bot.orders.limits import MAX_YOUNG, LinkLimits
from bot.orders.order import Phase, payer_in_chat
from bot.orders.repository import OrderRepository
from bot.orders.tables import orders
from bot.payment_requests.model import ClosedBy, RequestStatus
from bot.payment_requests.paying.notifications import LinkNotification
from bot.payment_requests.paying.service import PayService, check_link
from bot.payment_requests.repository import PaymentRequestRepository, ReportRepository
from bot.payment_requests.tables import payment_requests
from bot.support.service import answer_on_page
from tests.orders.crashes import Crash
from tests.orders.order_system import OSCAR, RULES, SARI, OrderSystem
from tests.payment_requests.test_paying import ask, connect, heard, pay
from tests.payment_requests.web_system import PAGE, Tab, Web, cookies_of, form_id, orders_of, place_of, reads
from tests.settlement.fake_settlement import FakeSettlement
from tests.texts import label

LIMITS = LinkLimits(from_all=30, from_one=10, browsers_from_all=12, browsers_from_one=4)
PAGES_RULES = replace(RULES, check_link=partial(check_link, is_on=True), link_limits=LIMITS)
OTHER = "/r/Zm9vYmFyYmF6cXV5"
"""The address of no request."""


@pytest.fixture
async def system(file: str, service: FakeSettlement) -> AsyncIterator[OrderSystem]:
    system = OrderSystem(file, service, rules=PAGES_RULES)
    connect(system)
    yield system
    await system.orders.submission.wait()
    await system.close()


@pytest.fixture
async def web(system: OrderSystem) -> AsyncIterator[Web]:
    web = Web(system)
    yield web
    await web.close()


async def change(system: OrderSystem, **changes: Any) -> None:
    async with system.store.transaction() as tx:
        request = await PaymentRequestRepository(tx).get("0123456789abcdef")
        assert request is not None
        assert await PaymentRequestRepository(tx).save(replace(request, **changes), system.clock.now())


async def paid(system: OrderSystem, service_id: str, *states: str) -> None:
    for state in states or ("LN_INVOICE_PAID",):
        system.service.becomes(service_id, state)
        await system.poll()


@pytest.mark.parametrize(
    "path", [OTHER, "/r/short", "/r/", f"{PAGE}x", f"{PAGE}/", "/r/..%2f..%2fetc", f"/p/{'x' * 32}"]
)
async def test_a_guessed_address_gets_the_page_of_every_other_wrong_address(
    system: OrderSystem, web: Web, path: str
) -> None:
    await ask(system, in_browsers=True)
    wrong, nowhere = await web.browser().open(path), await web.browser().open("/nowhere")
    assert (wrong.status_code, wrong.text) == (404, nowhere.text)


@pytest.mark.parametrize(
    "changes",
    [
        {"in_browsers": False},
        {"status": RequestStatus.PAUSED},
        {"status": RequestStatus.CLOSED, "closed_by": ClosedBy.ASKER},
        {"status": RequestStatus.CLOSED, "closed_by": ClosedBy.PAYMENT},
        {"ended": True},
    ],
    ids=["never agreed", "paused", "closed", "paid", "ended"],
)
async def test_who_has_no_order_of_a_request_that_cannot_be_paid_here_gets_the_same_page(
    system: OrderSystem, web: Web, changes: dict[str, Any]
) -> None:
    if changes.pop("ended", False):
        changes["ends_at"] = system.clock.now()
    await ask(system, **{"in_browsers": True, **changes})
    nowhere = await web.browser().open("/nowhere")
    for old in (await web.browser().open(), await web.browser().post(id=""), await web.browser().post(report="scam")):
        assert (old.status_code, old.text) == (404, nowhere.text)


async def test_requests_that_are_switched_off_have_no_pages(system: OrderSystem) -> None:
    await ask(system, in_browsers=True)
    on, off = Web(system), Web(system, is_on=False)
    tab = on.browser()
    await tab.open()
    other = Tab(off.browser().client)
    other.page = tab.page
    assert [(await other.open()).status_code, (await other.post(id=form_id(tab.page))).status_code] == [404, 404]
    assert await orders_of(system) == ()
    await on.close()
    await off.close()


@pytest.mark.parametrize("locale", ["en", "id"])
async def test_the_page_shows_what_the_asker_agreed_to_in_the_readers_language(
    system: OrderSystem, web: Web, locale: str
) -> None:
    request = await ask(system, in_browsers=True, holder="Sari <b>Dewi</b>")
    page = await web.browser().open(**{"accept-language": f"{locale},fr;q=0.5"})
    text = reads(page)
    assert f'lang="{locale}"' in page.text
    for shown in ("“Sari <b>Dewi</b>”", "“Patungan makan siang”", "••••4455", "BCA", "150"):
        assert shown in text
    assert request.number not in page.text
    for key in ("heading", "holder", "pay", "telegram"):
        assert label(f"payment_requests.web.{key}", locale) in text
    (other,) = set(LOCALES) - {locale}
    assert f'href="?l={other}"' in page.text
    assert f"https://t.me/kirim_bot?start=r_{request.token}" in page.text
    assert "<script" not in page.text


async def test_a_page_tells_previews_and_other_sites_nothing(system: OrderSystem, web: Web) -> None:
    request = await ask(system, in_browsers=True)
    page = await web.browser().open()
    head = page.text[: page.text.index("</head>")]
    for secret in (request.holder, request.note or "", "BCA", "4455", "150", request.token):
        assert secret not in head
    assert "og:" not in page.text
    assert page.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert (page.headers["referrer-policy"], page.headers["cache-control"]) == ("no-referrer", "no-store")
    assert "noindex" in page.headers["x-robots-tag"]


async def test_a_press_leads_to_the_orders_own_page_where_it_is_created_paid_and_sent(
    system: OrderSystem, web: Web, service: FakeSettlement
) -> None:
    await ask(system, in_browsers=True)
    tab = web.browser()
    answer = await tab.pay()
    path = place_of(answer)
    await system.orders.submission.wait()
    page = await tab.open(path)
    assert (service.records["svc-1"].bolt11 or "-") in page.text
    assert label("orders.pay_page.payer.safe") in reads(page)
    assert label("orders.pay_page.chat") not in reads(page)
    await paid(system, "svc-1", "LN_INVOICE_PAID", "COMPLETED")
    receipt = reads(await tab.open(path))
    assert label("orders.pay_page.sent") in receipt
    assert await heard(system, SARI) == [LinkNotification.PAID, LinkNotification.SENT]


async def test_loads_prefetches_and_previews_create_nothing(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    tab = web.browser()
    for _ in range(20):
        await tab.open()
        await tab.client.head(PAGE)
    assert await orders_of(system) == ()
    assert tab.client.cookies.jar.__len__() == 0


async def test_a_second_press_a_reload_and_the_back_button_show_the_same_order(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True, is_reusable=True)
    tab = web.browser()
    await tab.open()
    first, second = await asyncio.gather(tab.press(), tab.press())
    assert place_of(first) == place_of(second)
    await system.orders.submission.wait()
    assert place_of(await tab.press()) == place_of(first), "the form that was posted is posted again"
    assert place_of(await tab.open()) == place_of(first), "the back button loads the page again"
    assert len(await orders_of(system)) == 1


async def test_the_form_of_another_tab_shows_the_same_order(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    tab, other = web.browser(), web.browser()
    other.client = tab.client
    await tab.open()
    await other.open()
    assert form_id(tab.page) != form_id(other.page)
    first = await tab.press()
    await system.orders.submission.wait()
    assert place_of(await other.press()) == place_of(first)


async def test_another_device_gets_an_order_of_its_own(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    first, second = await web.browser().pay(), await web.browser().pay()
    assert place_of(first) != place_of(second)
    assert len({order.payer for order in await orders_of(system)}) == 2


async def test_without_cookies_a_payer_gets_one_order_for_each_form(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    curl = web.browser(keeps_cookies=False)
    await curl.open()
    path = place_of(await curl.press())
    assert place_of(await curl.press()) == path
    await system.orders.submission.wait()
    assert label("orders.pay_page.waiting") in reads(await curl.open(path))
    assert len(await orders_of(system)) == 1


async def test_the_cookies_are_for_the_pages_of_this_order_and_request_alone(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    answer = await web.browser().pay()
    cookies = cookies_of(answer)
    assert {each["path"] for each in cookies} == {place_of(answer), PAGE}
    for each in cookies:
        assert (each["httponly"], each["secure"], each["samesite"]) == (True, True, "strict")
    (order,) = await orders_of(system)
    secret = cookies[0]["value"].removeprefix("payer=")
    assert order.payer.secret_hash == hashlib.sha256(secret.encode()).hexdigest()


async def test_a_forms_id_is_for_its_page_for_an_hour_and_cant_be_made_up(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    other = await ask(system, request_id="f" * 16, token="b" * 16, in_browsers=True)
    tab = web.browser()
    await tab.open()
    own = form_id(tab.page)
    changed = f"{own[:-9]}AAAAAAAA="
    for path, wrong in ((f"/r/{other.token}", own), (PAGE, changed), (PAGE, ""), (PAGE, "s1.00000000.AAAA")):
        answer = await tab.post(path, id=wrong)
        assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, path[3:])
    system.clock.passes(hours=1)
    assert (await tab.press()).headers["location"].startswith(PAGE[3:])
    assert await orders_of(system) == ()


async def test_a_payer_decides_the_amount_and_sees_its_price_first(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True, idr=None)
    tab = web.browser()
    page = await tab.open()
    assert 'name="id"' not in page.text
    assert label("payment_requests.web.amount") in reads(page)
    for wrong in ("1.500", "abc", "5 USD", "100", "9" * 50):
        refused = await tab.open(f"{PAGE}?amount={wrong}")
        assert 'role="alert"' in refused.text
        assert 'name="id"' not in refused.text
    page = await tab.open(f"{PAGE}?amount=150rb")
    assert "Rp150,000" in reads(page)
    place_of(await tab.press())
    (order,) = await orders_of(system)
    assert order.expected_idr == 150_000


async def test_an_expired_order_leads_to_the_price_of_now(
    system: OrderSystem, web: Web, service: FakeSettlement
) -> None:
    await ask(system, in_browsers=True)
    tab = web.browser()
    path = place_of(await tab.pay())
    await system.orders.submission.wait()
    await system.poll(after=service.expiry.total_seconds() + 1)
    page = await tab.open(path)
    assert label("orders.pay_page.expired") in reads(page)
    assert f'href="..{PAGE}"' in page.text
    second = place_of(await tab.pay())
    assert second != path
    assert len(await orders_of(system)) == 2


async def test_a_request_that_was_paid_once_shows_its_payer_the_order_and_strangers_nothing(
    system: OrderSystem, web: Web
) -> None:
    await ask(system, in_browsers=True, is_reusable=False)
    payer, late = web.browser(), web.browser()
    await late.open()
    path = place_of(await payer.pay())
    await system.orders.submission.wait()
    await paid(system, "svc-1")
    assert place_of(await payer.open()) == path
    assert (await late.press()).headers["location"].startswith(PAGE[3:])
    assert (await late.open()).status_code == 404


async def test_leaving_browsers_ends_the_page_and_not_the_orders_made_from_it(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    payer, late = web.browser(), web.browser()
    await late.open()
    path = place_of(await payer.pay())
    await system.orders.submission.wait()
    await change(system, in_browsers=False)
    assert (await late.press()).status_code == 404
    assert label("orders.pay_page.waiting") in reads(await payer.open(path))
    assert place_of(await payer.open()) == path


@pytest.mark.parametrize("answer", ["accept", "drop"])
async def test_only_the_payers_browser_accepts_a_new_price(
    system: OrderSystem, web: Web, service: FakeSettlement, answer: str
) -> None:
    await ask(system, in_browsers=True)
    service.locked_rate = service.rate * 9 // 10
    payer, stranger = web.browser(), web.browser()
    path = place_of(await payer.pay())
    await system.orders.submission.wait()
    seen = await stranger.open(path)
    assert label("orders.pay_page.payer.asked") in reads(seen)
    assert 'name="answer"' not in seen.text
    await stranger.post(path, answer=answer)
    (order,) = await orders_of(system)
    assert order.phase is Phase.NEEDS_CONFIRMATION
    assert label("orders.button.accept_price") in reads(await payer.open(path))
    assert (await payer.post(path, answer=answer)).status_code == 303
    page = reads(await payer.open(path))
    assert (label("orders.pay_page.waiting") in page) == (answer == "accept")


async def test_an_order_that_wasnt_found_is_tried_again_on_the_payers_word(
    system: OrderSystem, web: Web, service: FakeSettlement
) -> None:
    await ask(system, in_browsers=True)
    service.places.append("lost_before")
    tab = web.browser()
    path = place_of(await tab.pay())
    await system.orders.submission.wait()
    assert label("orders.pay_page.placing") in reads(await tab.open(path))
    assert (await tab.client.get(f"{path}/state")).json()["again"] == 2
    await system.find_lost_orders(after=61)
    assert label("orders.button.try_again") in reads(await tab.open(path))
    again = await tab.post(path, answer="again")
    new = f"/p/{again.headers['location'].partition('?')[0]}"
    assert new != path
    await system.orders.submission.wait()
    assert label("orders.pay_page.waiting") in reads(await tab.open(new))
    assert label("orders.pay_page.payer.contact") in reads(await tab.open(new)), "the cookie is for the new page, too"


async def test_the_preimage_of_the_payment_proves_the_payer_without_a_cookie(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    payer = web.browser()
    path = place_of(await payer.pay())
    await system.orders.submission.wait()
    (order,) = await orders_of(system)
    preimage = bytes(range(32))
    async with system.store.transaction() as tx:
        hash_of_it = hashlib.sha256(preimage).hexdigest()
        assert await OrderRepository(tx).save(replace(order, payment_hash=hash_of_it))
    await paid(system, "svc-1")
    other = web.browser()
    refused = await other.post(path, preimage="00" * 32, contact="thief@example.com")
    assert label("orders.pay_page.payer.unproven") in reads(refused)
    assert (await other.post(path, preimage=preimage.hex().upper())).status_code == 303
    assert (await other.post(path, contact="  budi@example.com ")).status_code == 303
    (order,) = await orders_of(system)
    assert order.contact == "budi@example.com"
    assert label("orders.pay_page.payer.contact_saved") in reads(await other.open(path))
    for tab in (other, payer, web.browser()):  # the asker can have made the order, and given its page to the payer
        assert "budi@example.com" not in (await tab.open(path)).text


async def test_a_way_to_be_reached_is_sealed_short_and_the_payers_alone(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    payer, stranger = web.browser(), web.browser()
    path = place_of(await payer.pay())
    await system.orders.submission.wait()
    await payer.post(path, contact="0812 " + "9" * 200)
    await stranger.post(path, contact="thief")
    (order,) = await orders_of(system)
    assert order.contact == ("0812 " + "9" * 200)[:140]
    async with system.store.reading() as tx:
        stored = await tx.connection.scalar(select(orders.c.contact))
    assert stored.startswith("s1.")
    await payer.post(path, contact="")
    (order,) = await orders_of(system)
    assert order.contact is None


async def test_a_failed_payment_is_the_payers_affair_and_the_page_names_the_reference(
    system: OrderSystem, web: Web
) -> None:
    await ask(system, in_browsers=True)
    payer, stranger = web.browser(), web.browser()
    path = place_of(await payer.pay())
    await system.orders.submission.wait()
    await paid(system, "svc-1", "LN_INVOICE_PAID", "FAILED")
    (order,) = await orders_of(system)
    for tab in (payer, stranger):
        page = reads(await tab.open(path))
        assert label("orders.pay_page.payer.failed_paid_text") in page
        assert order.reference in page
        assert "@help" in page
    assert label("orders.pay_page.payer.contact") in reads(await payer.open(path))
    assert label("orders.pay_page.payer.prove_title") in reads(await stranger.open(path))
    assert await heard(system, SARI) == [LinkNotification.PAID, LinkNotification.FAILED]


async def test_supports_answer_is_read_by_the_payer_alone(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    payer, stranger = web.browser(), web.browser()
    path = place_of(await payer.pay())
    await system.orders.submission.wait()
    await paid(system, "svc-1", "LN_INVOICE_PAID", "FAILED")
    (order,) = await orders_of(system)
    async with system.store.transaction() as tx:
        await answer_on_page(tx, order.reference, "We <b>ask</b>\nthe partner.", by=3001, now=system.clock.now())
    page = (await payer.open(path)).text
    assert "We &lt;b&gt;ask&lt;/b&gt;\nthe partner." in page
    assert label("orders.pay_page.payer.answer") in page
    assert "the partner" not in (await stranger.open(path)).text


async def test_the_page_of_an_order_stays_when_the_request_can_no_longer_be_read(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True)
    payer = web.browser()
    path = place_of(await payer.pay())
    await system.orders.submission.wait()
    async with system.store.transaction() as tx:
        await tx.connection.execute(update(payment_requests).values(in_browsers=False))
    assert label("orders.pay_page.waiting") in reads(await payer.open(path))
    assert (await payer.open()).status_code == 404


async def test_a_report_needs_an_order_made_from_the_page(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True, is_reusable=True)
    payer, stranger = web.browser(), web.browser()
    assert label("payment_requests.web.report") not in reads(await stranger.open())
    assert (await stranger.post(report="scam")).status_code == 404
    await payer.pay()
    await system.orders.submission.wait()
    await paid(system, "svc-1")
    assert label("payment_requests.web.report") in reads(await payer.open())
    for reason in ("scam", "scam", "made_up"):
        await payer.post(report=reason)
    async with system.store.reading() as tx:
        assert await ReportRepository(tx).count("0123456789abcdef") == {"paid_scam": 1}
    assert len(await heard(system, OSCAR)) == 1


async def test_a_payer_reports_what_can_no_longer_be_paid_from_the_page_of_the_order(
    system: OrderSystem, web: Web
) -> None:
    await ask(system, in_browsers=True, is_reusable=False)
    payer, stranger = web.browser(), web.browser()
    path = place_of(await payer.pay())
    await system.orders.submission.wait()
    await paid(system, "svc-1")
    page = await payer.open(path)
    assert f'href="..{PAGE}?report="' in page.text
    assert f"{PAGE}?report" not in (await stranger.open(path)).text
    page = await payer.open(f"{PAGE}?report=")
    assert 'name="id"' not in page.text
    assert (await stranger.open(f"{PAGE}?report=")).status_code == 404
    assert label("payment_requests.pay.reported") in (await payer.post(report="other")).text.replace("&#39;", "'")
    async with system.store.reading() as tx:
        assert await ReportRepository(tx).count("0123456789abcdef") == {"paid_other": 1}


async def test_a_second_form_leads_to_the_unpaid_order_also_while_links_are_busy(system: OrderSystem, web: Web) -> None:
    await ask(system, in_browsers=True, is_reusable=True)
    tab = web.browser()
    await tab.open()
    other = Tab(tab.client)
    await other.open()
    path = place_of(await tab.press())
    for _ in range(4):
        await web.browser().pay()
    assert (await web.browser().pay()).status_code == 429
    assert place_of(await other.press()) == path


async def test_browsers_get_twelve_of_thirty_orders_and_four_of_ten_so_telegram_finds_its_share(
    system: OrderSystem, web: Web, service: FakeSettlement
) -> None:
    tokens = [f"{n:016}" for n in range(4)]
    links = [await ask(system, request_id=f"{n:016x}", token=each, in_browsers=True) for n, each in enumerate(tokens)]
    for n, token in enumerate(tokens):
        placed = [(await web.browser().pay(f"/r/{token}")).status_code for _ in range(5)]
        assert placed == [303, 303, 303, 303, 429] if n < 3 else [429] * 5
    assert service.times("place") == 12
    busy = await web.browser().pay(f"/r/{tokens[0]}")
    assert busy.headers["retry-after"] == "60"
    assert label("payment_requests.web.telegram") in reads(busy)
    paying = PayService(system.infra, system.orders)
    for n, link in enumerate(links[:3]):
        for payer in range(6):
            await pay(system, paying, payer_in_chat(9_000 + 10 * n + payer), link)
    assert service.times("place") == 30


async def test_a_link_has_at_most_five_unpaid_orders_of_browsers_that_are_younger_than_ten_minutes(
    system: OrderSystem, web: Web
) -> None:
    await ask(system, in_browsers=True, is_reusable=True)

    async def count_pressed(times: int) -> int:
        placed = 0
        for _ in range(times):
            system.clock.passes(seconds=31)
            placed += (await web.browser().pay()).status_code == 303
            await system.orders.submission.wait()
        return placed

    assert await count_pressed(8) == MAX_YOUNG
    await paid(system, "svc-1")
    assert await count_pressed(1) == 1, "a payment makes room"
    assert await count_pressed(1) == 0
    system.clock.passes(minutes=10)
    assert await count_pressed(1) == 1


async def test_behind_a_known_proxy_a_block_of_addresses_creates_three_orders(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await ask(system, in_browsers=True)
    web = Web(system, proxy="10.0.0.0/8")
    near = [(await web.browser(f"198.51.100.{n}").pay()).status_code for n in range(4)]
    assert near == [303, 303, 303, 429]
    system.clock.passes(seconds=101)
    near = [(await web.browser(f"2001:db8:1:2::{n}").pay()).status_code for n in range(2)]
    assert near == [303, 303]
    assert service.times("methods") < 20
    await web.close()


async def test_a_block_is_found_whatever_a_browser_says_and_however_a_proxy_writes(system: OrderSystem) -> None:
    await ask(system, in_browsers=True)
    web = Web(system, proxy="10.0.0.0/8")
    tabs = [web.browser() for _ in range(4)]
    for number, tab in enumerate(tabs):  # this proxy writes a line of its own below the browser's
        lines = [("x-forwarded-for", f"192.0.{number}.1"), ("x-forwarded-for", "198.51.100.7")]
        tab.client.headers = httpx.Headers(lines)
    assert [(await tab.pay()).status_code for tab in tabs] == [303, 303, 303, 429]
    system.clock.passes(seconds=601)
    assert [(await web.browser(f"::ffff:198.51.{n}.7").pay()).status_code for n in range(4)] == [303] * 4
    await web.close()


@pytest.mark.parametrize("at_once", [1, 3])
async def test_the_same_press_counts_once_for_its_block(system: OrderSystem, at_once: int) -> None:
    await ask(system, in_browsers=True)
    web = Web(system, proxy="10.0.0.0/8")
    tab = web.browser()
    await tab.open()
    for _ in range(10):
        assert len({place_of(each) for each in await asyncio.gather(*(tab.press() for _ in range(at_once)))}) == 1
        await system.orders.submission.wait()
    for status in (303, 303, 429):
        assert (await web.browser().pay()).status_code == status
    await web.close()


async def test_a_crash_after_the_press_loses_nothing_and_the_same_press_leads_to_the_same_order(
    file: str, service: FakeSettlement
) -> None:
    before = OrderSystem(file, service, rules=PAGES_RULES)
    await ask(before, in_browsers=True)
    web = Web(before)
    tab = web.browser()
    await tab.open()
    # Killed after the intent was saved: neither the browser nor the service has heard of it.
    before.orders.submission.submit = lambda _: (_ for _ in ()).throw(Crash())  # type: ignore[method-assign, assignment]
    with pytest.raises(Crash):
        await tab.press()
    await web.close()
    await before.close()
    after = OrderSystem(file, service, rules=PAGES_RULES)
    web = Web(after)
    again = web.browser()
    again.page = tab.page
    path = place_of(await again.press())
    assert place_of(await again.press()) == path
    assert label("orders.pay_page.placing") in reads(await again.open(path))
    await after.find_lost_orders(after=40)
    await after.find_lost_orders(after=61)
    assert label("orders.button.try_again") in reads(await again.open(path))
    new = await again.post(path, answer="again")
    await after.orders.submission.wait()
    page = await again.open(f"/p/{new.headers['location']}")
    assert label("orders.pay_page.waiting") in reads(page)
    assert service.times("place") == 1
    await web.close()
    await after.close()


async def test_a_thousand_loads_and_a_thousand_presses_dont_push_a_lost_order_out_of_the_list(
    system: OrderSystem, web: Web, service: FakeSettlement
) -> None:
    await ask(system, in_browsers=True)
    service.places.append("lost_after")
    lost = await system.place()
    service.listed = False
    tabs = [web.browser(keeps_cookies=False) for _ in range(50)]
    pressed = 0
    for _ in range(20):
        await asyncio.gather(*(each.open() for each in tabs))
        answers = await asyncio.gather(*(each.press() for each in tabs))
        pressed += sum(each.status_code == 303 for each in answers)
        system.clock.passes(seconds=2.75)
    await system.orders.submission.wait()
    assert (pressed, service.times("place")) == (4, 5)
    assert service.times("methods") < 20
    service.listed = True
    await system.find_lost_orders()
    found = await system.order(lost.reference)
    assert (found.phase, found.service_id) == (Phase.OPEN, "svc-1")


async def test_of_a_hundred_people_at_once_those_who_stay_and_pay_have_an_order_within_ten_minutes(
    system: OrderSystem, web: Web
) -> None:
    await ask(system, in_browsers=True, is_reusable=True)
    people = [web.browser() for _ in range(100)]
    await asyncio.gather(*(each.open() for each in people))
    answers = await asyncio.gather(*(each.press() for each in people))
    waiting = [each for each, answer in zip(people, answers, strict=True) if answer.status_code == 429]
    assert len(waiting) == 96
    stay, number = waiting[:20], 0
    for _ in range(10):
        await system.orders.submission.wait()
        for _ in range(len(await orders_of(system)) - number):
            number += 1
            await paid(system, f"svc-{number}")
        system.clock.passes(minutes=1)
        stay = [each for each in stay if (await each.press()).status_code == 429]
    assert stay == []
