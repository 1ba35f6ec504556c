"""What Lightning is, for users in the middle of their first order."""

from bot.checkout.buttons import LightningButton
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session

routes = Routes[Session]()


@routes.button(LightningButton)
async def lightning_button(session: Session, _: LightningButton) -> None:
    """Explain it in a new message. The review stays as it is, with its buttons."""
    await session.acknowledge()
    await session.post(Screen(session.t("help.lightning")))
