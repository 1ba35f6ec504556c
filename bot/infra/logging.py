"""Logging of the process to stderr, as JSON or for humans. Secrets are removed as the last step."""

import logging
import secrets
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from bot.infra.redaction import install_redaction, quiet_library_logs


def configure(level: str, form: str) -> str:
    """Configure logging for this process. `level` is a level name of `logging`; `form` is `json` or `console`.

    Each call draws an id by which the lines of this process are found, and returns it. The system's id isn't enough: in
    a container it is always 1.
    """
    process_id = secrets.token_hex(4)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _ProcessId(process_id),
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
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
    return process_id


class _ProcessId:
    """Adds the id of the process to each line. It isn't bound as a field, because other threads wouldn't have it."""

    def __init__(self, process_id: str) -> None:
        self._id = process_id

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["process"] = self._id
        return event


def _renderers(form: str) -> list[Processor]:
    if form == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    # Plain tracebacks: the pretty ones show local variables, which hold users' account numbers.
    colours = sys.stderr.isatty()
    return [structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=structlog.dev.plain_traceback)]
