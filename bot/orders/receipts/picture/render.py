"""From facts to a PNG, at once or beside the event loop."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from bot.infra.drawing.block import Block, create_space
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.palette import CARD, PAGE
from bot.orders.receipts.picture import blocks
from bot.orders.receipts.picture.blocks import CARD_LEFT, CARD_RIGHT, WIDTH
from bot.orders.receipts.picture.facts import ReceiptFacts

_PAGE_TOP, _PAGE_BOTTOM = 48, 44
_BRAND_GAP = 28
_CARD_RADIUS = 48
_BADGE_GAP, _PERFORATION_GAP, _PART_GAP, _CARD_BOTTOM = 8, 26, 38, 60

# A thread of its own, and only one, as for QR codes: receipts of a burst queue here and neither fight the loop for
# the interpreter nor hold up the codes that people are waiting to pay.
_RENDERER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="receipt")


def render_receipt(facts: ReceiptFacts) -> bytes:
    """Draw a receipt as a PNG, 1080 pixels wide and as high as its text needs.

    Pure and synchronous. The same facts give the same bytes.

    Raises:
        UnrenderableQr: `verify_url` is longer than a QR code can hold (2,331 bytes).
    """
    head = blocks.brand(facts)
    card_top = _PAGE_TOP + head.height + _BRAND_GAP + blocks.BADGE_ABOVE
    parts = list(_parts(facts))
    card_bottom = card_top + sum(part.height for part in parts)
    canvas = Canvas(WIDTH, card_bottom + _PAGE_BOTTOM, PAGE)
    canvas.rounded((CARD_LEFT, card_top, CARD_RIGHT, card_bottom), _CARD_RADIUS, CARD, PAGE)
    head.draw(canvas, _PAGE_TOP)
    top = card_top
    for part in parts:
        part.draw(canvas, top)
        top += part.height
    return canvas.png()


async def render_receipt_off_loop(facts: ReceiptFacts) -> bytes:
    """Draw as `render_receipt` does, without holding up the event loop.

    Raises:
        UnrenderableQr: see `render_receipt`.
    """
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, render_receipt, facts)


def _parts(facts: ReceiptFacts) -> Iterator[Block]:
    """The card, from top to bottom."""
    middle = [blocks.rows(facts), blocks.explanation(facts)]
    if facts.phrase:
        middle.insert(1, blocks.phrase(facts))
    yield blocks.badge()
    yield create_space(_BADGE_GAP)
    yield blocks.headline(facts)
    yield from _torn_off()
    yield from _apart(middle)
    yield from _torn_off()
    yield blocks.proof(facts)
    yield create_space(_CARD_BOTTOM)


def _torn_off() -> Iterator[Block]:
    yield create_space(_PERFORATION_GAP)
    yield blocks.perforation()
    yield create_space(_PERFORATION_GAP)


def _apart(parts: Sequence[Block]) -> Iterator[Block]:
    """Those that have anything to say, with room between them."""
    said = [part for part in parts if part.height]
    for number, part in enumerate(said):
        if number:
            yield create_space(_PART_GAP)
        yield part
