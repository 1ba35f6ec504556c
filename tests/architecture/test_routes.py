"""Every route says who may use it, and its button or command can be reached."""

from typer.testing import CliRunner

from bot import updates
from bot.__main__ import cli
from bot.app import build_declared_features
from bot.infra.telegram.ui.callbacks import list_button_kinds
from bot.infra.telegram.ui.router import Audience
from bot.operations.command_menus import EVERYONES_COMMANDS, OPERATORS_COMMANDS, SUPPORT_COMMANDS

FEATURES = build_declared_features()
MENUS = {
    Audience.EVERYONE: EVERYONES_COMMANDS,
    Audience.OPERATORS: OPERATORS_COMMANDS,
    Audience.SUPPORT: SUPPORT_COMMANDS,
}


def test_the_table_of_routes_can_be_printed() -> None:
    printed = CliRunner().invoke(cli, ["routes"])
    assert printed.exit_code == 0
    listed = [line.split()[:2] for line in printed.output.splitlines()]
    assert listed == [[route.name, str(route.audience)] for route in updates.list_routes(FEATURES)]
    assert ["/stats", "operators"] in listed
    assert ["/tickets", "support"] in listed


def test_no_route_is_declared_twice() -> None:
    names = [(route.name, route.audience) for route in updates.list_routes(FEATURES)]
    assert len(names) == len(set(names))


def test_every_command_is_in_the_menu_of_those_who_may_use_it() -> None:
    commands = [route for route in updates.list_routes(FEATURES) if route.name.startswith("/")]
    assert [each.name for each in commands if each.name[1:] not in MENUS[each.audience]] == []


def test_every_kind_of_button_has_a_handler() -> None:
    handled = {kind for routes in updates.collect_routes(FEATURES) for kind in routes.button_kinds()}
    assert {kind for kind in list_button_kinds() if kind.__module__.startswith("bot.")} == handled
