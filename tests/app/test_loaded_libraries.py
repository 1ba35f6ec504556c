"""Which modules a program loads at its start. Each of these takes time and memory that nobody should wait for."""

import subprocess
import sys
from typing import Final

import pytest

PROGRAMS: Final = {
    "the bot": (
        "import bot.process",
        (
            "Crypto",
            "PIL",
            "alembic",
            "asyncpg",
            "bot.infra.drawing.picture",
            "bot.mcp_server",
            "bot.sandbox",
            "bot.web_servers",
            "jinja2",
            "mcp",
            "qrcode",
            "starlette",
            "uvicorn",
        ),
    ),
    "the tools over stdio": (
        "from bot.mcp_server import command, stdio, server",
        (
            "Crypto",
            "PIL",
            "aiohttp",
            "alembic",
            "asyncpg",
            "httpx",
            "jinja2",
            "prometheus_client",
            "qrcode",
            "sqlalchemy",
            "telegram",
            "typer",
        ),
    ),
}

PROBE: Final = """
import sys

unneeded, imported_by = {unneeded!r}, {{}}

class Watcher:
    def find_spec(self, name, path=None, target=None):
        if name in unneeded:
            frame, files = sys._getframe(), []
            while frame is not None:
                files.append(frame.f_code.co_filename)
                frame = frame.f_back
            imported_by[name] = next((file for file in files if "/bot/" in file), "?")

sys.meta_path.insert(0, Watcher())
{imports}
for name in unneeded:
    if name in sys.modules:
        print(name, "is imported by", imported_by.get(name, "Python itself"))
"""
"""Prints each unneeded module that was loaded, and the file of the bot that imports it, also through a library."""


def _find_unneeded(imports: str, unneeded: tuple[str, ...]) -> list[str]:
    code = PROBE.format(imports=imports, unneeded=unneeded)
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.process
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_loads_nothing_that_it_does_not_need_at_once(program: str) -> None:
    assert _find_unneeded(*PROGRAMS[program]) == []


@pytest.mark.process
def test_the_bot_works_without_the_folder_of_the_sandbox() -> None:
    # As in the image. What the bot imports later, while it runs, is loaded here, too.
    blocked = """
import pkgutil, sys

class NoSandbox:
    def find_spec(self, name, path=None, target=None):
        if name == "bot.sandbox" or name.startswith("bot.sandbox."):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoSandbox())
import bot
for module in pkgutil.walk_packages(bot.__path__, "bot."):
    if not module.name.startswith(("bot.sandbox", "bot.migrations")):
        __import__(module.name)
"""
    done = subprocess.run((sys.executable, "-c", blocked), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
