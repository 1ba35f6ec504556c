"""Text for Telegram's HTML parse mode. Plain strings are escaped, and `Html` is used unchanged."""

from html import escape


class Html(str):
    """Safe markup. In a sentence, an argument of type `str` is escaped, and an `Html` isn't."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the markup. Templates of web pages call this before they escape a value."""
        return self


def as_html(text: str) -> Html:
    """Return `text` as markup. Escape it unless it is `Html`."""
    return text if isinstance(text, Html) else Html(escape(text))
