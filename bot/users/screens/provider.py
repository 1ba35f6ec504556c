"""The line that says who runs the bot, with links to the terms and the privacy policy."""

from html import escape

from bot.infra.i18n import Html, Translator
from bot.infra.i18n.html import as_html
from bot.users.provider import Provider


def line(t: Translator, provider: Provider) -> tuple[Html, ...]:
    """Return the line alone in a tuple, or nothing where no part of it is set: so it leaves no gap."""
    name = (t("provider.name", name=provider.name),) if provider.name else ()
    links = (Html(f'<a href="{escape(url)}">{as_html(t.plain(key))}</a>') for key, url in provider.links)
    parts = (*name, *links)
    return (Html(" · ".join(parts)),) if parts else ()
