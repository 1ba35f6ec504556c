"""How long people waited for support, and what they thought of it: a few lines under other figures."""

from datetime import timedelta

from bot.infra.i18n import Html, Translator
from bot.support.reply_times import TicketFigures

SHORT = timedelta(minutes=2)


def format_ticket_times(t: Translator, figures: TicketFigures) -> Html:
    """Those there is something to say of; empty where no ticket was opened."""
    if not figures.opened:
        return Html("")
    found = [t("ticket_times.opened", opened=figures.opened, closed=figures.closed)]
    if figures.first_answer is not None:
        median = format_length(t, figures.first_answer)
        found.append(t("ticket_times.first_answer", median=median, count=figures.answered))
    if figures.close is not None:
        found.append(t("ticket_times.close", median=format_length(t, figures.close), count=figures.closed))
    if figures.good or figures.bad:
        found.append(t("ticket_times.rated", good=figures.good, bad=figures.bad))
    return Html("\n".join(found))


def format_length(t: Translator, time: timedelta) -> str:
    """A time, in seconds up to two minutes."""
    return t.n("figures.seconds", round(time.total_seconds())) if time < SHORT else t.duration(time)
