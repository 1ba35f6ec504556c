"""Text for Telegram's HTML parse mode: what comes from outside is escaped, unless it says that it is markup."""

from html import escape


class Html(str):
    """Markup that is safe as it is. A plain `str` given to a sentence is escaped, an `Html` is not."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the markup itself; templates of web pages ask for it before they escape a value."""
        return self


def as_html(text: str) -> Html:
    """`text` as markup, escaped unless it already is."""
    return text if isinstance(text, Html) else Html(escape(text))
