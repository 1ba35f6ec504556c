"""An order in one line: "500rb bca 1234567890 Budi", its parts in any order.

read_line            what a line says, and what of it is doubtful; read_words, of its words
looks_like_order     whether a plain message is such a line
apply                fills a draft with it; then take_destination, confirm_number as the questions are answered
"""

from bot.checkout.parser.filling import apply, confirm_number, refusal, take_destination, waiting_number
from bot.checkout.parser.ordering import looks_like_order
from bot.checkout.parser.reading import OneLine, read_line, read_words

__all__ = [
    "OneLine",
    "apply",
    "confirm_number",
    "looks_like_order",
    "read_line",
    "read_words",
    "refusal",
    "take_destination",
    "waiting_number",
]
