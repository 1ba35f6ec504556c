"""Entry point of the MCP server: `kirim-mcp`, or `kirim mcp`."""

import asyncio
import logging
import re
import signal
import sys
from argparse import ArgumentParser
from datetime import timedelta

import structlog

from bot import __version__
from bot.config import ConfigError, find_unknown_names, secret_values
from bot.infra import logging as logs
from bot.infra.http.ports import PortTaken
from bot.infra.redaction import know_secrets
from bot.mcp_server import config
from bot.mcp_server.config import MAKE_ONE, AgentSettings
from bot.mcp_server.server import DESCRIPTION, create_server
from bot.mcp_server.service import AgentRules, Service
from bot.settlement.client import SettlementClient

BAD_SETTINGS = 2
GUESSABLE = (
    f"SERVICE_MCP_HTTP_TOKEN can be guessed. A proxy in front of this server lets anyone try. Make one with: {MAKE_ONE}"
)
ASSUMED = "SERVICE_BASE_URL isn't set; using the sandbox (needs INVOICE_NETWORK=bcrt)"

LIBRARIES = ("mcp", "mcp_types", "pydantic", "anyio", "starlette", "uvicorn", "sse_starlette", "opentelemetry")
CLIENT = "bot.settlement"
ORDER_ID = re.compile(r"(?<=/offramp/orders/).+", re.DOTALL)

log = structlog.get_logger(__name__)


def main() -> None:
    """Run the installed command."""
    names = " ".join(AgentSettings.model_fields).upper()
    about = f"{DESCRIPTION} It has no options. Its settings are environment variables: {names}. See docs/agents.md."
    parser = ArgumentParser("kirim-mcp", description=about)
    parser.add_argument("--version", action="version", version=__version__)
    parser.parse_args([] if sys.argv[1:] == ["mcp"] else None)  # `kirim mcp`
    try:
        settings = config.load()
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(BAD_SETTINGS)
    know_secrets(secret_values(settings))
    configure_logs(settings.service_mcp_log_level, "console" if sys.stderr.isatty() else "json")
    try:
        sys.exit(asyncio.run(run(settings)))
    except PortTaken as error:
        sys.stderr.write(f"Kirim can't open its port (SERVICE_MCP_HOST, SERVICE_MCP_PORT, PORT): {error}\n")
        sys.exit(BAD_SETTINGS)


async def run(settings: AgentSettings) -> int:
    """Serve until the client is gone (stdio) or a signal arrives (http). Return the exit code."""
    if unknown := find_unknown_names(AgentSettings, env_file=None):
        log.warning("settings_unknown", names=unknown)
    if settings.is_service_assumed:
        log.warning("service_url_defaulted", service=settings.service_base_url, hint=ASSUMED)
    if settings.is_token_weak:
        log.warning("bearer_token_weak", hint=GUESSABLE)
    async with SettlementClient(settings.service_base_url, settings.service_api_key.get_secret_value()) as client:
        rules = AgentRules(
            min_order_idr=settings.min_order_idr,
            network=settings.invoice_network,
            pay_within=timedelta(seconds=settings.pay_within_seconds),
            requests_per_second=settings.service_mcp_requests_per_second,
        )
        server = create_server(Service(client, rules), name=settings.service_mcp_name, version=__version__)
        if settings.service_mcp_transport == "http":
            from bot.mcp_server import http  # noqa: PLC0415  a client over stdio doesn't wait for a web server

            return await http.serve(server, settings, _stopping())
        from bot.mcp_server import stdio  # noqa: PLC0415  as above

        # A signal ends the process at once: reading stdin can't be interrupted, and there is nothing to save.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return await stdio.serve(server)


def _stopping() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


class FixedTextOnly(logging.Filter):
    """Reduce records of libraries to their fixed text and the kind of error. Remove order ids from our own.

    The SDK logs errors with their texts, crashes with tracebacks, and at debug level whole messages. All of these can
    hold a recipient.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Remove everything variable. Return True."""
        if record.name.partition(".")[0] in LIBRARIES:
            kind = record.exc_info[0] if record.exc_info else None
            record.msg = f"{record.msg} [{kind.__name__}]" if kind else record.msg
            # Without arguments a record isn't formatted, and its placeholders stay.
            record.args, record.exc_info, record.exc_text, record.stack_info = (), None, None, None
        elif record.name.startswith(CLIENT) and isinstance(record.msg, dict):
            # An "order id" from an agent can be an account number or a name.
            event = {name: value for name, value in record.msg.items() if name != "order_id"}
            record.msg = event | ({"path": ORDER_ID.sub("…", event["path"])} if "path" in event else {})
        return True


def configure_logs(level: str, form: str) -> None:
    """Configure logging for this process. `level` as in SERVICE_MCP_LOG_LEVEL, `form` is `json` or `console`."""
    logs.configure("warning", form)
    logging.getLogger("bot").setLevel(level.upper())
    if level == "error":
        logging.getLogger().setLevel(logging.ERROR)
    for handler in logging.getLogger().handlers:
        handler.addFilter(FixedTextOnly())


if __name__ == "__main__":
    main()
