"""Logs of a process that handles other people's arguments: ours speak, libraries only where something is wrong.

The SDK logs failures with their texts, crashes with tracebacks, and at debug level whole messages; any of these may
hold a recipient. So of what it says at all, only the fixed sentence is kept, never what fills it.
"""

import logging
import re

from bot.infra import logging as logs

LEVELS = {"debug": "debug", "info": "info", "warn": "warning", "error": "error"}
LIBRARIES = ("mcp", "mcp_types", "pydantic", "anyio", "starlette", "uvicorn", "sse_starlette", "opentelemetry")
CLIENT = "bot.settlement.client"
ORDER_ID = re.compile(r"(?<=/offramp/orders/).+", re.DOTALL)


class FixedTextOnly(logging.Filter):
    """Lets records of libraries through as their fixed sentence and the kind of error, and ours without order ids."""

    def filter(self, record: logging.LogRecord) -> bool:
        """True, with everything variable removed."""
        if record.name.partition(".")[0] in LIBRARIES:
            kind = record.exc_info[0] if record.exc_info else None
            record.msg = f"{record.msg} [{kind.__name__}]" if kind else record.msg
            # Without arguments, a record is not formatted: its placeholders stay as they are.
            record.args, record.exc_info, record.exc_text, record.stack_info = (), None, None, None
        elif record.name.startswith(CLIENT) and isinstance(record.msg, dict):
            # What an agent takes for an order's id may be a number or a name.
            told = {name: value for name, value in record.msg.items() if name != "order_id"}
            record.msg = told | ({"path": ORDER_ID.sub("…", told["path"])} if "path" in told else {})
        return True


def configure(level: str, form: str) -> None:
    """Set logging up for this process; `level` as in SERVICE_MCP_LOG_LEVEL, `form` is `json` or `console`."""
    logs.configure("warning", form)
    logging.getLogger("bot").setLevel(LEVELS[level].upper())
    if level == "error":
        logging.getLogger().setLevel(logging.ERROR)
    for handler in logging.getLogger().handlers:
        handler.addFilter(FixedTextOnly())
