"""The card of a request: a picture with a QR code."""

from bot.payment_requests.card.facts import CardFacts
from bot.payment_requests.card.off_loop import draw_card_off_loop

__all__ = ["CardFacts", "draw_card_off_loop"]
