"""The topic of a message that answers nothing is named by a word of a short table."""

import pytest

from bot.core.money import Amount
from bot.home.topics import Topic, find_topic, read_amounts


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("berapa kurs", Topic.PRICE),
        ("kursnya berapa kak?", Topic.PRICE),
        ("What's the rate today", Topic.PRICE),
        ("how much is 1 million", Topic.PRICE),
        ("1 juta berapa sats ya", Topic.PRICE),
        ("REFUND!!", Topic.REFUND),
        ("minta refund dong, batalkan", Topic.REFUND),
        ("can I get my money back?", Topic.REFUND),
        ("cancel my order", Topic.CANCEL),
        ("tolong batalin", Topic.CANCEL),
        ("stop", Topic.CANCEL),
        ("thanks", Topic.THANKS),
        ("Thank you so much 🙏", Topic.THANKS),
        ("makasih banyak kak", Topic.THANKS),
        ("ok sudah masuk, terima kasih", Topic.THANKS),
        ("halo kak, makasih", Topic.THANKS),
        ("hello", Topic.GREETING),
        ("Hi there!", Topic.GREETING),
        ("halo min", Topic.GREETING),
        ("selamat pagi", Topic.GREETING),
        ("ok", Topic.OK),
        ("sip kak", Topic.OK),
        ("👍", Topic.OK),
        ("send money", Topic.SEND),
        ("I want to send money to Indonesia", Topic.SEND),
        ("halo, mau kirim uang", Topic.SEND),
        ("tolong transfer", Topic.SEND),
        ("help", Topic.HELP),
        ("help me please", Topic.HELP),
        ("tolong bantu saya", Topic.HELP),
        ("where is my money", Topic.MONEY),
        ("belum masuk", Topic.MONEY),
        ("halo, uang saya mana", Topic.MONEY),
        ("makasih tapi belum masuk", Topic.MONEY),
        ("thanks, but nothing arrived", Topic.MONEY),
        ("help, it hasn't arrived", Topic.MONEY),
        ("did you send money", Topic.MONEY),
        ("berapa lama lagi", Topic.QUESTION),
        ("how much longer", Topic.QUESTION),
        ("can I send to dana", Topic.QUESTION),
        ("ada masalah", Topic.QUESTION),
    ],
)
def test_a_word_of_either_language_names_the_topic(text: str, topic: Topic) -> None:
    assert find_topic(text) is topic


@pytest.mark.parametrize(
    "text",
    [
        "",
        "asdf",
        "500rb",
        "Kursi saya",
        "my brother asked about the rate, and then he said that it never arrived at all",
    ],
)
def test_everything_else_may_be_about_the_newest_order(text: str) -> None:
    assert find_topic(text) is None


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("how much is 1 million", (1_000_000,)),
        ("berapa 1 juta", (1_000_000,)),
        ("500rb berapa sats?", (500_000,)),
        ("how many sats for 100k", (100_000,)),
        ("how much is 1m", (1_000_000, 1_000_000_000)),
        ("berapa kurs", ()),
    ],
)
def test_a_question_about_a_price_names_its_amounts(text: str, amounts: tuple[int, ...]) -> None:
    assert read_amounts(text) == tuple(Amount("IDR", each) for each in amounts)
