"""Who runs this bot towards its users, and under which terms."""

from dataclasses import dataclass
from html import escape
from typing import Final

from bot.infra.i18n import Html, Translator
from bot.infra.i18n.html import as_html


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """The person or company that offers the service. Each part is empty where it isn't set.

    It isn't one of the operators: those are the Telegram users who look after the bot.
    """

    name: str = ""
    terms_url: str = ""
    privacy_url: str = ""

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """Return the key of each link's label with its address, those that are set."""
        every = (("provider.terms", self.terms_url), ("provider.privacy", self.privacy_url))
        return tuple((key, url) for key, url in every if url)


UNNAMED: Final = Provider()
"""Where nothing of it is set."""


def format_provider(t: Translator, provider: Provider) -> tuple[Html, ...]:
    """Return the line alone in a tuple, or nothing where no part of it is set: so it leaves no gap."""
    name = (t("provider.name", name=provider.name),) if provider.name else ()
    links = (Html(f'<a href="{escape(url)}">{as_html(t.plain(key))}</a>') for key, url in provider.links)
    parts = (*name, *links)
    return (Html(" · ".join(parts)),) if parts else ()
