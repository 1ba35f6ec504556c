"""(d) QR codes: how long one takes, and how long the event loop waits while many are drawn."""

import asyncio
import io
import time
from collections.abc import Awaitable, Callable

import qrcode

from bot.payments import qr
from tests.benchmarks.report import Row, Spread

CODES, FEW_CODES = 100, 20
TICK_SECONDS = 0.001
CHARACTERS = "023456789acdefghjklmnpqrstuvwxyz"
LENGTHS = (300, 400)
"""The usual length of invoices with a short description and no route hints."""


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    payloads = [qr.invoice_qr_payload(_invoice(number)) for number in range(FEW_CODES if quick else CODES)]
    qr.render_png(payloads[0])
    ours = Spread.from_times([took(lambda p=payload: qr.render_png(p)) for payload in payloads])  # type: ignore[misc]
    plain = Spread.from_times([took(lambda p=payload: _plainly(p)) for payload in payloads[:20]])  # type: ignore[misc]
    what = f"drawing an invoice's QR code ({LENGTHS[0]} to {LENGTHS[1]} characters), median / p99"
    off = await loop_delay(lambda: _off_the_loop(payloads))
    on = await loop_delay(lambda: _on_the_loop(payloads))
    idle = await loop_delay(lambda: asyncio.sleep(0.5))
    waits = f"what the event loop waits while {len(payloads)} codes are drawn, median / p99"
    return [
        Row(
            part="d",
            measured=what,
            ours=str(ours),
            versus="the library's defaults, `qrcode.make`",
            theirs=str(plain),
            ratio=ours.over(plain),
        ),
        Row(part="d", measured=waits, ours=str(off), versus="an idle loop", theirs=str(idle)),
        Row(part="d", measured=waits, ours=str(off), versus="drawn in the loop", theirs=str(on), ratio=off.over(on)),
    ]


def _invoice(number: int) -> str:
    length = LENGTHS[0] + number % (LENGTHS[1] - LENGTHS[0])
    return "lnbcrt" + "".join(CHARACTERS[(number * 7 + place * place) % 32] for place in range(length - 6))


def took(draw: Callable[[], object]) -> float:
    """Return the seconds that drawing once takes."""
    began = time.perf_counter()
    draw()
    return time.perf_counter() - began


def _plainly(payload: str) -> bytes:
    file = io.BytesIO()
    qrcode.make(payload).save(file)
    return file.getvalue()


async def _off_the_loop(payloads: list[str]) -> None:
    await asyncio.gather(*map(qr.render_png_off_loop, payloads))


async def _on_the_loop(payloads: list[str]) -> None:
    for payload in payloads:
        qr.render_png(payload)
        await asyncio.sleep(0)


async def loop_delay(work: Callable[[], Awaitable[object]]) -> Spread:
    """Return how late a timer fired while `work` ran."""
    delays: list[float] = []
    working = asyncio.ensure_future(work())
    while not working.done():
        due = time.perf_counter() + TICK_SECONDS
        await asyncio.sleep(TICK_SECONDS)
        delays.append(max(time.perf_counter() - due, 0.0))
    await working
    return Spread.from_times(delays)
