"""Choose the language of a page: from its address, from the browser's preferences, or English."""

from starlette.requests import Request

from bot.core.locales import FALLBACK, find_locale

PARAMETER = "l"
MAX_READ = 10


def language_of(request: Request) -> str:
    """Return the locale of an answer."""
    preferred = [request.query_params.get(PARAMETER), *_preferred(request.headers.get("accept-language", ""))]
    return next(filter(None, map(find_locale, preferred)), FALLBACK)


def _preferred(header: str) -> list[str]:
    """Return the languages of an Accept-Language header, the most preferred first."""
    weighed = []
    for part in header.split(",")[:MAX_READ]:
        tag, _, weight = part.partition(";")
        weighed.append((_weight(weight), tag.strip()))
    return [tag for weight, tag in sorted(weighed, key=lambda each: -each[0]) if tag and weight > 0]


def _weight(text: str) -> float:
    try:
        return float(text.strip().removeprefix("q=")) if text.strip() else 1.0
    except ValueError:
        return 0.0
