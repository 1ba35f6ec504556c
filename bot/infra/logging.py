"""Logging of the process to stderr, and the fields of its lines. Secrets are removed as the last step.

The fields that every line about one piece of work has, such as the update and the order, are bound in one place, and
`configure` adds the bound fields to every line. asyncio copies them into each task that the work starts. A task that
later serves other work starts with `shared_task_context`.
"""

import logging
import secrets
import sys
from contextvars import Context

import structlog
from structlog.contextvars import bound_contextvars, clear_contextvars
from structlog.typing import EventDict, Processor, WrappedLogger

from bot.infra.db.fence import without_lease
from bot.infra.redaction import install_redaction, quiet_library_logs

bind_fields = bound_contextvars
"""Give each line that is logged in the `with` block these fields. Fields of an outer block return after it."""


def shared_task_context() -> Context:
    """Return a copy of the current context without bound fields and lease, for a task that serves others, too."""
    context = without_lease()
    context.run(clear_contextvars)
    return context


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
