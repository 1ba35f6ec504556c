"""The reply times and ratings of tickets, as lines under other statistics."""

from datetime import timedelta

from bot.infra.i18n import Html, Translator
from bot.support.ticket_statistics import TicketStatistics

SHORT = timedelta(minutes=2)


def format_ticket_times(t: Translator, statistics: TicketStatistics) -> Html:
    """Return the lines with a value; empty if no ticket was opened."""
    if not statistics.opened:
        return Html("")
    found = [t("support.ticket_times.opened", opened=statistics.opened, closed=statistics.closed)]
    if statistics.first_reply is not None:
        median = format_length(t, statistics.first_reply)
        found.append(t("support.ticket_times.first_answer", median=median, count=statistics.replied))
    if statistics.close is not None:
        found.append(
            t("support.ticket_times.close", median=format_length(t, statistics.close), count=statistics.closed)
        )
    if statistics.good or statistics.bad:
        found.append(t("support.ticket_times.rated", good=statistics.good, bad=statistics.bad))
    return Html("\n".join(found))


def format_length(t: Translator, time: timedelta) -> str:
    """Return a duration; below two minutes, in seconds."""
    return t.plural("infra.time.seconds", round(time.total_seconds())) if time < SHORT else t.duration(time)
