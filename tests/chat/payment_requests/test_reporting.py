"""A payer reports a request, and an operator closes it, or all of its asker's. The asker hears why."""

from bot.payment_requests.repository import PaymentRequestRepository
from tests.chat.payment_requests.test_asking import LINK, NOTE, has_link
from tests.chat.payment_requests.test_paying import reports
from tests.chat.system import InProcessSystem
from tests.e2e.bot_database import open_transaction
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.new_users import new_user
from tests.texts import label, like


async def reported(kirim: InProcessSystem) -> tuple[ChatUser, ChatUser, str]:
    """Return an asker, the payer who has reported their request, and the word that opens its link."""
    await kirim.oscar.says("/start")
    await kirim.oscar.sees(like("home.start.staff"))
    sari, emma = await new_user(kirim), await new_user(kirim)
    found = LINK.search(text_of(await has_link(sari)))
    assert found is not None
    word = found[0].partition("start=")[2]
    await emma.says(f"/start {word}")
    await reports(emma)
    return sari, emma, word


async def test_an_operator_looks_at_a_reported_request_and_closes_it_for_good(kirim: InProcessSystem) -> None:
    sari, emma, word = await reported(kirim)
    told = await kirim.oscar.sees(like("payment_requests.reports.reported"), anywhere=True)
    assert NOTE not in text_of(told)
    await kirim.oscar.taps(label("payment_requests.reports.look"), message=told)
    page = await kirim.oscar.sees(like("payment_requests.reports.page"))
    scam = label("payment_requests.report.scam")
    assert all(shown in text_of(page) for shown in (NOTE, "Sari Dewi", "••••4455", str(sari.id), f"1 · {scam}"))
    assert str(emma.id) not in text_of(page)
    await kirim.oscar.taps(label("payment_requests.button.close"))
    await kirim.oscar.taps(label("payment_requests.button.close_sure"))
    await kirim.oscar.sees(like("payment_requests.reports.none"))
    await sari.sees(like("payment_requests.reports.yours_closed"), anywhere=True)
    await emma.says(f"/start {word}")
    await emma.sees(like("payment_requests.pay.closed"))
    await kirim.oscar.says("/audit")
    log = text_of(await kirim.oscar.sees(like("staff.audit.title")))
    async with open_transaction(kirim) as tx:
        (request,) = await PaymentRequestRepository(tx).of_user(sari.id)
    assert log.count(f"payment request {request.id}") == 2


async def test_an_operator_closes_all_requests_of_a_user(kirim: InProcessSystem) -> None:
    sari, _, _ = await reported(kirim)
    await has_link(sari)
    await kirim.oscar.says("/reports")
    await kirim.oscar.sees(like("payment_requests.reports.list"))
    await kirim.oscar.taps("1 · Rp150,000")
    await kirim.oscar.sees(like("payment_requests.reports.page"))
    await kirim.oscar.taps(label("payment_requests.reports.close_all"))
    await kirim.oscar.taps(label("payment_requests.reports.close_all_sure"))
    await kirim.oscar.sees(like("payment_requests.reports.closed_all", count=2))
    await sari.sees(like("payment_requests.reports.all_yours_closed"), anywhere=True)
    assert (await sari.types_inline(""))["results"] == []
