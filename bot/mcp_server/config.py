"""Settings of the MCP server (agent tool server, 4.3.1), read once and immutable.

They come from the environment and from files with secrets, never from a `.env` file. A client starts the server in any
folder, and a `.env` file there can belong to another program.
"""

import re
from ipaddress import ip_address
from itertools import pairwise
from typing import Annotated, Final, Literal

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from bot.config import DAY, NETWORK, ConfigError, Number, Whole, api_key, explain, http_address, list_secret_folders

STANDARD_SERVICE = "http://127.0.0.1:8481"
"""The default of SERVICE_BASE_URL. The documents don't give the service's address, so this is the sandbox's."""

DEFAULT_NAME = "kirim"
DEFAULT_PORT = 3333
DEFAULT_LIMIT = 60
PORT = "a port number from 1 to 65535"
BEARER = re.compile(r"[A-Za-z0-9_-]+={0,2}")
HOST = re.compile(r"[A-Za-z0-9._-]+(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?")

OF_HTTP = re.compile("port|service_mcp_(?:port|http_token|allowed_hosts|rate_limit_per_minute)")
Port = Annotated[Whole, Field(ge=1, le=65_535)]


class AgentSettings(BaseSettings):
    """The environment variables of the MCP server (see docs/settings.md).

    On stdio, settings of the http transport are ignored. `PORT` and the like can be meant for the program that starts
    the server.
    """

    model_config = SettingsConfigDict(
        env_ignore_empty=True,  # an empty value in a client's configuration means "not set"
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    # First, because the validators of the http settings read them.
    service_mcp_transport: Literal["stdio", "http"] = "stdio"
    service_mcp_host: str = "127.0.0.1"
    service_api_key: SecretStr
    service_base_url: str = STANDARD_SERVICE
    service_mcp_http_token: SecretStr | None = Field(None, validate_default=True)
    port: Port | None = Field(None, description=PORT)
    service_mcp_port: Port = Field(DEFAULT_PORT, description=PORT)
    service_mcp_allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    service_mcp_rate_limit_per_minute: Whole = Field(DEFAULT_LIMIT, ge=1, le=10**6)
    service_mcp_name: str = Field(DEFAULT_NAME, min_length=1, max_length=100)
    service_mcp_log_level: Literal["debug", "info", "warn", "error"] = "info"
    service_mcp_requests_per_second: Number = Field(10.0, gt=0, le=1000)
    min_order_idr: Whole = Field(20_000, ge=1, le=10**12)
    pay_within_seconds: Number = Field(3600, ge=60, le=30 * DAY)
    invoice_network: str = Field("bc", pattern=r"^[a-z]{2,10}$", description=NETWORK)

    @model_validator(mode="before")
    @classmethod
    def _ignore_http_on_stdio(cls, values: dict[str, object]) -> dict[str, object]:
        if str(values.get("service_mcp_transport")).strip().lower() == "http":
            return values
        return {name: value for name, value in values.items() if not OF_HTTP.fullmatch(name)}

    @field_validator("service_mcp_transport", "service_mcp_log_level", mode="before")
    @classmethod
    def _lower_case(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value

    @field_validator("service_api_key")
    @classmethod
    def _check_key(cls, key: SecretStr) -> SecretStr:
        return api_key(key)

    @field_validator("service_base_url")
    @classmethod
    def _check_address(cls, address: str) -> str:
        return http_address(address)

    @field_validator("service_mcp_http_token")
    @classmethod
    def _check_token(cls, token: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if not _is_http(info):
            return None
        if token is None:
            raise ValueError("required for the http transport, but not set")
        if not BEARER.fullmatch(token.get_secret_value()):
            raise ValueError("must be base64url text: letters, digits, - and _, without spaces")
        if is_weak(token.get_secret_value()) and not _is_loopback(info.data["service_mcp_host"]):
            raise ValueError(f"can be guessed, and SERVICE_MCP_HOST lets other machines try. Make one with: {MAKE_ONE}")
        return token

    @field_validator("service_mcp_allowed_hosts", mode="before")
    @classmethod
    def _check_hosts(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        hosts = tuple(part.strip().lower() for part in value.split(",") if part.strip())
        # An empty list is a mistake. It must not allow every host.
        if not hosts or not all(HOST.fullmatch(host) for host in hosts):
            raise ValueError("must be host names separated by commas, such as tools.example.com or localhost:3333")
        return hosts

    @property
    def http_port(self) -> int:
        """Return the port to listen on. The platform's `PORT` overrides our own setting."""
        return self.service_mcp_port if self.port is None else self.port

    @property
    def bearer(self) -> str:
        """Return the token that every http caller needs, empty on stdio."""
        token = self.service_mcp_http_token
        return token.get_secret_value() if token else ""

    @property
    def is_token_weak(self) -> bool:
        """Return whether http callers need a token that can be guessed. The server then listens on this machine."""
        return bool(self.bearer) and is_weak(self.bearer)

    @property
    def key_id(self) -> str:
        """Return the part of the API key that is safe to log (settlement API, 5.3)."""
        return self.service_api_key.get_secret_value().partition(".")[0]

    @property
    def is_service_assumed(self) -> bool:
        """Return whether the service's address is the default."""
        return "service_base_url" not in self.model_fields_set


def _is_loopback(host: str) -> bool:
    """Return whether only this machine can reach `host`."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _is_http(info: ValidationInfo) -> bool:
    return info.data.get("service_mcp_transport") == "http"


def load() -> AgentSettings:
    """Read the settings. Raise a `ConfigError` that names every missing or wrong one."""
    try:
        return AgentSettings(_secrets_dir=list_secret_folders())
    except ValidationError as error:
        raise ConfigError(explain(error, AgentSettings, "environment or files with secrets")) from None


MIN_LENGTH: Final = 32
MIN_DIFFERENT: Final = 10
"""How many different characters a token needs. A random one of 32 hexadecimal digits has about 14."""

MAKE_ONE: Final = 'python -c "import secrets; print(secrets.token_urlsafe(32))"'
"""The command that prints a good token."""

COMMON_WORDS: Final = (
    "password",
    "passwort",
    "passw0rd",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "authorization",
    "example",
    "service",
    "default",
    "sandbox",
    "letmein",
    "qwerty",
    "asdfgh",
    "zxcvbn",
    "secret",
    "bearer",
    "kirim",
    "token",
    "admin",
    "agent",
    "server",
)
"""Words that are guessed first. What is left of a token without them must be strong."""


def is_weak(token: str) -> bool:
    """Return whether a bearer token can be guessed.

    Without the common words, a strong token has 32 characters or more, 10 of them different. It doesn't repeat a
    shorter text, and is no run such as `abcdef` or `987654`.
    """
    rest = token.lower()
    for word in COMMON_WORDS:
        rest = rest.replace(word, "")
    return len(rest) < MIN_LENGTH or len(set(rest)) < MIN_DIFFERENT or _is_repetition(rest) or _is_run(rest)


def _is_repetition(text: str) -> bool:
    """Return whether `text` is a shorter text twice or more, the last time perhaps cut off."""
    return any(text[length:] == text[:-length] for length in range(1, len(text) // 2 + 1))


def _is_run(text: str) -> bool:
    """Return whether most characters are beside their predecessor in the alphabet, or equal to it."""
    steps = [abs(ord(one) - ord(next_one)) <= 1 for one, next_one in pairwise(text)]
    return 2 * sum(steps) > len(steps)
