"""The metrics of calls to Telegram. Those of updates are in `inbound/metrics.py`."""

from typing import Final

from bot.infra.metrics import counter, gauge, histogram

METHODS: Final = (
    "answerCallbackQuery",
    "closeForumTopic",
    "createForumTopic",
    "deleteForumTopic",
    "deleteMessage",
    "deleteWebhook",
    "editForumTopic",
    "editMessageCaption",
    "editMessageMedia",
    "editMessageReplyMarkup",
    "editMessageText",
    "getChat",
    "getMe",
    "getUpdates",
    "getWebhookInfo",
    "reopenForumTopic",
    "sendDocument",
    "sendMessage",
    "sendPhoto",
    "setMessageReaction",
    "setMyCommands",
    "setMyDescription",
    "setMyShortDescription",
    "setWebhook",
    "other",
)
"""The methods of the Bot API that the bot calls. A method that isn't listed counts as `other`."""

CALLS: Final = counter(
    "kirim_telegram_calls",
    "Calls of the Bot API. `unsent` never left this machine, and `unanswered` may have been executed.",
    method=METHODS,
    result=("ok", "rejected", "too_many_requests", "server_error", "unanswered", "unsent"),
)
CALL_SECONDS: Final = histogram(
    "kirim_telegram_seconds",
    "How long Telegram took to answer. Long polls for updates aren't counted.",
    (0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 1, 2, 5, 15),
    kind=("message", "edit", "other"),
)
SEND_WAIT_SECONDS: Final = histogram(
    "kirim_send_wait_seconds",
    "How long a message or an edit waited for its turn within Telegram's limits.",
    (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300),
    priority=("money", "talk", "bulk"),
)
SEND_LIMIT: Final = gauge(
    "kirim_send_limit_per_second", "How many messages a second the bot sends at most now. It adapts to Telegram's 429s."
)
BULK_SEND_LIMIT: Final = gauge(
    "kirim_bulk_send_limit_per_second", "How many messages in bulk a second the bot sends at most now."
)
