"""The settlement service as features use it: built once, and passed whole."""

from dataclasses import dataclass

from bot.infra.workers import Wakeup
from bot.settlement.budget import Budget
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.client import SettlementClient
from bot.settlement.health import Health


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementAccess:
    """The parts by which features ask the settlement service."""

    settlement: SettlementClient
    """Its calls."""

    catalogue: ServiceCatalogue
    """Its quote and its lists, which all readers share for seconds."""

    budget: Budget
    """How often the leader's workers can ask it."""

    health: Health
    """Whether it answers. It knows the calls of this process."""

    health_changed: Wakeup
    """Is called when the health changes."""
