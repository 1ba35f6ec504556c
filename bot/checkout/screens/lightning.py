"""What Lightning is, beside the first review and in `/help`."""

from bot.infra.i18n import Html, Translator
from bot.payments.tokens import LIGHTNING_WALLETS


def explain_lightning(t: Translator) -> Html:
    """Return what Lightning is, and wallets by name."""
    return t("checkout.help.lightning", wallets=", ".join(LIGHTNING_WALLETS))
