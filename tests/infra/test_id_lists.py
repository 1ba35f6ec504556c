"""No list of ids in a statement grows with what a user makes: PostgreSQL takes 32,767 parameters, then it fails."""

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import bot

ROOT = Path(bot.__file__).parent
BOUNDS = {
    "broadcasts/repository.py _matches_locale": "the spellings of a language",
    "broadcasts/repository.py WAS_CONFIRMED": "two statuses",
    "broadcasts/repository.py take_back": "three seconds of messages, at 1,000 a second",
    "infra/db/copy.py _compare": "`AT_ONCE` rows",
    "infra/db/keys.py _counts": "the keys of this process",
    "infra/db/user_rows.py export_rows": "`PAGE` rows",
    "infra/outbox/repository.py IS_OF_KINDS": "the kinds of notification",
    "infra/outbox/repository.py _build_heads_in_chats": "the chats of one transaction",
    "infra/outbox/repository.py mark_sending": "what one look takes",
    "infra/telegram/inbound/repository.py finish": "`split_into_batches`",
    "operations/reconciliation/repository.py absent": "a list of the service",
    "operations/reconciliation/repository.py by_reference": "a list of the service",
    "operations/reconciliation/repository.py replace_spans": "the times that one list has joined",
    "orders/destinations/repository.py between": "the two places in the middle",
    "orders/receipts/repository.py of_orders": "`Pace.batch` pages",
    "orders/receipts/repository.py references_by_code_hash": "`CODES_PACE.batch` codes",
    "orders/receipts/repository.py lock": "a user, and all together",
    "orders/repository.py _may_be_paid": "two phases",
    "orders/repository.py by_page_token": "`Pace.batch` pages",
    "orders/repository.py by_service_id": "a list of the service",
    "orders/repository.py due_if_viewed": "`MAX_VIEWED` pages, and `MAX_VIEWED` users",
    "orders/repository.py find_tracked": "`REPORTS_AT_ONCE`",
    "orders/repository.py in_phase": "the phases of an order",
    "orders/repository.py payments_of_links": "the 100 requests that `/requests` reads",
    "orders/repository.py polled_by_service_id": "a list of the service",
    "orders/repository.py tally_links": "the 100 requests that `/requests` reads",
    "orders/repository.py with_references": "`Pace.batch` receipts",
    "orders/user_data.py remove_recipients": "`BATCH_ROWS`",
    "staff/repository.py release": "the operators of the settings",
    "support/repository.py with_references": "`PAGE` tickets",
    "support/lookup_repository.py _matches": (
        "the sums that an operator typed, and `MAX_MATCHES` references of each part"
    ),
}
"""Where a statement has a list of values, and what bounds the list. All that a user can make is found by a subquery."""

QUERIES = {"origins", "ids_of_user"}
"""Parameters that are queries, and functions that return one."""


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, ast.stmt]]:
    """Yield each function and method, and what else is at the top of each module, with its module and name."""
    for path in sorted(ROOT.rglob("*.py")):
        if "sandbox" not in path.parts:
            for each in ast.parse(path.read_text()).body:
                found = each.body if isinstance(each, ast.ClassDef) else [each]
                yield from ((f"{path.relative_to(ROOT)} {name_of(one)}", one) for one in found)


def name_of(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            return ast.unparse(target)
        case _:
            return str(getattr(statement, "name", ""))


def has_list_of_values(function: ast.stmt) -> bool:
    """Return whether a parameter is a list, or `in_` or `not_in` has values that aren't constants or a query."""
    queries = set(QUERIES)
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_query(value, queries):
                queries.add(name)
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return any(
        any(each.arg == "expanding" for each in call.keywords) or is_list_of_values(call, queries) for call in calls
    )


def is_query(value: ast.expr, queries: Collection[str]) -> bool:
    """Return whether an expression is a query: `select(…)`, one with more conditions, or of a function in `queries`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    match value:
        case ast.Call(func=ast.Name(id=function)):
            return function == "select" or function in queries
        case ast.Name(id=name):
            return name in queries
    return False


def is_list_of_values(call: ast.Call, queries: Collection[str]) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in {"in_", "not_in"}:
        return False
    (values,) = call.args
    if isinstance(values, ast.List | ast.ListComp | ast.Tuple):
        return "constant(" not in ast.unparse(values)
    return not ast.unparse(values).isupper() and not is_query(values, queries)


def test_each_list_of_values_has_a_bound() -> None:
    assert {name for name, function in functions() if has_list_of_values(function)} == set(BOUNDS)
