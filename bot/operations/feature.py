"""The feature of operations: monitoring, statistics, reconciliation, and what Telegram shows of the bot."""

from datetime import timedelta
from decimal import Decimal
from functools import partial

from telegram import Bot

from bot.infra.feature import Feature, Infra, Worker
from bot.infra.metrics import RefreshGauges
from bot.infra.workers import Wakeup
from bot.operations.command_menus import CommandMenus, collect_menus
from bot.operations.handlers import ShowOrders, StatusHandlers
from bot.operations.live_figures import LiveFigureReader
from bot.operations.monitor import Monitor
from bot.operations.reconciliation import service as reconciliation
from bot.operations.reconciliation.handlers import ReconciliationHandlers
from bot.operations.reconciliation.metrics import refresh_gauges
from bot.operations.reconciliation.service import ReconciliationService
from bot.operations.reconciliation.workers import ReconciliationWorker
from bot.operations.statistics_handlers import StatisticsHandlers
from bot.operations.statistics_service import AUDIT_TERMS, StatisticsService
from bot.operations.workers import MonitorWorker
from bot.orders.destinations.health import DestinationHealthService
from bot.orders.tracking.poller import Poller
from bot.settlement.budget import Budget
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.health import Health
from bot.settlement.model import Settlement
from bot.staff.feature import Staff


class Operations:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        bot: sets the menus of commands.
        settlement: provides the service's own statistics, and its orders.
        budget: limits the requests of reconciliations.
        catalogue: sends a request to the service if there was no other request for a while.
        health: knows whether the service answers.
        health_changed: wakes the monitor when the health changes.
        staff: reports alarms.
        poller: is monitored.
        destinations: says which destinations are slow or failing.
        show_orders: returns the screen that `/status` shows everyone except operators.
        operator_ids: the operators.
        backlog_after: the time after which waiting notifications raise an alarm.
        shrink_percent: how much of the list of payout methods may disappear without an alarm.
        poller_silence: how much later than announced the poller may be.
    """

    def __init__(
        self,
        infra: Infra,
        *,
        bot: Bot,
        settlement: Settlement,
        budget: Budget,
        catalogue: ServiceCatalogue,
        health: Health,
        health_changed: Wakeup,
        staff: Staff,
        poller: Poller,
        destinations: DestinationHealthService,
        show_orders: ShowOrders,
        operator_ids: frozenset[int],
        backlog_after: timedelta,
        shrink_percent: Decimal,
        poller_silence: timedelta,
    ) -> None:
        database, clock, messenger = infra.database, infra.clock, infra.messenger
        monitor = Monitor(
            database=database,
            clock=clock,
            health=health,
            alarms=staff.alarms,
            catalogue=catalogue,
            destinations=destinations,
            backlog_after=backlog_after,
            shrink_percent=shrink_percent,
        )
        figures = LiveFigureReader(lambda: self.all_gauges)
        status = StatusHandlers(
            database=database, messenger=messenger, monitor=monitor, figures=figures, show_orders=show_orders
        )
        service = StatisticsService(database, settlement, clock)
        statistics = StatisticsHandlers(statistics=service, messenger=messenger)
        self.reconciliation = ReconciliationService(
            database=database,
            settlement=settlement,
            clock=clock,
            budget=budget,
            operator_ids=operator_ids,
            on_notification=infra.wake_outbox,
        )
        reconcile = ReconciliationHandlers(reconciliation=self.reconciliation, messenger=messenger)
        self._reconciling = ReconciliationWorker(self.reconciliation, clock)
        self.all_features = list[Feature]()
        """All features of the bot, whose commands are in the menus. `bot/app.py` sets them."""

        self.all_gauges = list[RefreshGauges]()
        """What refreshes the gauges that `/status` shows. `bot/app.py` sets it."""

        menus = CommandMenus(
            bot,
            database=database,
            translations=infra.translations,
            operator_ids=operator_ids,
            staff_chat=staff.chat,
            list_menus=lambda: collect_menus(self.all_features),
        )
        worker = self._watcher = MonitorWorker(monitor, poller, clock, poller_silence)
        self.feature = Feature(
            name="operations",
            routes=(*status.routes(), statistics.routes(), reconcile.routes()),
            answers=statistics.answers(),
            workers=(
                Worker("watch", worker.check, health_changed),
                Worker("probe", worker.probe),
                Worker("reconciliation", self._reconciling.tick),
                Worker("commands", menus.set_menus),
                Worker("descriptions", menus.set_descriptions),
            ),
            local_workers=(Worker("figures", figures.record), Worker("unreadable-rows", worker.report_rows)),
            on_lead=self.begin_to_lead,
            gauges=(partial(refresh_gauges, database),),
            audit_terms=AUDIT_TERMS | reconciliation.AUDIT_TERMS,
        )

    async def begin_to_lead(self) -> None:
        """Forget what this process knew when it led before."""
        await self._watcher.begin_to_lead()
        await self._reconciling.begin_to_lead()
