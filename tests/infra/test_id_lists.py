"""No list of ids in a statement grows with what a user makes: PostgreSQL takes 32,767 parameters, then it fails."""

import ast
from collections.abc import Iterator
from pathlib import Path

import bot

ROOT = Path(bot.__file__).parent
BOUNDS = {
    "broadcasts/delivery_repository.py USER_IDS": "`split_into_batches`",
    "broadcasts/delivery_repository.py EXCLUDED": "readers that Telegram refused in a row, before a broadcast pauses",
    "infra/db/processes.py _build_keep": "the keys of this process",
    "infra/db/stalled_sessions.py END_OF_OWNERS": "processes whose leases have ended",
    "infra/leases/repository.py IDS": "the chats that one look takes, or in which work is being finished",
    "infra/leases/repository.py RELEASE": "`split_into_batches`",
    "infra/outbox/repository.py IN_THESE_QUEUES": "the queues",
    "infra/outbox/repository.py MARK_SENDING": "what one look takes",
    "infra/outbox/repository.py OF_KINDS": "the kinds of notification",
    "infra/telegram/inbound/repository.py UNFINISHED": "the updates of a chat that are in memory",
    "infra/telegram/inbound/repository.py HAS_ID": "`split_into_batches`",
    "operations/reconciliation/repository.py ABSENT": "a list of the service",
    "operations/reconciliation/repository.py BY_REFERENCE": "a list of the service",
    "operations/reconciliation/repository.py DELETE_SPANS": "the times that one list has joined",
    "orders/receipts/repository.py OF_ORDERS": "`Pace.batch` pages",
    "orders/receipts/repository.py REFERENCES_BY_HASH": "`CODES_PACE.batch` codes",
    "orders/repository.py IN_PHASES": "the phases of an order",
    "orders/repository.py SOME": "`REPORTS_AT_ONCE`, or `Pace.batch` receipts",
    "orders/repository.py OF_PAGES": "`Pace.batch` pages",
    "orders/repository.py CLAIMING": "a list of the service",
    "orders/repository.py TALLIES": "the 100 requests that `/requests` reads",
    "orders/repository.py POLLED_CLAIMING": "a list of the service",
    "orders/repository.py VIEWED": "`MAX_VIEWED` pages",
    "orders/repository.py OF_USERS": "`MAX_VIEWED` users",
    "orders/user_data.py REFERENCES": "`BATCH_ROWS`",
    "rates/repository.py QUIET": "`split_into_batches`",
}
"""Each statement with a list of parameters, and what bounds it. All that a user can make is found by a subquery."""

LISTS_OF_VALUES = {
    "broadcasts/delivery_repository.py": "the spellings of a language",
    "infra/db/copy.py": "`AT_ONCE` rows",
    "infra/db/keys.py": "the keys of this process",
    "orders/destinations/repository.py": "the two places in the middle",
    "orders/receipts/wrong_code_repository.py": "a user, and all together",
    "support/lookup/repository.py": "the sums that an operator typed, and `MAX_MATCHES` references of each part",
}
"""Where a function puts values into a statement, and what bounds them."""

QUERIES = {"origins"}
"""Parameters of functions that are queries."""


def statements() -> Iterator[tuple[str, ast.stmt]]:
    """Yield what is at the top of each module."""
    for path in sorted(ROOT.rglob("*.py")):
        if "sandbox" not in path.parts:
            yield from ((str(path.relative_to(ROOT)), each) for each in ast.parse(path.read_text()).body)


def calls(statement: ast.stmt) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def name_of(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            return ast.unparse(target)
        case _:
            return str(getattr(statement, "name", ""))


def is_list_of_values(call: ast.Call) -> bool:
    """Return whether it is `in_` or `not_in` with values, and not with the program's constants or a query."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in {"in_", "not_in"}:
        return False
    (values,) = call.args
    match values:
        case ast.Call(func=ast.Name(id=kind)):
            return kind in {"list", "tuple", "sorted", "set"}
        case ast.Call():
            return False
        case ast.List() | ast.ListComp() | ast.Tuple():
            return "constant(" not in ast.unparse(values)
    return not ast.unparse(values).isupper() and ast.unparse(values) not in QUERIES


def test_each_list_of_parameters_has_a_bound() -> None:
    found = {
        f"{path} {name_of(statement)}"
        for path, statement in statements()
        if any(each.arg == "expanding" for call in calls(statement) for each in call.keywords)
    }
    assert found == set(BOUNDS)


def test_each_list_of_values_has_a_bound() -> None:
    found = {path for path, statement in statements() if any(map(is_list_of_values, calls(statement)))}
    assert found == set(LISTS_OF_VALUES)
