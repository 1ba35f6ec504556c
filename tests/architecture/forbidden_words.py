"""Words that are out, in the texts of the bot and in the documents: old-fashioned, or read by few as they are meant."""

from typing import Final

FORBIDDEN_ENGLISH: Final = (
    r"\b(?:news|whoever|somebody|anybody|supporters?|persons)\b",
    r"\b(?:afresh|anew|shall|meanwhile|nevertheless|wish(?:es)?|needn't)\b",
    r"\b(?:once more|any more|by itself|by themselves|under way|turned away|seen to)\b",
    r"(?<!have )(?<!has )\bto be paid\b",
    r"\bthe card\b",  # a bank card
    r"(?<!anti-phishing )(?<!seed )\bphrases?\b",  # a wallet's seed phrase
    r"Rp |\b\d{1,3}\.\d{3}\b",
)
"""Regular expressions; what people say instead: message, again, is paid, in progress, Rp150,000."""
