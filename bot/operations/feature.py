"""The feature of operations: monitoring, statistics and reconciliation."""

from functools import partial
from typing import Final

from telegram import Bot

from bot.infra.feature import Feature, Infra, Worker
from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.operations.gauges import Gauges, LiveFigureReader
from bot.operations.handlers import StatisticsHandlers, StatusHandlers
from bot.operations.heartbeat import Heartbeat
from bot.operations.monitor import Monitor, OperationRules
from bot.operations.reconciliation import service as reconciliation
from bot.operations.reconciliation.handlers import ReconciliationHandlers
from bot.operations.reconciliation.service import ReconciliationService, ReconciliationWorker
from bot.operations.service import STATISTICS_TERMS, StatisticsService
from bot.orders.feature import Orders
from bot.settlement.access import SettlementAccess
from bot.staff.feature import Staff
from bot.support.service import tell_ticket

AUDIT_TERMS: Final = STATISTICS_TERMS | reconciliation.AUDIT_TERMS
"""What operations write to the audit log."""


class Operations:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        access: the service whose answers are monitored, and whose orders are reconciled.
        bot: checks for the heartbeat that Telegram answers.
        limiter: whose limits are shown.
        staff: reports alarms.
        orders: what is monitored and counted. Operators see their own, too.
        rules: the settings.
    """

    def __init__(
        self,
        infra: Infra,
        access: SettlementAccess,
        *,
        bot: Bot,
        limiter: SendLimiter,
        staff: Staff,
        orders: Orders,
        rules: OperationRules,
    ) -> None:
        database, clock = infra.database, infra.clock
        monitor = self.monitor = Monitor(
            infra,
            access,
            alarms=staff.alarms,
            on_handled=partial(tell_ticket, staff.chat),
            destinations=orders.destinations,
            poller=orders.poller,
            rules=rules,
        )
        figures = LiveFigureReader(infra, limiter, access.budget)
        self.gauges = Gauges(infra, limiter, orders.destinations, rules.overdue_after)
        self.status = StatusHandlers(
            infra,
            monitor=monitor,
            alarms=staff.alarms,
            figures=figures,
            orders=orders.handlers,
            service_contact=staff.service_contact,
        )
        service = StatisticsService(database, access.settlement, clock)
        statistics = StatisticsHandlers(service)
        self.reconciliation = ReconciliationService(infra, access, orders.tracker, rules.operator_ids)
        reconcile = ReconciliationHandlers(self.reconciliation)
        self._reconciling = ReconciliationWorker(self.reconciliation, clock)
        heartbeat = Heartbeat(database, bot, rules.heartbeat_url)
        self.feature = Feature(
            name="operations",
            routes=(self.status.routes(), statistics.routes(), reconcile.routes()),
            answers=statistics.answers(),
            workers=(
                Worker("watch", monitor.check, access.health_changed),
                Worker("probe", monitor.probe),
                Worker("reconciliation", self._reconciling.tick),
                *([Worker("heartbeat", heartbeat.tick)] if rules.heartbeat_url else []),
            ),
            on_lead=self.begin_to_lead,
        )

    async def begin_to_lead(self) -> None:
        """Forget what this process knew when it led before."""
        await self.monitor.begin_to_lead()
        await self._reconciling.begin_to_lead()
