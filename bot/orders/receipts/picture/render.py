"""Draw a receipt as a PNG in the caller's thread. Only `off_loop.py` imports this module in the bot, see there."""

from collections.abc import Iterator, Sequence

from bot.infra.drawing.block import Block, create_space
from bot.infra.drawing.brand import draw_brand
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.palette import CARD, PAGE
from bot.orders.receipts.picture import blocks
from bot.orders.receipts.picture.blocks import CARD_LEFT, CARD_RIGHT, WIDTH
from bot.orders.receipts.picture.facts import ReceiptFacts

_PAGE_TOP, _PAGE_BOTTOM = 48, 44
_BRAND_GAP = 28
_CARD_RADIUS = 48
_BADGE_GAP, _PERFORATION_GAP, _PART_GAP, _CARD_BOTTOM = 8, 26, 38, 60


def render_receipt(facts: ReceiptFacts) -> bytes:
    """Draw a receipt as a PNG, 1080 pixels wide and as high as its text needs.

    Pure and synchronous. The same facts give the same bytes.

    Raises:
        UnrenderableQr: `verify_url` is longer than a QR code can hold (2,331 bytes).
    """
    head = draw_brand(facts.brand, blocks.MIDDLE, blocks.TEXT_WIDTH)
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


def _parts(facts: ReceiptFacts) -> Iterator[Block]:
    """Yield the parts of the card, from top to bottom."""
    yield blocks.draw_badge()
    yield create_space(_BADGE_GAP)
    yield blocks.draw_headline(facts)
    yield from _perforation()
    yield from _with_gaps([blocks.draw_rows(facts), blocks.draw_explanation(facts)])
    yield from _perforation()
    yield blocks.draw_proof(facts)
    yield create_space(_CARD_BOTTOM)


def _perforation() -> Iterator[Block]:
    yield create_space(_PERFORATION_GAP)
    yield blocks.draw_perforation()
    yield create_space(_PERFORATION_GAP)


def _with_gaps(parts: Sequence[Block]) -> Iterator[Block]:
    """Yield the parts that aren't empty, with gaps between them."""
    filled = [part for part in parts if part.height]
    for number, part in enumerate(filled):
        if number:
            yield create_space(_PART_GAP)
        yield part
