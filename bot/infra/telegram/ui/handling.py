"""What every module of handlers calls its handlers, their context, and a message in private."""

from telegram import Update
from telegram.ext import BaseHandler, ContextTypes, filters

Context = ContextTypes.DEFAULT_TYPE
Handler = BaseHandler[Update, Context, object]
PRIVATE = filters.ChatType.PRIVATE & filters.UpdateType.MESSAGE
