"""Answers contain only what JSON and UTF-8 can encode, and library log records only their fixed texts."""

import json
import logging
from decimal import Decimal

import pytest

from bot.mcp_server.answers import Output, answer, error_result
from bot.mcp_server.arguments import to_whole_number
from bot.mcp_server.command import FixedTextOnly
from bot.mcp_server.rates import stats_out
from bot.settlement.model import PlatformStats

HALF = "\ud83d"


class Line(Output):
    """A result of these tests."""

    bank_name: str


def test_half_a_character_of_the_service_breaks_no_answer() -> None:
    result = answer(Line(bank_name=f"BANK {HALF}"), f"BANK {HALF}")
    assert result.structured_content == {"bankName": "BANK ?"}
    assert json.loads(result.model_dump_json(by_alias=True))["content"][0]["text"] == "BANK ?"
    assert error_result(HALF).model_dump_json()


def test_figures_may_be_anything() -> None:
    given = {"deep": {"list": [1, None, {HALF: HALF}]}, "rate": Decimal("1.5"), "vast": Decimal("1e999"), "state": HALF}
    result = answer(stats_out(PlatformStats(given)), "figures")
    assert result.structured_content == {
        "fetchedAt": None,
        "deep": {"list": [1, None, {"?": "?"}]},
        "rate": 1.5,
        "vast": "1E+999",
        "state": "?",
    }
    assert result.model_dump_json()


@pytest.mark.parametrize("value", [150_000, "150000", 150_000.0])
def test_a_whole_number_is_read_exactly(value: object) -> None:
    assert to_whole_number(value) == 150_000


@pytest.mark.parametrize(
    "value", ["150.000", "1.0", "1e5", " 5", "-5", "\u0665", "0" * 18 + "5", 0.5, float("inf"), 2.0**60, True, None, []]
)
def test_anything_else_is_no_whole_number(value: object) -> None:
    with pytest.raises(ValueError, match="whole JSON number"):
        to_whole_number(value)


@pytest.mark.parametrize(
    ("name", "kept"),
    [("mcp.server.mcpserver.server", "Tool %r failed: %r"), ("bot.mcp_server.command", "Tool 'x' failed: '0812'")],
)
def test_of_a_library_only_the_fixed_sentence_is_logged(name: str, kept: str) -> None:
    record = logging.LogRecord(name, logging.INFO, __file__, 1, "Tool %r failed: %r", ("x", "0812"), None)
    assert FixedTextOnly().filter(record)
    assert record.getMessage() == kept
