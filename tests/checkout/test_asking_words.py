"""Which first words ask for rupiah, so that the line begins a payment request."""

import pytest

from bot.checkout.one_line import ASKS


@pytest.mark.parametrize(
    "words",
    [
        "minta",
        "Minta,",
        "tolong minta",
        "Mau minta",
        "saya mau tagih",
        "request",
        "I want to request",
        "please ask for",
    ],
)
def test_a_first_word_that_asks_is_taken_off_the_line(words: str) -> None:
    assert ASKS.sub("", f"{words} 100rb bca 9876543210 Sari Dewi") == "100rb bca 9876543210 Sari Dewi"


@pytest.mark.parametrize(
    "line",
    [
        "100rb bca 9876543210 Sari Dewi dia minta hari ini",
        "100rb bca 9876543210 Sari Dewi minta",
        "100rb bca 9876543210 Sari Dewi terima kasih",
        "terima kasih 100rb bca 9876543210",
        "minta tolong kirim 100rb bca 9876543210",
        "permintaan 100rb",
        "tagihan listrik 100rb",
        "requests 100k",
        "/request 100k",
        "dia minta 100rb bca 9876543210",
    ],
)
def test_other_words_and_the_same_ones_further_on_ask_for_nothing(line: str) -> None:
    assert ASKS.sub("", line) == line
