"""All tables. Importing this module fills the metadata, for the migrations and for whatever goes through all tables."""

# ruff: noqa: F401  each import adds its feature's tables to the metadata

from bot.broadcasts import tables as broadcasts
from bot.checkout import tables as checkout
from bot.infra.db import key_tables as keys
from bot.infra.db.metadata import IS_COMPLETE, metadata
from bot.infra.outbox import tables as outbox
from bot.infra.telegram.inbound import tables as inbox
from bot.orders import tables as orders
from bot.rates import tables as rates
from bot.recipients import tables as recipients
from bot.staff import alarm_tables as alarms
from bot.staff import tables as staff
from bot.support.reveal import tables as reveals
from bot.support.saved_replies import tables as saved_replies
from bot.support.tickets import tables as tickets
from bot.users import tables as users

__all__ = ["metadata"]

metadata.info[IS_COMPLETE] = True
