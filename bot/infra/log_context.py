"""The fields that every log line about one piece of work has, such as the update and the order.

Each field is bound in one place, and `bot/infra/logging.py` adds the bound fields to every line. asyncio copies them
into each task that the work starts. A task that later serves other work starts with `shared_task_context`.
"""

from contextvars import Context

from structlog.contextvars import bound_contextvars, clear_contextvars, get_contextvars

from bot.infra.db.fence import without_lease

bind_fields = bound_contextvars
"""Give each line that is logged in the `with` block these fields. Fields of an outer block return after it."""

current_fields = get_contextvars
"""Return the bound fields, to bind them in a task that was started earlier."""


def shared_task_context() -> Context:
    """Return a copy of the current context without bound fields and lease, for a task that serves others, too."""
    context = without_lease()
    context.run(clear_contextvars)
    return context
