"""The bot's data moves along when a sandbox starts with another number of replicas, or the sandbox says why not."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox import databases, run
from bot.sandbox.databases import Place

REFUSES = "import sys; print('...'); print('Nothing was copied: ' + ' '.join(sys.argv[1:])); sys.exit(1)"
COPIES_LATER = """
import os, sys
from pathlib import Path
log = Path(os.environ["LOG"])
before = log.read_text() if log.exists() else ""
log.write_text(f"{before}{' '.join(sys.argv[1:])} > {os.environ['DATABASE_URL']}\\n")
sys.exit(sys.argv[1] == "copy-database" and len(before.splitlines()) < int(os.environ["REFUSED"]))
"""
NO_BOT: dict[str, Any] = {"page_port": 0, "service_port": 0, "wallet_port": 0, "with_bot": False}
COPIED = "copy-database --from the source > the target"


async def start(state: Path, **changes: Any) -> None:
    """Start a sandbox, without a bot if no change asks for one, and stop it as soon as it is ready."""
    stop = asyncio.Event()
    stop.set()
    await run.run(run.SandboxOptions(**NO_BOT | {"state": state} | changes), stop)


@pytest.mark.parametrize("place", ["", "sqlite", "sqlite 1.0001"])
async def test_data_of_another_version_is_moved_aside_and_the_sandbox_starts_fresh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    old = {"kirim.db": "orders", "kirim.db-wal": "orders", "telegram.db": "chats", run.KEY_FILE: "a key"}
    old |= {"current-database": place} if place else {}
    for name, text in old.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "older-1").mkdir()
    await start(tmp_path)
    assert {path.name: path.read_text() for path in (tmp_path / "older-2").iterdir()} == old
    assert f"moved to {tmp_path / 'older-2'}," in capsys.readouterr().out
    await start(tmp_path)
    assert not (tmp_path / "older-3").exists()


@pytest.mark.process
async def test_a_database_that_no_bot_has_used_gets_its_tables_and_is_then_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "_PROGRAM", (sys.executable, "-c", COPIES_LATER))
    await databases.copy("the source", {"DATABASE_URL": "the target", "LOG": str(tmp_path / "log"), "REFUSED": "0"})
    assert (tmp_path / "log").read_text().splitlines() == ["migrate > the source", COPIED]


@pytest.mark.process
async def test_data_is_copied_once_the_leases_of_killed_replicas_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "_PROGRAM", (sys.executable, "-c", COPIES_LATER))
    monkeypatch.setattr(databases, "_RETRY_SECONDS", 0)
    environment = {"DATABASE_URL": "the target", "LOG": str(tmp_path / "log"), "REFUSED": "4"}
    await databases.copy("the source", environment)
    assert (tmp_path / "log").read_text().splitlines() == ["migrate > the source", COPIED, COPIED, COPIED, COPIED]
    monkeypatch.setattr(databases, "_LEASES_END_SECONDS", 0)
    with pytest.raises(databases.NotCopied):
        await databases.copy("the source", environment | {"REFUSED": "100"})


@pytest.mark.process
async def test_a_copy_that_fails_is_explained_and_made_again_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "_PROGRAM", (sys.executable, "-c", REFUSES))
    databases.remember(tmp_path, Place.OWN)
    for _ in range(2):
        with pytest.raises(run.CantStart, match=r"^Nothing was copied: migrate$"):
            await start(tmp_path, database_url="postgresql://kirim@db.example/kirim")
    assert databases.find(tmp_path) is Place.OWN
