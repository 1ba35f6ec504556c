"""The bot of `layered_bot` without its metrics: counting and observing do nothing."""

import asyncio
import sys
from typing import Any

from prometheus_client import Counter, Gauge, Histogram

from tests.benchmarks import layered_bot


def _do_nothing(*_: Any, **__: Any) -> None:
    pass


def _return_self(metric: Any, *_: Any, **__: Any) -> Any:
    return metric


if __name__ == "__main__":
    for kind, methods in ((Counter, ("inc",)), (Gauge, ("set", "inc", "dec")), (Histogram, ("observe",))):
        setattr(kind, "labels", _return_self)  # noqa: B010  mypy knows another type
        for name in methods:
            setattr(kind, name, _do_nothing)
    asyncio.run(layered_bot.main(*sys.argv[1:]))
