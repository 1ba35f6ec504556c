"""Answer requests for the pages where anyone can check a receipt: the form, the result, and its pictures.

A code is all that a reader needs, as in the chat. An answer shows what the receipt shows, and every code without a
receipt gets the same answer.
"""

from collections.abc import Collection, Mapping

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bot.infra.db.database import Database
from bot.infra.i18n import Translations, Translator
from bot.orders.page_url import VERIFY_PATH, receipt_url
from bot.orders.pay_page import receipt_rendering
from bot.orders.pay_page.batched_reads import BatchedReads, Pace
from bot.orders.pay_page.lookup import PACE
from bot.orders.pay_page.pictures import MAX_RECEIPTS, KeptPictures
from bot.orders.pay_page.receipt_rendering import CODE_PARAMETER
from bot.orders.pay_page.rendering import PARAMETER, Site, language_of
from bot.orders.receipts.codes import SentOrder, compact_code, read_code
from bot.orders.receipts.off_loop import render_receipt_off_loop
from bot.orders.receipts.service import UnreadableReceipt, find_by_codes, find_sent_orders

CODES_PACE = Pace(batch=20, pause_seconds=0.2, max_waiting=500)
"""Up to 100 codes a second, so that guessing is slow. It is a limit for everyone together: behind a proxy, all requests
come from one address. During an attack, a genuine code waits some seconds. It is chosen at random like the guesses, so
no number of guesses at once shuts it out."""


class ReceiptLookup:
    """Find completed orders with their receipts. Nothing is kept in memory, because they have recipients."""

    def __init__(self, database: Database, codes_pace: Pace = CODES_PACE) -> None:
        self._database = database
        self._orders = BatchedReads(self._read_orders, PACE)
        self._codes = BatchedReads(self._read_codes, codes_pace)

    async def find_by_order(self, reference: str) -> SentOrder | None:
        """Return a completed order with its receipt, or None if it has none. Raises as `BatchedReads.find` does."""
        return await self._orders.find(reference)

    async def find_by_code(self, code: str) -> SentOrder | None:
        """Return the order whose receipt has this code, or None if no receipt has it.

        Raises:
            UnreadableReceipt: there is a receipt, but this process can't read its order.
            StoreDown: the database does not answer.
            TooMany: too many codes are waiting.
        """
        found = await self._codes.find(code)
        if isinstance(found, UnreadableReceipt):
            raise UnreadableReceipt
        return found

    async def _read_orders(self, references: Collection[str]) -> Mapping[str, SentOrder]:
        async with self._database.reading() as tx:
            return await find_sent_orders(tx, references)

    async def _read_codes(self, codes: Collection[str]) -> Mapping[str, SentOrder | UnreadableReceipt]:
        async with self._database.reading() as tx:
            return await find_by_codes(tx, codes)


PNG = "image/png"


class NoSuchReceipt(Exception):
    """No receipt has this code, or the text is no code."""


class VerificationHandlers:
    """The endpoints where receipts are checked."""

    def __init__(
        self, *, lookup: ReceiptLookup, translations: Translations, site: Site, qr_codes: KeptPictures[str]
    ) -> None:
        self._lookup = lookup
        self._translations = translations
        self._site = site
        self._qr_codes = qr_codes
        self._pictures = KeptPictures(render_receipt_off_loop, MAX_RECEIPTS)

    async def redirect(self, _: Request) -> Response:
        """Lead an address that was typed without the last slash to the form. Relative, so no `Host` is trusted."""
        return RedirectResponse(VERIFY_PATH.lstrip("/"))

    async def form(self, request: Request) -> Response:
        """Answer with the form, or lead from an entered code to its page."""
        t, typed = self._translator(request), request.query_params.get(CODE_PARAMETER)
        if typed is None:
            return HTMLResponse(receipt_rendering.render_form(t, self._site, is_unknown=False))
        code = read_code(typed)
        if code is None:
            raise NoSuchReceipt
        return RedirectResponse(f"{compact_code(code)}?{PARAMETER}={t.locale}", status_code=303)

    async def page(self, request: Request) -> Response:
        """Answer with the receipt."""
        sent = await self._find(request)
        return HTMLResponse(receipt_rendering.render_genuine(self._translator(request), sent, self._site))

    async def qr(self, request: Request) -> Response:
        """Answer with the QR code of the page's address."""
        sent = await self._find(request)
        url = receipt_url(self._site.public_url, compact_code(sent.code))
        return Response(await self._qr_codes.get_png(url), media_type=PNG)

    async def picture(self, request: Request) -> Response:
        """Answer with the receipt as a picture, as the sender gets it in the chat."""
        sent = await self._find(request)
        if not sent.order.has_recipient:
            raise NoSuchReceipt
        facts = receipt_rendering.build_facts(self._translator(request), sent, self._site)
        return Response(await self._pictures.get_png(facts), media_type=PNG)

    async def unknown(self, request: Request, _error: Exception) -> Response:
        """Answer 404 with the form. The answer is the same for every code without a receipt."""
        page = receipt_rendering.render_form(self._translator(request), self._site, is_unknown=True)
        return HTMLResponse(page, status_code=404)

    async def _find(self, request: Request) -> SentOrder:
        code = read_code(request.path_params["code"])
        sent = await self._lookup.find_by_code(code) if code else None
        if sent is None:
            raise NoSuchReceipt
        return sent

    def _translator(self, request: Request) -> Translator:
        return self._translations.get(language_of(request))
