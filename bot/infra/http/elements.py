"""HTML elements with every text and attribute escaped."""

from html import escape

from bot.infra.i18n import Html

VOID = frozenset({"img", "link", "meta"})
Child = str | None
Value = str | int | bool | None


def element(name: str, /, *children: Child, **attributes: Value) -> Html:
    """Return one element. A `str` child is escaped, an `Html` isn't; None is left out.

    Attributes: `class_` stands for `class`, `data_x` for `data-x`; True is an attribute without a value, False and
    None are left out.
    """
    opening = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if name in VOID:
        return Html(opening)
    return Html(f"{opening}{together(*children)}</{name}>")


def together(*children: Child) -> Html:
    """Join several pieces."""
    return Html("".join(_text(child) for child in children if child is not None))


def _text(child: str) -> str:
    return child if isinstance(child, Html) else escape(child, quote=False)


def _attribute(key: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
