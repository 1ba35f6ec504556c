"""Which libraries a program loads at its start. Each of these takes time and memory that nobody should wait for."""

import subprocess
import sys
from typing import Final

import pytest

PROGRAMS: Final = {
    "the bot": (
        "import bot.process",
        ("Crypto", "PIL", "alembic", "asyncpg", "jinja2", "mcp", "qrcode", "starlette", "uvicorn"),
    ),
    "the tools over stdio": (
        "from bot.mcp_server import command, stdio, server",
        (
            "Crypto",
            "PIL",
            "aiohttp",
            "alembic",
            "asyncpg",
            "jinja2",
            "prometheus_client",
            "sqlalchemy",
            "telegram",
            "typer",
        ),
    ),
}


@pytest.mark.process
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_loads_no_library_that_it_does_not_need_at_once(program: str) -> None:
    imports, unneeded = PROGRAMS[program]
    code = f"import sys; {imports}; print(*(name for name in {unneeded!r} if name in sys.modules))"
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
