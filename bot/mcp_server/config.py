"""Settings of the agent tool server (agent tool server, 4.3.1), read once and frozen.

They come from the environment alone, never from a file `.env`: a client starts the server in any folder, and a file
there may belong to another program.
"""

import re
from typing import Annotated, Literal

from pydantic import Field, SecretStr, TypeAdapter, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from bot.config import NETWORK, ConfigError, api_key, explain, http_address

STANDARD_SERVICE = "http://127.0.0.1:8481"
"""Where the service is unless SERVICE_BASE_URL says otherwise. The documents withhold its standard address, so this is
the sandbox's."""

DEFAULT_NAME = "kirim"
DEFAULT_PORT = 3333
DEFAULT_LIMIT = 60
BEARER = re.compile(r"[A-Za-z0-9_-]+={0,2}")
HOST = re.compile(r"[A-Za-z0-9._-]+(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?")

_PORT = TypeAdapter(Annotated[int, Field(ge=1, le=65_535)])
_LIMIT = TypeAdapter(Annotated[int, Field(ge=1, le=10**6)])


class AgentSettings(BaseSettings):
    """The public contract of the agent tool server's environment (see docs/settings.md).

    What only the http transport needs is not even looked at on stdio: `PORT` and the like in the environment of
    whoever starts the server are no business of ours there.
    """

    model_config = SettingsConfigDict(
        env_ignore_empty=True,  # `NAME=` in a client's configuration means "not set"
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    # Before all others: those of http look whether it is wanted.
    service_mcp_transport: Literal["stdio", "http"] = "stdio"
    service_api_key: SecretStr
    service_base_url: str = STANDARD_SERVICE
    service_mcp_http_token: SecretStr | None = Field(None, validate_default=True)
    service_mcp_host: str = "127.0.0.1"
    port: int | None = None
    service_mcp_port: int = DEFAULT_PORT
    service_mcp_allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    service_mcp_rate_limit_per_minute: int = DEFAULT_LIMIT
    service_mcp_name: str = Field(DEFAULT_NAME, min_length=1, max_length=100)
    service_mcp_log_level: Literal["debug", "info", "warn", "error"] = "info"
    service_mcp_requests_per_second: float = Field(10.0, gt=0, le=1000)
    min_order_idr: int = Field(20_000, ge=1, le=10**12)
    invoice_network: str = Field("bc", pattern=r"^[a-z]{2,10}$", description=NETWORK)

    @field_validator("service_mcp_transport", "service_mcp_log_level", mode="before")
    @classmethod
    def _in_any_case(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value

    @field_validator("service_api_key")
    @classmethod
    def _key_has_two_parts(cls, key: SecretStr) -> SecretStr:
        return api_key(key)

    @field_validator("service_base_url")
    @classmethod
    def _address_is_http(cls, address: str) -> str:
        return http_address(address)

    @field_validator("service_mcp_http_token")
    @classmethod
    def _http_is_never_open(cls, token: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if not _is_http(info):
            return None
        if token is None:
            raise ValueError("required for the http transport, but not set")
        if not BEARER.fullmatch(token.get_secret_value()):
            raise ValueError("must be base64url text: letters, digits, - and _, without spaces")
        return token

    @field_validator("port", "service_mcp_port", mode="before")
    @classmethod
    def _port_can_be_had(cls, value: object, info: ValidationInfo) -> int | None:
        if not _is_http(info):
            return DEFAULT_PORT if info.field_name == "service_mcp_port" else None
        try:
            return None if value is None else _PORT.validate_python(value)
        except ValidationError:
            raise ValueError("must be a port number from 1 to 65535") from None

    @field_validator("service_mcp_allowed_hosts", mode="before")
    @classmethod
    def _hosts_are_hosts(cls, value: object, info: ValidationInfo) -> object:
        if not _is_http(info) or not isinstance(value, str):
            return value if _is_http(info) else ()
        hosts = tuple(part.strip().lower() for part in value.split(",") if part.strip())
        # A list that names nobody is a mistake, and must not let everybody in.
        if not hosts or not all(HOST.fullmatch(host) for host in hosts):
            raise ValueError("must be host names separated by commas, such as tools.example.com or localhost:3333")
        return hosts

    @field_validator("service_mcp_rate_limit_per_minute", mode="before")
    @classmethod
    def _limit_is_one(cls, value: object, info: ValidationInfo) -> object:
        if not _is_http(info):
            return DEFAULT_LIMIT
        try:
            return _LIMIT.validate_python(value)
        except ValidationError:
            raise ValueError("must be a whole number from 1 to 1000000") from None

    @property
    def http_port(self) -> int:
        """Where to listen: what the platform says (`PORT`) goes before what we are told ourselves."""
        return self.service_mcp_port if self.port is None else self.port

    @property
    def bearer(self) -> str:
        """What every caller over http must have; empty on stdio."""
        token = self.service_mcp_http_token
        return token.get_secret_value() if token else ""

    @property
    def key_id(self) -> str:
        """The part of the API key that may be logged (settlement API, 5.3)."""
        return self.service_api_key.get_secret_value().partition(".")[0]

    @property
    def is_service_assumed(self) -> bool:
        """Whether nobody said where the service is."""
        return "service_base_url" not in self.model_fields_set


def _is_http(info: ValidationInfo) -> bool:
    return info.data.get("service_mcp_transport") == "http"


def load() -> AgentSettings:
    """The settings of this process; raises `ConfigError` that names everything missing or bad."""
    try:
        return AgentSettings()
    except ValidationError as error:
        raise ConfigError(explain(error, AgentSettings, "environment")) from None
