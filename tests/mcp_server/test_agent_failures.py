"""The text for each failure of the service: what happened, whether an order was created, what to do next."""

import pytest

from bot.mcp_server.answers import creation_failure, read_failure
from bot.settlement.errors import (
    KeyRefused,
    NeverReached,
    NoAnswer,
    NotUnderstood,
    OrderNotFound,
    OutcomeUnknown,
    Refused,
    ServerError,
    SettlementFailure,
    SlowDown,
)

WANTED = "Rp150,000 to BANK CENTRAL ASIA"
MADE_NONE = "No order was created."
UNKNOWN = "THE OUTCOME IS UNKNOWN"


@pytest.mark.parametrize(
    ("error", "happened", "outcome", "next_step"),
    [
        (Refused(status=400, reason="digits only"), "status 400: “digits only”", MADE_NONE, "Correct this"),
        (KeyRefused(status=401, reason="Invalid"), "status 401: “Invalid”", MADE_NONE, "SERVICE_API_KEY"),
        (SlowDown(status=429, retry_after=30), "status 429.", MADE_NONE, "Wait 30 seconds"),
        (SlowDown(status=429), "status 429.", MADE_NONE, "Wait 5 seconds"),
        (OrderNotFound(status=404), "status 404.", MADE_NONE, "Tell your user"),
        (NeverReached("no route"), "can't be reached", MADE_NONE, "Tell your user"),
        (ServerError(status=500, reason="oops"), "status 500: “oops”", UNKNOWN, "list_offramp_orders"),
        (ServerError(status=503), "status 503.", UNKNOWN, "list_offramp_orders"),
        (ServerError(status=502), "status 502.", UNKNOWN, "list_offramp_orders"),
        (OutcomeUnknown(status=409), "status 409.", UNKNOWN, "list_offramp_orders"),
        (NoAnswer("silence"), "no answer in time", UNKNOWN, "list_offramp_orders"),
        (NotUnderstood("html", status=200), "status 200", UNKNOWN, "list_offramp_orders"),
    ],
)
def test_a_failed_creation_says_whether_there_is_an_order(
    error: SettlementFailure, happened: str, outcome: str, next_step: str
) -> None:
    text = creation_failure(error, WANTED)
    assert happened in text
    assert outcome in text
    assert next_step in text
    # An unknown outcome never suggests another try, and names the order to look for.
    assert (UNKNOWN in text) == (MADE_NONE not in text)
    if outcome == UNKNOWN:
        assert WANTED in text
        assert "again now" in text
        assert "then call" not in text


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ServerError(status=500, reason="oops"), "status 500: “oops”. Nothing was changed. Call again in 5 seconds"),
        (SlowDown(status=429, retry_after=9.6), "Wait 10 seconds"),
        (KeyRefused(status=401), "Calling again won't help"),
        (
            OrderNotFound(status=404, reason="order not found"),
            "“order not found”. This server has no order with this id",
        ),
        (NoAnswer("silence"), "no answer in time. Nothing was changed"),
    ],
)
def test_a_failed_look_says_that_nothing_changed_and_when_to_look_again(
    error: SettlementFailure, expected: str
) -> None:
    assert expected in read_failure(error)


def test_the_services_words_are_one_line_of_bounded_length() -> None:
    text = str(read_failure(ServerError(status=500, reason="a\n\n  b" + "c" * 5000)))
    assert "“a bccc" in text
    assert len(text) < 700
