"""Templates that staff write: Telegram HTML with variables in braces, as `{rate}`.

A template is checked once, when it is entered. The stored form has only known tags, and braces only around variables.
"""

import re
from collections.abc import Collection, Mapping
from html import escape
from html.parser import HTMLParser
from typing import Final

from bot.core.errors import Rejection
from bot.core.text import plain

_TAGS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "tg-spoiler", "pre"), frozenset()),
    "a": frozenset({"href"}),
    "blockquote": frozenset({"expandable"}),
    "code": frozenset({"class"}),
    "span": frozenset({"class"}),
    "tg-emoji": frozenset({"emoji-id"}),
    "tg-time": frozenset({"unix", "format"}),
}
_VARIABLE: Final = re.compile(r"\{([a-z0-9_]+)\}")
_BRACED: Final = re.compile(r"\{([^{}]*)\}")
_FILLED: Final = re.compile(
    r"(?P<before>(?i:\bRp\.?\s*)?)(?P<opened>(?:<[^<>]*>)*)\{(?P<name>[a-z0-9_]+)\}"
    r"(?P<closed>(?:<[^<>]*>)*)(?P<after>(?i:\s+sats?\b)?)"
)
"""A variable, the tags beside it, and the unit that staff may have typed before or after it."""

_PERCENT_ENCODED: Final = str.maketrans({"{": "%7B", "}": "%7D"})


def read(html: str, variables: Collection[str]) -> str:
    """Turn `html` (written by Telegram from a message's entities) into a template with these variables.

    Raises:
        Rejection: it is empty, or has another variable, a stray brace, or markup that Telegram lacks.
    """
    markup = _Markup(variables)
    markup.feed(html)
    markup.close()
    markup.finish()
    if not plain(markup.text):
        raise Rejection("core.template.empty")
    return "".join(markup.out).strip()


def format_variables(variables: Collection[str]) -> str:
    """Return variables as staff type them: `{rate}, {usdc}, …`."""
    return ", ".join(f"{{{name}}}" for name in variables)


def find_variables(template: str) -> frozenset[str]:
    """Return the variables that a template uses."""
    return frozenset(_VARIABLE.findall(template))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the template with its variables replaced. `values` are HTML and have every variable.

    A value has its unit: `62,264 sats`, `Rp5,000`. If staff typed the unit as well, it isn't shown twice.
    """

    def replace(match: re.Match[str]) -> str:
        value = values[match["name"]]
        before = "" if value.startswith("Rp") else match["before"]
        after = "" if value.endswith((" sat", " sats")) else match["after"]
        return f"{before}{match['opened']}{value}{match['closed']}{after}"

    return _FILLED.sub(replace, template)


class _Markup(HTMLParser):
    """Rewrite HTML with Telegram's tags only, every attribute quoted."""

    def __init__(self, variables: Collection[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._variables = variables
        self.out: list[str] = []
        self.text = ""
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            raise Rejection("core.template.markup")
        self._open.append(tag)
        self.out.append(f"<{tag}{''.join(_attribute(*each) for each in attrs if each[0] in _TAGS[tag])}>")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            raise Rejection("core.template.markup")
        self.out.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.text += data
        named = _BRACED.sub(self._named, data)
        if re.search(r"[{}]", _VARIABLE.sub("", named)):
            raise Rejection("core.template.lone_brace", known=format_variables(self._variables))
        self.out.append(escape(named, quote=False))

    def handle_comment(self, data: str) -> None:
        del data
        raise Rejection("core.template.markup")

    def finish(self) -> None:
        """Reject markup with an open tag."""
        if self._open:
            raise Rejection("core.template.markup")

    def _named(self, match: re.Match[str]) -> str:
        name = match[1].strip().lower()
        if name not in self._variables:
            known = format_variables(self._variables)
            raise Rejection("core.template.unknown_variable", name=f"{{{plain(match[1])[:40]}}}", known=known)
        return f"{{{name}}}"


def _attribute(name: str, value: str | None) -> str:
    return f" {name}" if value is None else f' {name}="{escape(value.translate(_PERCENT_ENCODED))}"'
