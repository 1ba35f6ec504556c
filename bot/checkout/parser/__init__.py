"""An order in one line: "500rb bca 1234567890 Budi", its parts in any order.

read_line            what a line says, and what of it is doubtful; read_words, of its words
looks_like_order     whether a plain message is such a line
"""

from bot.checkout.parser.reading import LONGEST_LINE, OneLine, looks_like_order, read_line, read_words
from bot.checkout.parser.words import Word, words_of

__all__ = ["LONGEST_LINE", "OneLine", "Word", "looks_like_order", "read_line", "read_words", "words_of"]
