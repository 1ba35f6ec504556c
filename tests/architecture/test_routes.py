"""Every route says who may use it, and its button or command can be reached."""

import re

import pytest
from typer.testing import CliRunner

from bot import updates
from bot.__main__ import cli
from bot.app import build_declared
from bot.home.command_menus import collect_menus
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.callbacks import list_button_kinds
from bot.infra.telegram.ui.routes import Audience, Menu
from bot.operations.screens import show_help
from tests.texts import TRANSLATIONS

APP = build_declared()
MENUS = collect_menus(routes for feature in APP.features for routes in feature.routes)
MENU_OF = {
    Audience.EVERYONE: Menu.EVERYONE,
    Audience.OPERATORS: Menu.OPERATORS,
    Audience.STAFF: Menu.OPERATORS,
    Audience.SUPPORT: Menu.SUPPORT,
}


def test_the_table_of_routes_can_be_printed() -> None:
    printed = CliRunner().invoke(cli, ["routes"])
    assert printed.exit_code == 0
    listed = [line.split()[:2] for line in printed.output.splitlines()]
    assert listed == [[route.name, str(route.audience)] for route in updates.list_routes(APP)]
    assert ["/stats", "operators"] in listed
    assert ["/tickets", "support"] in listed


def test_every_command_is_in_the_menu_of_those_who_may_use_it() -> None:
    commands = [route for route in updates.list_routes(APP) if route.name.startswith("/")]
    unlisted = {
        each.name
        for each in commands
        if each.name[1:] not in MENUS[MENU_OF[each.audience]]
        and (each.audience is not Audience.SUPPORT or each.name[1:] not in MENUS[Menu.GROUP])
    }
    assert unlisted == {"/id"}  # only who sets up the bot needs it


KNOWN_ORDER = {
    Menu.EVERYONE: (
        "send request requests recipients rate status orders verify cancel settings phrase privacy language help start"
    ),
    Menu.OPERATORS: "status find broadcast broadcasts stats destinations export reconcile audit reports rate",
    Menu.SUPPORT: "next tickets find order customer replies note unsend answer",
    Menu.GROUP: "next tickets find order customer replies note unsend answer help language verify",
}
"""Menu -> the commands in the order that users know. A new command's place is a decision, so it is written here."""


@pytest.mark.parametrize("menu", Menu)
def test_the_menus_are_in_the_order_that_users_know(menu: Menu) -> None:
    now = " ".join(MENUS[menu])
    assert now == KNOWN_ORDER[menu], f"if you meant this, write it into KNOWN_ORDER[{menu}] in {__file__}: {now}"


def test_every_kind_of_button_has_a_handler() -> None:
    handled = {route.name for route in updates.list_routes(APP) if not route.name.startswith("/")}
    assert {kind.prefix for kind in list_button_kinds() if kind.__module__.startswith("bot.")} == handled


@pytest.mark.parametrize("locale", LOCALES)
def test_the_help_of_operators_names_all_their_commands(locale: str) -> None:
    routes = (route for route in updates.list_routes(APP) if route.audience in {Audience.OPERATORS, Audience.STAFF})
    theirs = {route.name for route in routes if Menu.OPERATORS in route.menu}
    named = set(re.findall(r"(?<!<)/[a-z]+", show_help(TRANSLATIONS.get(locale)).text))
    assert named == theirs | {"/status"}
