"""Settings, read once and frozen; nobody else reads the environment.

A missing or bad setting is reported together with all the others, by name, and never with its value where that is
a secret.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

TELEGRAM = "https://api.telegram.org"
DEFAULT_DATABASE = "sqlite:///data/kirim.db"


class ConfigError(Exception):
    """The environment can't be used; the message names every setting that is missing or bad."""


class Settings(BaseSettings):
    """The public contract of the environment (see the README's table)."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True, hide_input_in_errors=True
    )

    telegram_bot_token: SecretStr
    telegram_api_url: str = TELEGRAM
    service_api_key: SecretStr
    service_base_url: str
    database_url: str = DEFAULT_DATABASE
    poll_interval_seconds: float = Field(5, ge=1)
    service_max_requests_per_second: float = Field(10, gt=0, le=1000)
    min_order_idr: int = Field(20_000, ge=1)
    reconcile_seconds: float = Field(60, ge=1)
    price_drift_percent: float = Field(1, ge=0)
    invoice_network: str = Field("bc", pattern=r"^[a-z]{2,10}$")
    operator_ids: Annotated[frozenset[int], NoDecode] = frozenset()
    support_ids: Annotated[frozenset[int], NoDecode] = frozenset()
    default_locale: Literal["en", "id"] = "id"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = Field(default_factory=lambda: "console" if sys.stderr.isatty() else "json")

    @field_validator("telegram_bot_token")
    @classmethod
    def _token_has_two_parts(cls, token: SecretStr) -> SecretStr:
        number, colon, secret = token.get_secret_value().partition(":")
        if not (number.isdigit() and colon and secret and secret.isascii() and not set(secret) & set("/?# \t\n")):
            raise ValueError("does not look like a bot token (<number>:<secret>)")
        return token

    @field_validator("service_api_key")
    @classmethod
    def _key_has_two_parts(cls, key: SecretStr) -> SecretStr:
        value = key.get_secret_value()
        head, dot, secret = value.partition(".")
        if not (head.startswith("pk_live_") and dot and secret and value.isascii() and value.isprintable()):
            raise ValueError("does not look like an API key (pk_live_<id>.<secret>)")
        return key

    @field_validator("telegram_api_url", "service_base_url")
    @classmethod
    def _address_is_http(cls, address: str) -> str:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("must be an http(s) address without query")
        return address.rstrip("/")

    @field_validator("database_url")
    @classmethod
    def _database_is_known(cls, address: str) -> str:
        if not address.startswith(("sqlite:///", "postgresql://", "postgres://")):
            raise ValueError("must begin with sqlite:/// or postgresql://")
        return address

    @field_validator("operator_ids", "support_ids", mode="before")
    @classmethod
    def _ids_are_numbers(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        parts = [part.strip() for part in value.split(",") if part.strip()]
        if not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError("must be Telegram user ids separated by commas")
        return frozenset(map(int, parts))

    @field_validator("log_level", mode="before")
    @classmethod
    def _level_in_any_case(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @property
    def key_id(self) -> str:
        """The part of the API key that may be logged (settlement API, 5.3)."""
        return self.service_api_key.get_secret_value().partition(".")[0]


def load(env_file: Path | None = Path(".env"), **overrides: object) -> Settings:
    """The settings of this process; raises `ConfigError` that names everything missing or bad."""
    try:
        return Settings(_env_file=env_file, **overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        raise ConfigError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    lines = [f"  {str(item['loc'][0]).upper()}: {_reason(item)}" for item in error.errors(include_input=False)]
    return "\n".join(["Kirim can't start with these settings:", *lines])


def _reason(item: Mapping[str, Any]) -> str:
    if item["type"] == "missing":
        return "is required and not set"
    return str(item["msg"]).removeprefix("Value error, ")
