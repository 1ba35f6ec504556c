"""`python -m bot sandbox` as a new user starts, kills and stops it."""

import asyncio
import re
import signal
import socket
from functools import partial
from pathlib import Path

from tests.e2e.processes.sandbox_program import ARGUMENTS, children, ends_clean, is_gone, sandbox
from tests.e2e.programs import RunningProgram, run_program, running_program
from tests.texts import like
from tests.waiting import until


async def settings_told(program: RunningProgram) -> dict[str, str]:
    """Return the settings that a sandbox without a bot prints for your own bot."""
    text = await program.says("python -m bot run")
    return dict(re.findall(r"^\s+([A-Z_]+)=(\S+) \\$", text, re.MULTILINE))


async def has_another_child(program: RunningProgram, known: int) -> bool:
    return any(child.pid != known for child in children(program))


async def test_the_sandbox_restarts_a_killed_bot_keeps_its_state_and_forgets_it_only_when_told(tmp_path: Path) -> None:
    async with sandbox(tmp_path) as (program, emma):
        await emma.says("/send")
        await emma.sees(like("checkout.destination.ask"))
        (bot,) = children(program)
        bot.kill()
        await until(partial(has_another_child, program, bot.pid), what="another bot")
        await emma.says("bca")
        await emma.sees(like("checkout.number.ask_bank"))
        await ends_clean(program, signal.SIGINT)
    async with sandbox(tmp_path) as (program, emma):
        assert await emma.count(like("checkout.number.ask_bank")) == 1
        await emma.says("1234567890")
        await emma.sees(like("checkout.holder.ask"))
        await ends_clean(program, signal.SIGTERM)
    async with sandbox(tmp_path, "--fresh", "--without-bot") as (program, emma):
        assert await emma.messages() == []
        async with running_program(tmp_path, "run", environment=await settings_told(program)):
            await emma.says("/status")
            await emma.sees(like("orders.status.none"))
        await ends_clean(program, signal.SIGTERM)


async def test_a_killed_sandbox_takes_its_bot_along(tmp_path: Path) -> None:
    async with sandbox(tmp_path) as (program, _):
        await until(partial(has_another_child, program, 0), what="the bot")
        left = children(program)
        await program.ends_on(signal.SIGKILL)
        for child in left:
            await until(partial(is_gone, child), what="its end")


async def test_a_port_that_is_taken_ends_the_sandbox_with_a_word_about_it(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with running_program(tmp_path, *ARGUMENTS, "--without-bot", environment={}) as first:
        text = await first.says("python -m bot run")
        page, service = re.findall(r"(?:TELEGRAM_API_URL|SERVICE_BASE_URL)=\S+:(\d+)", text)
        with socket.create_server(("127.0.0.1", 0)) as another:
            wallet = str(another.getsockname()[1])
            options = {"--port": page, "--service-port": service, "--wallet-port": wallet}
            # What is saved there stays, even with --fresh.
            (other / "here").mkdir()
            (other / "here" / "telegram.db").touch()
            tries = [run_program(other, *ARGUMENTS, *taken, "--fresh", environment={}) for taken in options.items()]
            every = await asyncio.gather(*tries)
        for (option, port), ended in zip(options.items(), every, strict=True):
            assert ended.code == 2
            (line,) = ended.err.splitlines()
            assert f"{port} ({option}) is in use" in line
        assert (other / "here" / "telegram.db").exists()
