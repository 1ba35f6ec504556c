"""Helpers for stories of orders that are paid and make no progress."""

import re

from tests.e2e.bot_database import row_of, wait_for_row
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.system import System
from tests.texts import like

STUCK = like("orders.notification.overdue")

SETTINGS = {"STUCK_SECONDS": "2", "SUPPORT_CONTACT": "@kirim_help"}


async def paid(kirim: System, user: ChatUser) -> tuple[Json, str]:
    """Return an order that is paid and then makes no progress at the service."""
    _, order = await tap_to_invoice(kirim, user)
    await kirim.service.pays(order)
    await wait_for_row(kirim, order, is_paid=1)
    return order, str(row_of(kirim, order)["reference"])


def staff_note(what: str, reference: str) -> str:
    return like(f"staff.alarm.order_{what}", line=re.compile(f".*{reference}"))
