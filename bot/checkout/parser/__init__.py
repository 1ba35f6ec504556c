"""An order in one line: "500rb bca 1234567890 Budi", its parts in any order.

read_line            reads a line, and marks what is uncertain; read_words reads a line's words
looks_like_order     says whether a plain message is such a line
talk                 says whether a message talks about money, and what it says besides the order's parts
"""

from bot.checkout.parser.reading import LONGEST_LINE, OneLine, looks_like_order, read_line, read_words, words_of
from bot.checkout.parser.talk import asks_to_send, is_question, is_talk, may_order, unknown_person, unsent_note

__all__ = [
    "LONGEST_LINE",
    "OneLine",
    "asks_to_send",
    "is_question",
    "is_talk",
    "looks_like_order",
    "may_order",
    "read_line",
    "read_words",
    "unknown_person",
    "unsent_note",
    "words_of",
]
