"""Answers contain only what JSON and UTF-8 can encode, and library log records only their fixed texts."""

import logging

import pytest

from bot.mcp_server.arguments import to_whole_number
from bot.mcp_server.command import FixedTextOnly


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
