"""Answer what newcomers ask, in the welcome."""

from bot.core.clock import Clock
from bot.infra.i18n import Translator
from bot.support.user_chat.facts import FactReader
from bot.support.user_chat.screens.welcome import answer_newcomer
from bot.users.provider import Provider
from bot.users.screens.start import WelcomeFacts


class FirstContact:
    """Read the facts of the welcome."""

    def __init__(self, *, facts: FactReader, provider: Provider, clock: Clock) -> None:
        self._facts = facts
        self._provider = provider
        self._clock = clock

    async def read(self, t: Translator) -> WelcomeFacts:
        """Return the facts. If the service doesn't answer or its rate is old, they have no price."""
        quote = await self._facts.read_quote()
        if quote is not None and quote.is_stale(self._clock.now()):
            quote = None
        return answer_newcomer(t, await self._facts.read(), quote, self._provider)
