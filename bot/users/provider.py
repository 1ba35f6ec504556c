"""The provider: who offers the bot to users, and under which terms."""

from dataclasses import dataclass
from html import escape
from typing import Final

from bot.infra.i18n import Html, Translator
from bot.infra.i18n.html import as_html


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """The person or company that offers the bot. Parts that aren't set are empty.

    Operators are others: the Telegram users who operate the bot.
    """

    name: str = ""
    terms_url: str = ""
    privacy_url: str = ""

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """The links that are set: the key of each label, and its address."""
        every = (("users.provider.terms", self.terms_url), ("users.provider.privacy", self.privacy_url))
        return tuple((key, url) for key, url in every if url)


UNNAMED: Final = Provider()
"""A provider of whom nothing is set."""


def format_provider(t: Translator, provider: Provider) -> tuple[Html, ...]:
    """Return the line about the provider in a tuple. The tuple is empty if nothing is set."""
    name = (t("users.provider.name", name=provider.name),) if provider.name else ()
    links = (Html(f'<a href="{escape(url)}">{as_html(t.plain(key))}</a>') for key, url in provider.links)
    parts = (*name, *links)
    return (Html(" · ".join(parts)),) if parts else ()
