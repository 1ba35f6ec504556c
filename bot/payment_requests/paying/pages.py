"""The page of a request, for payers without Telegram: who asks, for what, at which price, and a button that pays.

A request has a page only after its asker has agreed to it. Reading the page creates nothing and saves nothing. What it
knows is in the form's id: sealed, for this page alone, and valid for an hour. The press of the button places the order
once, however often the form is posted, and leads to the order's own page.
"""

import json
import re
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.core.zones import PRESUMED
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.vault import Vault, read_key_name
from bot.infra.i18n import Html, Translations, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.orders.limits import LINK_SPAN, TooManyFromLinks
from bot.orders.order import Order, Payer, payer_on_page
from bot.orders.pay_page.app import NoSuchPage
from bot.orders.pay_page.lookup import PACE, BatchedReads
from bot.orders.pay_page.payer import COOKIE, OriginLinks, read_form, set_cookie, to_page
from bot.orders.pay_page.rendering import PARAMETER, Site, common_values, extend_templates, language_of
from bot.orders.screens.payment import PATH
from bot.payment_requests.buttons import REASONS
from bot.payment_requests.model import PAGE_PATH, TOKEN, PaymentRequest, make_link
from bot.payment_requests.paying.screens import explain_failure
from bot.payment_requests.paying.service import Confirmation, NotPayable, PayService, read_rupiah
from bot.payment_requests.screens import format_amount
from bot.payment_requests.service import ReportService
from bot.rates.model import Estimate
from bot.recipients.formatting import format_full_method
from bot.recipients.numbers import mask_number
from bot.settlement.errors import MethodVanished, SettlementFailure

AMOUNT: Final = "amount"
REPORT: Final = "report"
VALID_FOR: Final = timedelta(hours=1)
SECRET_BYTES: Final = 18
SECRET: Final = re.compile(r"[A-Za-z0-9_-]{24}")
LONGEST_ID: Final = 2_000
MAX_AMOUNT_TEXT: Final = 40
BUSY_SECONDS: Final = "60"
PAGE_TEMPLATES: Final = extend_templates(Path(__file__).parent.parent / "templates")

PER_BLOCK: Final = 3
"""Orders of browsers with neighbouring addresses within `LINK_SPAN`."""

BLOCK_BITS: Final = {4: 24, 6: 64}
MAX_BLOCKS: Final = 10_000


Press = tuple[str, Payer]
"""The review of the form, and the payer. Pressed twice at once, it is one order."""


@dataclass(frozen=True, slots=True)
class FormId:
    """What the id of a form says: the request's id, a review that is confirmed once, the payer's secret, the price."""

    request: str
    review: str
    secret: str
    idr: int
    sats: int
    until: float


class Addresses:
    """Count orders by block of addresses, if proxies name the addresses. They are kept in memory for `LINK_SPAN`."""

    def __init__(self, proxies: Sequence[IPv4Network | IPv6Network], clock: Clock) -> None:
        self._proxies = proxies
        self._clock = clock
        self._created: OrderedDict[str, dict[Press, datetime]] = OrderedDict()

    def find_block(self, request: Request) -> str:
        """Return the block of a browser's address. Empty if nobody tells browsers apart."""
        named = ",".join(request.headers.getlist("x-forwarded-for")).split(",")  # some proxies add a line of their own
        hops = [request.client.host if request.client else "", *reversed(named)]
        for hop in hops if self._proxies else ():
            try:
                address = ip_address(hop.strip())
            except ValueError:
                return ""
            address = getattr(address, "ipv4_mapped", None) or address
            if not any(address in proxy for proxy in self._proxies):
                return str(ip_network((address, BLOCK_BITS[address.version]), strict=False))
        return ""

    def take(self, block: str, press: Press) -> None:
        """Count the order of a press, once. Raise `TooManyFromLinks` if the block has had its orders."""
        if not block:
            return
        now, known = self._clock.now(), self._created.get(block, {})
        created = {each: at for each, at in known.items() if at > now - LINK_SPAN}
        if press not in created and len(created) >= PER_BLOCK:
            raise TooManyFromLinks("orders.limits.links")
        self._created[block] = {press: now, **created}
        self._created.move_to_end(block)
        while len(self._created) > MAX_BLOCKS:
            self._created.popitem(last=False)

    def give_back(self, block: str, press: Press) -> None:
        """Count an order no longer, because none was created."""
        self._created.get(block, {}).pop(press, None)


