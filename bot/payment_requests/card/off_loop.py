"""Draw a card in a separate thread. Pillow is loaded there, with the first card, and not at the start."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from bot.payment_requests.card.facts import CardFacts

_RENDERER: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="card")


async def draw_card_off_loop(facts: CardFacts) -> bytes:
    """Draw a card as a PNG without blocking the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, _draw, facts)


def _draw(facts: CardFacts) -> bytes:
    from bot.payment_requests.card.drawing import draw_card  # noqa: PLC0415  see the module

    return draw_card(facts)
