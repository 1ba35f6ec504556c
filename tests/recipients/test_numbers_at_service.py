"""Tests that bot and sandbox agree on account and mobile numbers (settlement API, 4.5, rules 4 and 5).

The sandbox shares no code with the bot. Both are asked about the same numbers, in both profiles.
"""

import random
from collections.abc import Iterator

import pytest

from bot.core.errors import Rejection
from bot.recipients.numbers import MAX_ACCOUNT_DIGITS, MIN_ACCOUNT_DIGITS, clean_number, compare_numbers
from bot.sandbox.service.creation import read_request
from bot.sandbox.service.market import MethodsList
from bot.sandbox.service.settings import PROFILES, Profile, Refusal
from bot.settlement.model import PayoutMethod
from tests.examples import examples

LIST = MethodsList()
SPACINGS = ("{}", "{}", "{}", " {} ", "{}\u200b", "\u202a{}\u202c")
JOINTS = ("", "", "", " ", "-", ".", "\u2011", "\u00a0")
BEGINNINGS = (
    *("", "0", "00", "8", "08", "081", "0812", "0838", "0895", "0899", "62", "628", "62812", "6208", "021", "0800"),
    *("+62", "+628", "+62812", "0062812", "+1", "+65", "1", "9", "+", "000", "+620812", "(0812)", "+0812"),
)


def a_method(profile: Profile, kind: str) -> PayoutMethod:
    """Return a method of this kind as the bot has it from the sandbox's list."""
    row = next(each for each in LIST.current(profile) if each["kind"] == kind)
    return PayoutMethod(str(row["bankCode"]), str(row["bankName"]), "bank" if kind == "bank" else "ewallet")


def as_stored(profile: Profile, method: PayoutMethod, number: str) -> str | None:
    """Return the number as the sandbox stores it, or None if it rejects it."""
    body = {
        "idrAmount": 150_000,
        "partnerBankCode": method.code,
        "partnerBankName": method.name,
        "recipientDetails": number,
    }
    try:
        return read_request(body, LIST, profile, evm=False).recipient
    except Refusal:
        return None


def as_sent(method: PayoutMethod, typed: str) -> str | None:
    """Return the number as the bot sends it, or None if it rejects it."""
    try:
        return clean_number(method, typed).number
    except Rejection:
        return None


def typed_numbers() -> Iterator[str]:
    """Yield numbers of every length and beginning, in one piece or with marks between and around their digits."""
    dice = random.Random(4_5)
    for _ in range(examples(4_000)):
        digits = "".join(dice.choice("0123456789") for _ in range(dice.randint(0, 22)))
        pieces = [digits[at : at + 4] for at in range(0, len(digits), 4)]
        yield dice.choice(SPACINGS).format(dice.choice(BEGINNINGS) + dice.choice(JOINTS).join(pieces))


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize("kind", ["bank", "ewallet"])
def test_the_service_accepts_every_number_that_the_bot_sends_and_means_the_same_one(
    profile: Profile, kind: str
) -> None:
    method, sent = a_method(profile, kind), 0
    for typed in typed_numbers():
        number = as_sent(method, typed)
        if number is None:
            continue
        stored = as_stored(profile, method, number)
        assert stored is not None, number
        assert compare_numbers(number, stored, method.kind) == "same", number
        sent += 1
    assert sent > examples(4_000) / 10


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_of_an_account_number_both_accept_the_same_lengths(profile: Profile) -> None:
    method = a_method(profile, "bank")
    for length in range(1, 30):
        for digit in "0189":
            number = digit * length
            assert as_stored(profile, method, number) == as_sent(method, number), number
    assert as_stored(profile, method, "1" * MIN_ACCOUNT_DIGITS) == "1" * MIN_ACCOUNT_DIGITS
    assert as_stored(profile, method, "1" * MAX_ACCOUNT_DIGITS) == "1" * MAX_ACCOUNT_DIGITS
