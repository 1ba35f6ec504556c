"""Logging of the process to stderr, as JSON or for humans. Secrets are removed as the last step."""

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from bot.infra.log_context import PROCESS_ID
from bot.infra.redaction import install_redaction, quiet_library_logs


def configure(level: str, form: str) -> None:
    """Configure logging for this process. `level` is a level name of `logging`; `form` is `json` or `console`."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_process,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderers(form)],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    quiet_library_logs()
    install_redaction()


def _add_process(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Add the id of the process. It isn't bound as a field, because other threads wouldn't have it."""
    event["process"] = PROCESS_ID
    return event


def _renderers(form: str) -> list[Processor]:
    if form == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    # Plain tracebacks: the pretty ones show local variables, which hold users' account numbers.
    colours = sys.stderr.isatty()
    return [structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=structlog.dev.plain_traceback)]
