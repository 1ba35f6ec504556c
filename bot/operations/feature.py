"""The feature of operations: monitoring, statistics, reconciliation, and what Telegram shows of the bot."""

from telegram import Bot

from bot.infra.feature import Feature, Infra, Worker
from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.operations.command_menus import CommandMenus
from bot.operations.gauges import Gauges, LiveFigureReader
from bot.operations.handlers import StatusHandlers
from bot.operations.heartbeat import Heartbeat
from bot.operations.monitor import Monitor
from bot.operations.reconciliation import service as reconciliation
from bot.operations.reconciliation.handlers import ReconciliationHandlers
from bot.operations.reconciliation.service import ReconciliationService
from bot.operations.reconciliation.workers import ReconciliationWorker
from bot.operations.rules import OperationRules
from bot.operations.statistics_handlers import StatisticsHandlers
from bot.operations.statistics_service import AUDIT_TERMS, StatisticsService
from bot.operations.workers import MonitorWorker
from bot.orders.feature import Orders
from bot.settlement.access import SettlementAccess
from bot.staff.feature import Staff


class Operations:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        access: the service whose answers are monitored, and whose orders are reconciled.
        bot: sets the menus of commands.
        limiter: whose limits are shown.
        staff: reports alarms.
        orders: what is monitored and counted. Users see theirs in `/status`.
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
        monitor = self.monitor = Monitor(infra, access, staff.alarms, orders.destinations, rules)
        figures = LiveFigureReader(infra, limiter, access.budget)
        self.gauges = Gauges(infra, limiter, orders.destinations, rules.overdue_after)
        status = StatusHandlers(
            infra, monitor=monitor, figures=figures, orders=orders.handlers, service_contact=staff.service_contact
        )
        service = StatisticsService(database, access.settlement, clock)
        statistics = StatisticsHandlers(service)
        self.reconciliation = ReconciliationService(infra, access, orders.observer, rules.operator_ids)
        reconcile = ReconciliationHandlers(self.reconciliation)
        self._reconciling = ReconciliationWorker(self.reconciliation, clock)
        menus = CommandMenus(
            bot,
            infra,
            operator_ids=rules.operator_ids,
            staff_chat=staff.chat,
        )
        heartbeat = Heartbeat(database, bot, rules.heartbeat_url)
        worker = self._watcher = MonitorWorker(monitor, orders.poller, clock, rules.poller_silence)
        self.feature = Feature(
            name="operations",
            routes=(*status.routes(), statistics.routes(), reconcile.routes()),
            answers=statistics.answers(),
            read_staff_start=status.read_start,
            read_staff_help=status.read_help,
            workers=(
                Worker("watch", worker.check, access.health_changed),
                Worker("probe", worker.probe),
                Worker("reconciliation", self._reconciling.tick),
                Worker("commands", menus.set_menus),
                Worker("descriptions", menus.set_descriptions),
                *([Worker("heartbeat", heartbeat.tick)] if rules.heartbeat_url else []),
            ),
            local_workers=(Worker("unreadable-rows", worker.report_rows),),
            on_lead=self.begin_to_lead,
            audit_terms=AUDIT_TERMS | reconciliation.AUDIT_TERMS,
        )

    async def begin_to_lead(self) -> None:
        """Forget what this process knew when it led before."""
        await self._watcher.begin_to_lead()
        await self._reconciling.begin_to_lead()