class RequestPages:
    """The endpoints of the pages of requests."""

    def __init__(
        self,
        service: PayService,
        reports: ReportService,
        *,
        clock: Clock,
        vault: Vault,
        translations: Translations,
        site: Site,
        proxies: Sequence[IPv4Network | IPv6Network],
    ) -> None:
        self._service = service
        self._reports = reports
        self._clock = clock
        self._vault = vault
        self._translations = translations
        self._site = site
        self._requests = BatchedReads(service.find_all, PACE)
        self._addresses = Addresses(proxies, clock)

    def routes(self) -> list[Route]:
        """Return the routes."""
        page = f"{PAGE_PATH}{{token}}"
        return [Route(page, self.page, methods=["GET"]), Route(page, self.press, methods=["POST"])]

    async def find_origin(self, order: Order) -> OriginLinks | None:
        """Return the addresses of the request of an order, relative to the order's page, or None."""
        try:
            request = await self._service.get(order.origin) if order.origin and self._service.is_on else None
        except RowUnreadable:
            request = None  # it is recorded for the monitor, and the page of the order goes on all the same
        if request is None:
            return None
        page = f"..{PAGE_PATH}{request.token}"
        again = page + (f"?{AMOUNT}={order.amount.value}" if request.idr is None else "")
        return OriginLinks(again=again if self._is_open(request) else None, report=f"{page}?{REPORT}=")

    def _is_open(self, asked: PaymentRequest) -> bool:
        return asked.in_browsers and asked.is_payable(self._clock.now())

    async def page(self, request: Request) -> Response:
        """Answer with the page. A browser that has paid what can be paid once, or is paying it, gets to its order."""
        asked = await self._find(request)
        order = await self._find_own(request, asked)
        if order is not None and REPORT in request.query_params:
            return await self._show(request, asked, order)
        is_paying = order is not None and asked.idr is not None and order.blocks_another(self._clock.now())
        if is_paying or not self._is_open(asked):
            return self._lead_to(request, order)
        return await self._show(request, asked, order)

    async def press(self, request: Request) -> Response:
        """Place the order of the form, once, and lead to its page. Or take a report of a browser that has an order."""
        asked, form = await self._find(request), await read_form(request)
        if REPORT in form:
            return await self._report(request, asked, form[REPORT])
        filled = self._open(form.get("id", ""), asked)
        if filled is None and not self._is_open(asked):
            raise NoSuchPage
        if filled is None:
            return RedirectResponse(f"{asked.token}?{PARAMETER}={language_of(request)}", status_code=303)
        known = self._secret_of(request)
        order = await self._service.find_placed(asked, filled.review)
        if order is None:
            if not asked.in_browsers:
                raise NoSuchPage
            try:
                order = await self._place(request, asked, filled, payer_on_page(known or filled.secret))
            except NotPayable:
                return RedirectResponse(f"{asked.token}?{PARAMETER}={language_of(request)}", status_code=303)
            except (Rejection, MethodVanished, SettlementFailure) as failure:
                return await self._show(request, asked, None, failure, filled)
        secret = next((each for each in (known, filled.secret) if each and payer_on_page(each) == order.payer), None)
        return self._lead_to(request, order, asked, secret)

    async def _place(self, request: Request, asked: PaymentRequest, filled: FormId, payer: Payer) -> Order:
        known = await self._service.orders_from(asked, payer)
        unpaid = self._service.find_unpaid(known, asked, filled.idr, filled.sats)
        if unpaid is not None:
            return unpaid
        await self._service.check_browsers(asked)
        block, press = self._addresses.find_block(request), (filled.review, payer)
        self._addresses.take(block, press)
        try:
            confirmed = Confirmation(
                payer=payer, request_id=asked.id, idr=filled.idr, sats=filled.sats, review=filled.review
            )
            order = await self._service.place(confirmed)
        except BaseException:
            self._addresses.give_back(block, press)
            raise
        if not order.draft_id.endswith(f".{filled.review}"):
            self._addresses.give_back(block, press)  # the payer's unpaid order takes its place
        return order

    async def _report(self, request: Request, asked: PaymentRequest, reason: str) -> Response:
        order = await self._find_own(request, asked)
        if order is None or reason not in REASONS:
            raise NoSuchPage
        t = self._translations.get(language_of(request))
        said = t("payment_requests.pay.reported")
        try:
            await self._reports.report(order.payer, asked.id, reason)
        except Rejection as rejection:
            said = self._explain(t, asked, rejection)
        return await self._show(request, asked, order, said=said)

    async def _find(self, request: Request) -> PaymentRequest:
        """Return the request of this address, in any status. Only its payers see one that isn't open."""
        token = request.path_params["token"]
        found = await self._requests.find(token) if TOKEN.fullmatch(token) else None
        if found is None or not self._service.is_on:
            raise NoSuchPage
        return found

    def _secret_of(self, request: Request) -> str | None:
        secret = request.cookies.get(COOKIE, "")
        return secret if SECRET.fullmatch(secret) else None

    async def _find_own(self, request: Request, asked: PaymentRequest) -> Order | None:
        """Return the newest order of this browser from the request, or None."""
        secret = self._secret_of(request)
        return next(iter(await self._service.orders_from(asked, payer_on_page(secret))), None) if secret else None

    def _lead_to(
        self, request: Request, order: Order | None, asked: PaymentRequest | None = None, secret: str | None = None
    ) -> Response:
        """Lead to an order's page. Its payer gets a cookie for it, and for the page of the request."""
        if order is None:
            raise NoSuchPage
        path = f"{PATH}{order.page_token}"
        answer = RedirectResponse(f"..{path}?{PARAMETER}={language_of(request)}", status_code=303)
        if asked is not None and secret is not None:
            for each in (path, f"{PAGE_PATH}{asked.token}"):
                set_cookie(answer, self._site.public_url, each, secret)
        return answer

    def _seal(self, filled: FormId) -> str:
        return self._vault.seal(json.dumps(asdict(filled)), f"{PAGE_PATH}{filled.request}")

    def _open(self, sealed: str, asked: PaymentRequest) -> FormId | None:
        """Return what the id of a form says. None: it isn't ours, is another page's, or too old."""
        if len(sealed) > LONGEST_ID or read_key_name(sealed) not in self._vault.key_names:
            return None
        try:
            filled = FormId(**json.loads(self._vault.open(sealed, f"{PAGE_PATH}{asked.id}")))
        except RowUnreadable:
            return None
        return filled if self._clock.now().timestamp() < filled.until else None

    async def _show(
        self,
        request: Request,
        asked: PaymentRequest,
        order: Order | None,
        failure: Exception | None = None,
        filled: FormId | None = None,
        *,
        said: Html | None = None,
    ) -> Response:
        """Answer with the page. After a `failure`, the form is the one that was posted, so a press tries it again."""
        t = self._translations.get(language_of(request))
        estimated: Estimate | None = None
        typed = request.query_params.get(AMOUNT, "")[:MAX_AMOUNT_TEXT]
        if filled is None and self._is_open(asked) and (asked.idr is not None or typed):
            try:
                idr = asked.idr if asked.idr is not None else read_rupiah(typed)
                estimated = await self._service.estimate(asked, idr, ())
            except (Rejection, MethodVanished, SettlementFailure) as error:
                failure = error
            else:
                filled = self._fill(request, asked, estimated)
        if failure is not None:
            said = self._explain(t, asked, failure)
        body = self._render(t, asked, order, filled, typed=typed, said=said)
        if isinstance(failure, TooManyFromLinks | SettlementFailure):
            status = 429 if isinstance(failure, TooManyFromLinks) else 503
            return HTMLResponse(body, status_code=status, headers={"retry-after": BUSY_SECONDS})
        return HTMLResponse(body)

    def _fill(self, request: Request, asked: PaymentRequest, estimated: Estimate) -> FormId:
        return FormId(
            request=asked.id,
            review=secrets.token_hex(SECRET_BYTES),
            secret=self._secret_of(request) or secrets.token_urlsafe(SECRET_BYTES),
            idr=estimated.idr,
            sats=estimated.sats,
            until=(self._clock.now() + VALID_FOR).timestamp(),
        )

    def _explain(self, t: Translator, asked: PaymentRequest, failure: Exception) -> Html:
        return explain_failure(Reader(t, PRESUMED, self._clock.now()), asked, failure)

    def _render(
        self,
        t: Translator,
        asked: PaymentRequest,
        order: Order | None,
        filled: FormId | None,
        *,
        typed: str,
        said: Html | None,
    ) -> str:
        def word(key: str, **values: object) -> str:
            return t.plain(f"payment_requests.web.{key}", **values)

        note = ((word("note"), f"“{asked.note}”"),) if asked.note else ()
        bank = f"{format_full_method(asked.method)} {mask_number(asked.number)}"
        return PAGE_TEMPLATES.get_template("request.html").render(
            common_values(t, self._site),
            heading=word("heading"),
            trust=to_page(t("payment_requests.pay.trust")),
            amount=t.rupiah(filled.idr) if filled else format_amount(t, asked.idr),
            price=word("price", sats=t.sats(filled.sats)) if filled else None,
            facts=((word("holder"), f"“{asked.holder}”"), (word("bank"), bank), *note),
            said=said and to_page(said),
            order=order and (word("order"), f"..{PATH}{order.page_token}?{PARAMETER}={t.locale}"),
            ask=None
            if asked.idr is not None or not self._is_open(asked)
            else {
                "label": word("amount"),
                "typed": typed,
                "least": word("least", minimum=t.rupiah(self._service.minimum)),
                "show": word("other_price" if filled else "show_price"),
            },
            form=filled and {"id": self._seal(filled), "pay": word("pay"), "price_hint": word("price_hint")},
            telegram=(word("telegram"), make_link(self._site.bot, asked.token)),
            report=order
            and {
                "title": word("report"),
                "is_open": not self._is_open(asked),
                "reasons": [(each, t.plain(f"payment_requests.report.{each}")) for each in REASONS],
            },
        )
