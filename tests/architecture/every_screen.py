"""Every screen there is, found by the names of the modules, and built with what may come from outside.

A screen is a public function that returns a `Screen`, in a module named `screens` or in `checkout/steps`. Its arguments
come from their types: `tests/PACKAGE/samples.py` has values of the package's types (`SAMPLES`), of which each is tried.
So a new screen is read as Telegram reads it without a change to the tests.
"""

import inspect
import math
import random
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Final

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Screen
from tests.architecture.source import ROOT, paths
from tests.screens import Outside, ScreenCase

Function = Callable[..., Screen]

MANY: Final = 60
"""How many combinations of arguments are tried, if there are more than that."""


def every_screen(outside: Outside, most: int = MANY) -> Iterator[ScreenCase]:
    """Yield all screens in one language, with these values from outside. A screen has about `most` combinations."""
    known: dict[object, Sequence[object]] = {}
    for function in find_screens():
        yield from screens_of(function, outside, known, most)
    for module in _sample_modules():
        yield from module.more_screens(outside) if hasattr(module, "more_screens") else ()


def screens_of_modules(outside: Outside, *modules: ModuleType) -> Iterator[ScreenCase]:
    """Yield the screens of these modules."""
    for function in (each for module in modules for each in screens_in(module)):
        yield from screens_of(function, outside)


@cache
def find_screens() -> tuple[Function, ...]:
    """Return the functions that build screens."""
    return tuple(function for path in paths() if _has_screens(path) for function in screens_in(_load(path)))


def screens_in(module: ModuleType) -> Iterator[Function]:
    """Yield the functions of a module that build screens."""
    for name, function in vars(module).items():
        is_own = inspect.isfunction(function) and function.__module__ == module.__name__
        if is_own and not name.startswith("_") and typing.get_type_hints(function).get("return") is Screen:
            yield function


def screens_of(
    function: Function, outside: Outside, known: dict[object, Sequence[object]] | None = None, most: int = MANY
) -> Iterator[ScreenCase]:
    """Yield the screens that a function builds of the samples. `known` has the samples that were built before."""
    known = {} if known is None else known
    samples = {}
    for name, hint in typing.get_type_hints(function).items():
        if name != "return":
            key = _find_key(function, name, hint)
            if key not in known:
                known[key] = tuple(_build(function, name, key, outside))
            samples[name] = known[key]
    seed = f"{outside.t.locale} {outside.method.name} {outside.typed}"
    for values in _combine(list(samples.values()), seed, most):
        given = dict(zip(samples, values, strict=True))
        screen = _call(function, given)
        said = tuple(text for name, value in given.items() for text in _must_say(function, name, value, outside.t))
        about = tuple(given.values())
        yield ScreenCase(_name(function), screen, said, is_caption=screen.photo is not None, given=about)


def _call(function: Function, given: dict[str, object]) -> Screen:
    only_by_name = _keyword_only(function)
    keywords = {name: value for name, value in given.items() if name in only_by_name}
    return function(*(value for name, value in given.items() if name not in only_by_name), **keywords)


@cache
def _keyword_only(function: Function) -> frozenset[str]:
    """Return the names of the arguments that can't be passed by position."""
    kinds = inspect.signature(function).parameters
    return frozenset(name for name, each in kinds.items() if each.kind is inspect.Parameter.KEYWORD_ONLY)


def _find_key(function: Function, name: str, hint: object) -> object:
    """Return what `SAMPLES` has the values under: this screen's argument, the argument's name, or its type."""
    samples = _samples()
    return next((key for key in ((function, name), (hint, name)) if key in samples), hint)


def _build(function: Function, name: str, key: object, outside: Outside) -> Iterable[object]:
    """Return the samples of a key, or make them from those of the types that it consists of.

    Raises:
        AssertionError: there are none. The message says where to add them.
    """
    samples = _samples()
    if key in samples:
        return samples[key](outside)
    parts = typing.get_args(key)
    if typing.get_origin(key) in {UnionType, typing.Union}:
        return (value for part in parts for value in _build(function, name, part, outside))
    if typing.get_origin(key) in {Sequence, Iterable}:
        values = tuple(_build(function, name, parts[0], outside))
        return ((), values[:1], values)
    if key is NoneType:
        return (None,)
    if isinstance(key, type) and issubclass(key, Enum):
        return key
    raise AssertionError(
        f"{_name(function)} takes `{name}`, a {getattr(key, '__name__', key)}: add values of this type to SAMPLES in"
        f" tests/{function.__module__.split('.')[1]}/samples.py"
    )


def _combine(samples: list[Sequence[object]], seed: str, most: int) -> Iterator[tuple[object, ...]]:
    """Yield all combinations. If they are too many, yield some of them, others for each seed, with each value."""
    if math.prod(map(len, samples)) <= most:
        yield from product(*samples)
        return
    order = random.Random(seed)
    count = max(most, *map(len, samples))
    columns = [list(each) * math.ceil(count / len(each)) for each in samples]
    for column in columns:
        del column[count:]
        order.shuffle(column)
    yield from zip(*columns, strict=True)


def _must_say(function: Function, name: str, value: object, t: Translator) -> Iterator[str]:
    """Yield what a screen must say of an argument: for a screen about an order, which order it is."""
    for says in _rules():
        rule = says.get((function, name), says.get(type(value)))
        if rule is not None:
            yield from rule(value, t)


@cache
def _rules() -> tuple[Mapping[object, Callable[..., Iterable[str]]], ...]:
    """Return what each package says that its screens must say."""
    return tuple(filter(None, (getattr(module, "MUST_SAY", None) for module in _sample_modules())))


@cache
def _samples() -> dict[object, Callable[[Outside], Iterable[object]]]:
    return {key: values for module in _sample_modules() for key, values in module.SAMPLES.items()}


@cache
def _sample_modules() -> tuple[ModuleType, ...]:
    return tuple(_load(path.relative_to(ROOT)) for path in sorted(ROOT.glob("tests/*/samples.py")))


def _has_screens(path: Path) -> bool:
    parts = path.with_suffix("").parts
    return "screens" in parts or parts[-1] == "warnings" or path.match("bot/checkout/steps/*.py")


def _load(path: Path) -> ModuleType:
    return import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))


def _name(function: Function) -> str:
    return f"{function.__module__.replace('.', '/')}.py: {function.__name__}"
