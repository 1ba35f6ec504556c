"""The documents for operators and the code agree: setup, runbook, handbook and reference."""

import re
from typing import TYPE_CHECKING, cast

import httpx
from babel.messages.pofile import read_po
from typer.main import get_command

from bot.__main__ import cli
from bot.app import build_declared
from bot.home.command_menus import collect_menus
from bot.infra.http.health import Health, create_health_app
from bot.infra.i18n import find_catalogue_folder
from bot.infra.metrics import LoopLag
from bot.infra.watchdog import ProcessState
from bot.operations.model import OrderOutcome
from bot.operations.reconciliation.books import COLUMNS as BOOKED
from bot.operations.service import COLUMNS as EXPORTED
from bot.staff.audit import COLUMNS as AUDITED
from tests.architecture.documents import DOCUMENTS, check_listed, part, rows
from tests.architecture.log_events import log_events
from tests.texts import label

if TYPE_CHECKING:
    from bot.infra.db.database import Database

ROUTES = [routes for feature in build_declared().features for routes in feature.routes]
COMMANDS_IN_TELEGRAM = {name for names in collect_menus(ROUTES).values() for name in names}
PATHS = {"data", "healthz", "livez", "mcp", "metrics", "p", "readyz"}
"""What is written in code like a command and is a path."""

IN_NO_MENU = {"id"}
"""A command for the people who set up the bot."""

OF_BOTFATHER = {"newbot", "revoke", "setinline", "setinlinefeedback", "setuserpic"}
NO_FIGURES = {"operations.statistics.head", "operations.statistics.outcome", "operations.statistics.since"}
"""Texts with numbers in them that are parts of others."""


def _commands() -> set[str]:
    """Return the commands of `kirim`, those of `keys` with its name before them."""
    found = set()
    for name, command in get_command(cli).commands.items():  # type: ignore[attr-defined]
        found |= {f"{name} {each}" for each in getattr(command, "commands", ())} or {name}
    return found


def test_every_command_of_the_program_is_listed_and_no_other() -> None:
    listed = [first.strip("`").removeprefix("kirim ").partition(" --")[0] for first, _ in rows("commands")]
    check_listed("commands", listed, _commands())


def test_commands_of_the_program_that_the_documents_mention_exist() -> None:
    known = {name.split()[0] for name in _commands()}
    for path, text in DOCUMENTS.items():
        assert set(re.findall(r"(?:`|\$ |bot |kirim )kirim ([a-z][a-z-]+)", text)) <= known, path


def test_every_command_in_telegram_is_listed_and_no_other() -> None:
    listed = [first.strip("`").removeprefix("/") for first, *_ in rows("telegram-commands")]
    check_listed("telegram-commands", set(listed), COMMANDS_IN_TELEGRAM)


def test_commands_in_telegram_that_the_documents_mention_exist() -> None:
    for path, text in DOCUMENTS.items():
        mentioned = set(re.findall(r"`/([a-z]+)\b(?!/)", text))
        unknown = mentioned - PATHS - OF_BOTFATHER - IN_NO_MENU - COMMANDS_IN_TELEGRAM
        assert not unknown, f"{path.name}: no command has these names. If one is a path, add it to PATHS in {__file__}"


def test_every_log_event_is_listed_and_no_other() -> None:
    check_listed("log-events", (first.strip("`") for first, *_ in rows("log-events")), log_events())


def test_each_log_event_has_a_meaning_and_what_to_do() -> None:
    assert [row for row in rows("log-events") if len(row) != 3 or not all(row)] == []


def test_log_events_that_need_action_come_first() -> None:
    """A row is in the group that its last cell says."""
    groups = re.split(r"^## (.+)$", part("log-events"), flags=re.MULTILINE)
    assert groups[1::2] == ["Act", "Act if it repeats", "Nothing to do"]
    act, repeated, none = (
        [line.split("|")[3].strip() for line in re.findall(r"^\| `.*$", group, re.MULTILINE)] for group in groups[2::2]
    )
    assert act
    assert [todo for todo in act if todo.startswith("Nothing")] == []
    assert [todo for todo in repeated if not todo.startswith("Nothing") or todo == "Nothing."] == []
    assert {*none} == {"Nothing."}
    assert len(act) + len(repeated) + len(none) == len(rows("log-events"))


def test_every_figure_is_listed_and_no_other() -> None:
    with (find_catalogue_folder() / "en" / "LC_MESSAGES" / "kirim.po").open("rb") as file:
        catalogue = {str(each.id): str(each.string) for each in read_po(file)}
    texts = [
        text
        for key, text in catalogue.items()
        if key.startswith(("operations.statistics.", "support.ticket_times.")) and "{" in text and key not in NO_FIGURES
    ]
    names = [re.split(r"[:{👍]", re.sub(r"<.*?>", "", text))[0].strip() for text in texts]
    check_listed("figures", (first for first, _ in rows("figures")), names)


def test_every_outcome_of_an_order_is_listed_as_it_is_shown() -> None:
    listed = {first.strip("`"): second for first, second, _ in rows("outcomes")}
    assert listed == {str(outcome): label(f"operations.statistics.outcome_{outcome}") for outcome in OrderOutcome}


def test_the_columns_of_exported_files_are_listed() -> None:
    listed = [name for first, _ in rows("export-columns") for name in re.findall(r"`(\w+)`", first)]
    assert listed == list(EXPORTED)
    listed = [name for first, _ in rows("books-columns") for name in re.findall(r"`(\w+)`", first)]
    assert listed == list(BOOKED)
    audited = ", ".join(f"`{column}`" for column in AUDITED)
    assert audited.replace("`at`,", "`at` (UTC),") in part("audit").replace(" and", ",").replace("\n", " ")


class _Database:
    """A database that answers."""

    async def has_usable_tables(self) -> bool:
        return True


async def test_the_pages_of_health_are_answered_as_the_documents_show_them() -> None:
    state = ProcessState(are_workers_alive=lambda: True, are_leases_kept=lambda: True)
    health = Health(cast("Database", _Database()), state, LoopLag())
    transport = httpx.ASGITransport(create_health_app(health))
    documented = {(page, int(answer[:3])): answer for page, answer, _ in rows("health") if page.startswith("bot:")}
    async with httpx.AsyncClient(transport=transport, base_url="http://bot.example") as browser:
        for path in ("/livez", "/readyz", "/healthz"):
            well = await browser.get(path)
            answer = documented.pop((f"bot: `GET {path}`", 200))
            assert answer.startswith(f'200, `{{"status": "{well.json()["status"]}"')
            assert set(re.findall(r'"(\w+)":', answer)) == set(well.json())
        state.are_workers_alive = lambda: False
        for path in ("/readyz", "/healthz"):
            ill = await browser.get(path)
            answer = documented.pop((f"bot: `GET {path}`", 503))
            assert answer == f'503, `{{"status": "{ill.json()["status"]}", …}}`'
    assert [path for path, _ in documented] == ["bot: `GET /livez`"]
