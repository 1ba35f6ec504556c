"""Sari lets a request be paid in browsers, somebody without Telegram pays it there, and Sari hears of it."""

from pathlib import Path

import httpx

from tests.chat.payment_requests.test_asking import LINK, has_link
from tests.chat.system import running_in_process
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.orders.steps import complete_order
from tests.payment_requests.web_system import Tab, place_of, reads
from tests.ports import free_port
from tests.texts import label, like
from tests.waiting import found


async def test_a_request_is_paid_in_a_browser_after_its_asker_has_agreed_and_until_they_leave(tmp_path: Path) -> None:
    port = free_port()
    public = f"http://127.0.0.1:{port}"
    async with running_in_process(tmp_path, PUBLIC_URL=public, HTTP_PORT=str(port)) as kirim:
        sari = ChatUser(kirim.telegram, 1002)
        await sari.speaks("en")
        link = LINK.search(text_of(await has_link(sari)))
        assert link is not None
        path = f"/r/{link[0].partition('start=r_')[2]}"
        async with httpx.AsyncClient(base_url=public) as client:
            tab = Tab(client)
            assert (await tab.open(path)).status_code == 404, "before the consent"
            await sari.taps(label("payment_requests.button.page"))
            await sari.taps(label("payment_requests.button.browsers"))
            seen = text_of(await sari.sees(like("payment_requests.browsers.ask")))
            for shown in ("Sari Dewi", "••••4455", "Patungan makan siang", "Rp150,000"):
                assert shown in seen
            await sari.taps(label("payment_requests.browsers.agree"))
            page = text_of(await sari.sees(like("payment_requests.page.in_browsers")))
            assert f"{public}{path}" in page
            assert "Sari Dewi" in reads(await tab.open(path))
            payment = place_of(await tab.press(path))

            async def look() -> str:
                return (await tab.open(payment)).text

            await found(look, lambda html: "lightning:" in html, what="the invoice")
            (order,) = await kirim.service.orders()
            await kirim.service.pays(order)
            await sari.sees(like("payment_requests.paid"))
            await complete_order(kirim, order)
            await sari.sees(like("payment_requests.sent"))
            await found(look, lambda html: label("orders.pay_page.sent") in html, what="the receipt")
            client.cookies.clear()
            assert (await tab.open(path)).status_code == 404, "for everyone else: it could be paid once"
