"""Logging of a process that handles other people's data: our own events, and only warnings of libraries.

The SDK logs errors with their texts, crashes with tracebacks, and at debug level whole messages. All of these can hold
a recipient. So only the fixed text of a library's record is kept, without its arguments.
"""

import logging
import re

from bot.infra import logging as logs

LEVELS = {"debug": "debug", "info": "info", "warn": "warning", "error": "error"}
LIBRARIES = ("mcp", "mcp_types", "pydantic", "anyio", "starlette", "uvicorn", "sse_starlette", "opentelemetry")
CLIENT = "bot.settlement.client"
ORDER_ID = re.compile(r"(?<=/offramp/orders/).+", re.DOTALL)


class FixedTextOnly(logging.Filter):
    """Reduce records of libraries to their fixed text and the kind of error. Remove order ids from our own."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Remove everything variable. Return True."""
        if record.name.partition(".")[0] in LIBRARIES:
            kind = record.exc_info[0] if record.exc_info else None
            record.msg = f"{record.msg} [{kind.__name__}]" if kind else record.msg
            # Without arguments a record isn't formatted, and its placeholders stay.
            record.args, record.exc_info, record.exc_text, record.stack_info = (), None, None, None
        elif record.name.startswith(CLIENT) and isinstance(record.msg, dict):
            # An "order id" from an agent can be an account number or a name.
            event = {name: value for name, value in record.msg.items() if name != "order_id"}
            record.msg = event | ({"path": ORDER_ID.sub("…", event["path"])} if "path" in event else {})
        return True


def configure(level: str, form: str) -> None:
    """Configure logging for this process. `level` as in SERVICE_MCP_LOG_LEVEL, `form` is `json` or `console`."""
    logs.configure("warning", form)
    logging.getLogger("bot").setLevel(LEVELS[level].upper())
    if level == "error":
        logging.getLogger().setLevel(logging.ERROR)
    for handler in logging.getLogger().handlers:
        handler.addFilter(FixedTextOnly())
