"""getUpdates, setWebhook, deleteWebhook, getWebhookInfo."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot.sandbox.bot_api.server.errors import BadRequest
from bot.sandbox.bot_api.updates import WEBHOOK_ACTIVE

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.server.params import Params

MAX_WAIT_SECONDS = 50
MAX_SECRET = 256
WEBHOOK_PORTS = frozenset({80, 88, 443, 8443})
_SECRET = re.compile(r"[A-Za-z0-9_-]*")
_URL = re.compile(r"(?:https?://)?[^\s/:?#]+(?::\d{1,5})?(?:[/?#]\S*)?", re.IGNORECASE)


class RawJson(str):
    """An answer that is already JSON text."""

    __slots__ = ()


async def get_updates(box: Sandbox, params: Params) -> RawJson:
    """Return updates from `offset` on. Wait up to `timeout` seconds for the first."""
    if box.world.state.webhook is not None:
        await box.updates.conflict(WEBHOOK_ACTIVE)
    _choose_updates(box, params)
    box.updates.polled.set()
    found = await box.updates.poll(
        params.integer("offset"),
        params.integer("limit", 100, 1, 100),
        params.integer("timeout", 0, 0, MAX_WAIT_SECONDS),
    )
    return RawJson(f"[{','.join(found)}]")


async def set_webhook(box: Sandbox, params: Params) -> bool:
    """Set the webhook. Unlike Telegram, the sandbox accepts any port and plain HTTP for this machine."""
    url = params.text("url")
    if not url:
        return await delete_webhook(box, params)
    if not _URL.fullmatch(url):
        raise BadRequest("invalid webhook URL specified")
    url = url if "://" in url else f"https://{url}"
    secret = params.text("secret_token")
    if len(secret) > MAX_SECRET:
        raise BadRequest("secret token is too long")
    if not _SECRET.fullmatch(secret):
        raise BadRequest("secret token contains unallowed characters")
    _check_address(url)
    _choose_updates(box, params)
    webhook: JsonObject = {
        "url": url,
        "secret_token": secret,
        "max_connections": params.integer("max_connections", 40, 1, 100),
        "ip_address": params.text("ip_address"),
        "has_custom_certificate": "certificate" in params.files,
    }
    current = box.world.state.webhook or {}
    if webhook.items() <= current.items() and not params.flag("drop_pending_updates"):
        return True  # nothing changed, so what is being delivered isn't interrupted
    box.world.state.webhook = webhook
    box.updates.end_poll_for_webhook()
    return _webhook_changed(box, params)


async def delete_webhook(box: Sandbox, params: Params) -> bool:
    """Stop posting updates."""
    box.world.state.webhook = None
    return _webhook_changed(box, params)


async def get_webhook_info(box: Sandbox, _: Params) -> JsonObject:
    """Return the webhook's address and its last errors."""
    webhook = box.world.state.webhook
    info: JsonObject = {
        "url": "",
        "has_custom_certificate": False,
        "pending_update_count": len(box.updates),
    }
    if webhook is not None:
        info |= {name: value for name, value in webhook.items() if name != "secret_token" and value}
    if box.world.state.allowed_updates is not None:
        info["allowed_updates"] = box.world.state.allowed_updates
    return info


def _choose_updates(box: Sandbox, params: Params) -> None:
    """Set `allowed_updates`. If missing, keep the last value. [] means all kinds except three."""
    given: Any = params.structure("allowed_updates", "can't parse allowed_updates JSON object")
    if isinstance(given, list):
        chosen = [str(kind) for kind in given]
        box.world.state.allowed_updates = chosen or None
        box.world.save_state()


def _check_address(url: str) -> None:
    """Accept what Telegram accepts, and any address of this machine.

    Raises:
        BadRequest: plain HTTP, or another port.
    """
    parts = urlsplit(url)
    if _is_this_machine(parts.hostname or ""):
        return
    if parts.scheme.lower() != "https":
        raise BadRequest("bad webhook: An HTTPS URL must be provided for webhook")
    if (parts.port or 443) not in WEBHOOK_PORTS:
        raise BadRequest("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _webhook_changed(box: Sandbox, params: Params) -> bool:
    if params.flag("drop_pending_updates"):
        box.updates.clear()
    box.world.save_state()
    box.webhook_changed.set()
    return True


METHODS = {
    "getUpdates": get_updates,
    "setWebhook": set_webhook,
    "deleteWebhook": delete_webhook,
    "getWebhookInfo": get_webhook_info,
}
