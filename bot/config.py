"""Settings, read once and immutable. No other module reads the environment.

All missing and wrong settings are reported together, by name and without their values.
"""

import base64
import binascii
import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, DotEnvSettingsSource, NoDecode, SettingsConfigDict

from bot.core.locales import LOCALES

TELEGRAM = "https://api.telegram.org"
DEFAULT_DATABASE = "sqlite:///data/kirim.db"
DAY = 86_400
TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]+")
API_KEY = re.compile(r"pk_live_[!-\-/-~]+\.[!-~]+")
"""Visible ASCII, because the key is sent in a header. Only the part before the dot is safe to log."""

WEB_PAGE = re.compile(r"https://(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,63}(?::[0-9]{1,5})?(?:/[!-~]*)?")
"""An https address of a public host, without user or password."""

CONTACTS = (
    re.compile(r"@[A-Za-z][A-Za-z0-9_]{3,31}"),
    re.compile(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,63}"),
    WEB_PAGE,
)
"""An @name, a mail address or a web address. Telegram makes them links, and users can see where they lead."""

PHONE_NUMBER = re.compile(r"\+[0-9](?:[ -]?[0-9]){6,18}")
"""A number with its country, such as `+62 21 1234 5678`."""

# A type checker can't read a Literal that is computed. Pydantic can, and its error lists the choices.
if TYPE_CHECKING:
    LocaleCode = str
else:
    LocaleCode = Literal[tuple(LOCALES)]


def _require_form(form: str, value: object) -> object:
    """Return a setting. Reject the text of a number that isn't in this form, such as one with groups."""
    if isinstance(value, str) and not re.fullmatch(form, value.strip(), re.ASCII):
        raise PydanticCustomError("number_form", "not in this form")
    return value


Whole = Annotated[int, BeforeValidator(partial(_require_form, "[0-9]+|-[1-9][0-9]*"))]
"""A setting of digits alone. pydantic reads `20.000` as 20."""

Number = Annotated[float, BeforeValidator(partial(_require_form, r"(?![1-9]\d?\d?\.\d{3}$)\d*\.?\d+"))]
"""A setting of digits with up to one decimal point, which can't be meant to separate thousands: not `1.800`."""

NAME = re.compile(r"[a-z][a-z0-9_]{2,39}")
NO_NAME = "(a line or file that isn't a name)"
OTHER_NAMES: Final = re.compile(
    r"alert_(bot_token|chat_id)|backup_(days|hours)|(grafana|postgres)_password|proxy_address|compose_\w+|port|"
    "service_mcp_(allowed_hosts|host|http_token|log_level|name|port|rate_limit_per_minute|requests_per_second|transport)"
)
"""The settings of the other programs that share `.env` and secrets: those of `compose.yaml`, and the agents' tools."""

KEY_BYTES = 32
LIMITS = ("ge", "gt", "le", "max_length")
LOOPBACK = frozenset({"127.0.0.1", "::1"})
FREE_PER_SECOND = 30
WEBHOOK_PORTS = frozenset({80, 88, 443, 8443})
"""The ports to which Telegram posts updates."""

NETWORK = "the network's prefix in invoices, such as bc (bitcoin) or bcrt (the sandbox)"
GROUP_ID = "the group's id, a negative number such as -1001234567890"
LARGEST_ID = 2**52
"""Telegram's ids have at most 52 significant bits."""


SECRETS: Final = Path("/run/secrets")
"""Where Compose and Kubernetes put secrets, as files with the names of the settings."""


class ConfigError(Exception):
    """Settings are missing or wrong. The message names all of them."""


class Settings(BaseSettings):
    """The environment variables of the bot (see docs/settings.md)."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,  # `NAME=` in a compose file means "not set"
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    telegram_bot_token: SecretStr
    telegram_api_url: str = TELEGRAM
    service_api_key: SecretStr
    service_base_url: str
    receive: Literal["poll", "webhook"] = "poll"
    database_url: str = Field(DEFAULT_DATABASE, repr=False)  # may hold a password
    encryption_keys: SecretStr
    poll_interval_seconds: Number = Field(5, ge=1, le=DAY)
    service_max_requests_per_second: Number = Field(10, gt=0, le=1000)
    min_order_idr: Whole = Field(20_000, ge=1, le=10**12)
    pay_within_seconds: Number = Field(3600, ge=60, le=30 * DAY)
    reconcile_seconds: Number = Field(60, ge=1, le=DAY)
    price_drift_percent: Number = Field(1, ge=0, le=1000)
    invoice_network: str = Field("bc", pattern=r"^[a-z]{2,10}$", description=NETWORK)
    max_open_orders: Whole = Field(5, ge=0, le=10**6)
    max_orders_per_hour: Whole = Field(20, ge=0, le=10**6)
    max_idr_per_day: Whole = Field(100_000_000, ge=0, le=10**15)
    max_link_orders: Whole = Field(30, ge=0, le=100)
    max_link_orders_each: Whole = Field(10, ge=0, le=100)
    payment_requests: Literal["on", "off"] = "on"
    max_open_payment_requests: Whole = Field(20, ge=0, le=10**6)
    max_payment_requests_per_day: Whole = Field(50, ge=0, le=10**6)
    payment_reminder_hour: Whole = Field(8, ge=0, le=23)
    max_messages_per_minute: Whole = Field(60, ge=0, le=10**6)
    stuck_seconds: Number = Field(1800, ge=1, le=30 * DAY)
    retention_days: Whole = Field(365, ge=0, le=36_500)
    quote_record_seconds: Number = Field(120, ge=10, le=DAY)
    chat_messages_per_second: Number = Field(1, gt=0, le=FREE_PER_SECOND)
    group_messages_per_minute: Whole = Field(20, ge=1, le=60 * FREE_PER_SECOND)
    broadcast_messages_per_second: Number = Field(29.7, gt=0, le=1000)
    allow_paid_broadcast: bool = False
    broadcast_jump_percent: Number = Field(2, ge=0, le=1000)
    alarm_repeat_seconds: Number = Field(600, ge=60, le=DAY)
    alarm_reminder_seconds: Number = Field(3600, ge=60, le=30 * DAY)
    outbox_backlog_seconds: Number = Field(60, ge=1, le=DAY)
    methods_shrink_percent: Number = Field(50, ge=1, le=100)
    heartbeat_url: SecretStr = SecretStr("")
    public_url: str = ""
    trusted_proxies: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode] = ()
    http_host: str = "127.0.0.1"
    http_port: Whole = Field(0, ge=0, le=65_535)
    metrics_host: str = "127.0.0.1"
    metrics_port: Whole = Field(0, ge=0, le=65_535)
    support_contact: str = Field("", max_length=200)
    service_contact: str = Field("", max_length=200)
    operator_name: str = Field("", max_length=100)
    terms_url: str = Field("", max_length=500)
    privacy_url: str = Field("", max_length=500)
    failed_payout_policy_url: str = Field("", max_length=500)
    operator_ids: Annotated[frozenset[int], NoDecode] = frozenset()
    support_ids: Annotated[frozenset[int], NoDecode] = frozenset()
    support_chat_id: Whole = Field(0, ge=-(10**15), le=0, description=GROUP_ID)
    ticket_reminder_seconds: Number = Field(900, ge=1, le=30 * DAY)
    ticket_reopen_seconds: Number = Field(7 * DAY, ge=0, le=365 * DAY)
    default_locale: LocaleCode = "id"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = Field(default_factory=lambda: "console" if sys.stderr.isatty() else "json")

    @field_validator("telegram_bot_token")
    @classmethod
    def _token_has_two_parts(cls, token: SecretStr) -> SecretStr:
        if not TOKEN.fullmatch(token.get_secret_value()):
            raise ValueError("must be a bot token from @BotFather, of the form <number>:<secret>")
        return token

    @field_validator("service_api_key")
    @classmethod
    def _key_has_two_parts(cls, key: SecretStr) -> SecretStr:
        return api_key(key)

    @field_validator("telegram_api_url", "service_base_url")
    @classmethod
    def _address_is_http(cls, address: str) -> str:
        return http_address(address)

    @field_validator("database_url")
    @classmethod
    def _database_is_known(cls, address: str) -> str:
        if not address.startswith(("sqlite:///", "postgresql://", "postgres://")):
            raise ValueError("must begin with sqlite:/// or postgresql://")
        return address

    @field_validator("encryption_keys")
    @classmethod
    def _keys_are_keys(cls, keys: SecretStr) -> SecretStr:
        if not _keys(keys):
            raise ValueError("must be one or more keys from `kirim new-key`, separated by commas")
        return keys

    @field_validator("heartbeat_url")
    @classmethod
    def _heartbeat_is_an_address(cls, url: SecretStr) -> SecretStr:
        address = url.get_secret_value().strip()
        if address:
            _require_safe(_read_http(address, "must be an https address, such as https://hc-ping.com/…"))
        return SecretStr(address)

    @field_validator("support_contact")
    @classmethod
    def _contact_can_be_reached(cls, contact: str) -> str:
        return _read_contact(contact, CONTACTS, "must be a Telegram @name, an email address or an https address")

    @field_validator("service_contact")
    @classmethod
    def _service_can_be_reached(cls, contact: str) -> str:
        wanted = "a Telegram @name, an email address, an https address, or a phone number such as +62 21 1234567"
        return _read_contact(contact, (*CONTACTS, PHONE_NUMBER), f"must be {wanted}")

    @field_validator("operator_name")
    @classmethod
    def _name_is_one_line(cls, name: str) -> str:
        name = name.strip()
        if not name.isprintable():
            raise ValueError("must be one line of printable characters")
        return name

    @field_validator("terms_url", "privacy_url", "failed_payout_policy_url")
    @classmethod
    def _web_page_is_public(cls, address: str) -> str:
        address = address.strip()
        if address and not WEB_PAGE.fullmatch(address):
            raise ValueError("must be an https address such as https://example.com/terms")
        return address

    @field_validator("public_url")
    @classmethod
    def _public_address_is_safe(cls, address: str) -> str:
        if not address.strip():
            return ""
        address = cls._address_is_http(address)
        parts = _parts(address)
        if parts is None or (parts.scheme != "https" and parts.hostname not in LOOPBACK):
            raise ValueError("must be an https address (http only for this machine, such as http://127.0.0.1:8482)")
        if "." not in (parts.hostname or "") and ":" not in (parts.hostname or ""):
            raise ValueError(
                "must have a public host name such as pay.example.com (Telegram rejects others in buttons)"
            )
        return address

    @model_validator(mode="after")
    def _something_can_be_ordered(self) -> Self:
        if 0 < self.max_idr_per_day < self.min_order_idr:
            raise ValueError(
                "MAX_IDR_PER_DAY is lower than MIN_ORDER_IDR, so no order is possible. Raise it, or set 0 for no limit"
            )
        return self

    @model_validator(mode="after")
    def _faster_is_paid_for(self) -> Self:
        if self.broadcast_messages_per_second > FREE_PER_SECOND and not self.allow_paid_broadcast:
            raise ValueError(
                "BROADCAST_MESSAGES_PER_SECOND above 30 needs ALLOW_PAID_BROADCAST=true (Telegram charges for it)"
            )
        return self

    @model_validator(mode="after")
    def _pages_have_a_server(self) -> Self:
        if self.public_url and not self.http_port:
            raise ValueError("PUBLIC_URL needs HTTP_PORT, the port that the bot serves its pages on")
        return self

    @model_validator(mode="after")
    def _webhook_has_an_address(self) -> Self:
        if self.receive == "poll":
            return self
        if not self.public_url or not self.http_port:
            raise ValueError(
                "RECEIVE=webhook needs PUBLIC_URL, the https address at which Telegram reaches the bot, and HTTP_PORT"
            )
        parts = urlsplit(self.public_url)
        if self.telegram_api_url != TELEGRAM:
            return self  # a Bot API server of one's own accepts any address
        if parts.scheme != "https" or (parts.port or 443) not in WEBHOOK_PORTS:
            raise ValueError(
                "RECEIVE=webhook needs a PUBLIC_URL that begins with https://, on port 443, 80, 88 or 8443. "
                "Telegram posts to no other address"
            )
        return self

    @model_validator(mode="after")
    def _metrics_have_their_own_port(self) -> Self:
        if self.metrics_port and self.metrics_port == self.http_port:
            raise ValueError(
                "METRICS_PORT must be another port than HTTP_PORT, which the public reaches through the proxy"
            )
        return self

    @field_validator("operator_ids", "support_ids", mode="before")
    @classmethod
    def _ids_are_numbers(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        parts = [part.strip() for part in value.split(",") if part.strip()]
        if not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError("must be Telegram user ids, such as 123456789, separated by commas")
        ids = frozenset(map(int, parts))
        if any(not 0 < user <= LARGEST_ID for user in ids):
            raise ValueError("must be Telegram user ids, such as 123456789, separated by commas")
        return ids

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _proxies_are_addresses(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return tuple(ip_network(part.strip()) for part in value.split(",") if part.strip())
        except ValueError:
            raise ValueError("must be addresses or blocks, such as 127.0.0.1 or 10.0.0.0/8, with commas") from None

    @field_validator("payment_requests", "receive", "log_level", "log_format", "default_locale", mode="before")
    @classmethod
    def _in_any_case(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value

    @property
    def sealing_keys(self) -> tuple[bytes, ...]:
        """Return the encryption keys. The first one encrypts, and all of them decrypt."""
        return _keys(self.encryption_keys)

    @property
    def key_id(self) -> str:
        """Return the part of the API key that is safe to log (settlement API, 5.3)."""
        return self.service_api_key.get_secret_value().partition(".")[0]


def secret_values(settings: BaseSettings) -> frozenset[str]:
    """Return the secrets in the settings, so that they can be removed from logs.

    Each part of a secret counts for itself: the half of a token or key that isn't public, each encryption key, and a
    password in an address.
    """
    found: set[str] = set()
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            text = value.get_secret_value()
            parts = {part.strip() for part in text.split(",")} if name == "encryption_keys" else {text}
            found |= parts | {part.partition(mark)[2] for part in parts for mark in ":."}
        elif isinstance(value, str) and "://" in value:
            found |= _passwords_in(value)
    return frozenset(found - {""})


def _passwords_in(address: str) -> set[str]:
    # The password ends at the last @. An address of a database can have a / in it.
    before, at, _ = address.partition("://")[2].rpartition("@")
    password = before.partition(":")[2] if at else ""
    parameters = re.findall(r"[?&](?:ssl)?password=([^&]*)", address)
    return {form for raw in (password, *parameters) for form in (raw, unquote(raw))}


def list_secret_folders() -> tuple[Path, ...]:
    """Return the folders with a file for each secret: that of containers, and that of systemd's `LoadCredential`."""
    folders = (SECRETS, Path(os.environ.get("CREDENTIALS_DIRECTORY") or SECRETS))
    return tuple(folder for folder in dict.fromkeys(folders) if folder.is_dir())


def find_unknown_names(settings: type[BaseSettings], env_file: Path | None = Path(".env")) -> list[str]:
    """Return the names of settings that nobody knows.

    These are all of `.env` and of the folders with secrets, and those of the environment that are within one slip of a
    name that `settings` has. What doesn't look like a name can be a part of a secret, and isn't shown.
    """
    known = {*Settings.model_fields, *settings.model_fields}
    found = {name for name in map(str.lower, os.environ) if any(_is_slip(name, own) for own in settings.model_fields)}
    lines = DotEnvSettingsSource(settings, env_file=env_file, env_file_encoding="utf-8").env_vars
    found |= {"" if value is None else name for name, value in lines.items()}
    files = (each for folder in list_secret_folders() for each in folder.iterdir())
    found |= {each.name.lower() for each in files if each.is_file()}
    unknown = (name for name in found - known if not OTHER_NAMES.fullmatch(name))
    return sorted({name.upper() if NAME.fullmatch(name) else NO_NAME for name in unknown})


def _is_slip(written: str, name: str) -> bool:
    """Return whether one character is missing, extra or wrong, or two neighbours are swapped."""
    same = len(os.path.commonprefix((written, name)))  # noqa: RUF071  characters are compared
    ours, theirs = written[same:], name[same:]
    return ours[1:] in {theirs, theirs[1:]} or ours == theirs[1:] or (ours[1::-1], ours[2:]) == (theirs[:2], theirs[2:])


def load(env_file: Path | None = Path(".env"), **overrides: object) -> Settings:
    """Read the settings. Raise a `ConfigError` that names every missing or wrong one.

    The environment counts first, then `.env`, then files with secrets.
    """
    try:
        return Settings(_env_file=env_file, _secrets_dir=list_secret_folders(), **overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        raise ConfigError(explain(error, Settings, "environment, .env or files with secrets", env_file)) from None
    except OSError as error:
        raise ConfigError(
            f"Kirim can't read its settings from {error.filename or env_file}: {error.strerror}"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"Kirim can't read its settings from {env_file}: the file isn't UTF-8 text") from None


def _keys(keys: SecretStr) -> tuple[bytes, ...]:
    """Return the keys of 32 bytes in `keys`. Return none if any of them is wrong."""
    found = []
    for part in keys.get_secret_value().split(","):
        try:
            found.append(base64.b64decode(part.strip(), altchars=b"-_", validate=True))
        except (binascii.Error, ValueError):
            return ()
    return tuple(found) if all(len(key) == KEY_BYTES for key in found) else ()


def api_key(key: SecretStr) -> SecretStr:
    """Return `key` if it has the service's form. Otherwise raise a `ValueError` that doesn't repeat it."""
    if not API_KEY.fullmatch(key.get_secret_value()):
        raise ValueError("must be an API key of the form pk_live_<id>.<secret>")
    return key


def http_address(address: str) -> str:
    """Return a service's address without a trailing slash.

    Raises:
        ValueError: it isn't an address, or it contains a password.
    """
    parts = _read_http(address, "must be an http or https address, such as https://api.example.com")
    if parts.query or parts.fragment or parts.username is not None or parts.password is not None:
        raise ValueError("must be an address without user, password, query (?) or fragment (#)")
    _require_safe(parts)
    return address.strip().rstrip("/")


def _read_http(address: str, otherwise: str) -> SplitResult:
    """Return the parts of an http or https address. Else raise a `ValueError` with the text `otherwise`."""
    parts = _parts(address)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(otherwise)
    return parts


def _require_safe(parts: SplitResult) -> None:
    """Raise a `ValueError` for an http address that leaves this machine and private networks."""
    if parts.scheme == "http" and not _is_private(parts.hostname or ""):
        raise ValueError("must begin with https:// (http:// is only safe for this machine and private networks)")


def _read_contact(contact: str, forms: Sequence[re.Pattern[str]], otherwise: str) -> str:
    """Return a contact that has one of these forms, or an empty one. Else raise a `ValueError` with `otherwise`."""
    contact = contact.strip()
    if contact and not any(form.fullmatch(contact) for form in forms):
        raise ValueError(otherwise)
    return contact


def _is_private(host: str) -> bool:
    """Return whether `host` is on this machine or a private network. A container's name without a dot counts too."""
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
    return address.is_private or address.is_loopback


def _parts(address: str) -> SplitResult | None:
    """Return the parts of an address, or None if it can't be parsed."""
    try:
        parts = urlsplit(address.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts


def explain(error: ValidationError, settings: type[BaseSettings], source: str, env_file: Path | None = None) -> str:
    """Return one line for every wrong setting, without its value. `source` says where settings are read from."""
    lines = [f"  {_where(item)}{_reason(item, settings)}" for item in error.errors(include_input=False)]
    lines += [f"  {name}: no setting has this name" for name in find_unknown_names(settings, env_file)]
    return "\n".join([f"Kirim can't start. Fix these settings ({source}):", *lines])


def _where(item: Mapping[str, Any]) -> str:
    # An error about several settings names them in its text.
    return f"{str(item['loc'][0]).upper()}: " if item["loc"] else ""


def _reason(item: Mapping[str, Any], settings: type[BaseSettings]) -> str:
    match item["type"]:
        case "missing":
            return "required, but not set"
        case "value_error":
            return str(item["msg"]).removeprefix("Value error, ")
        case "literal_error":
            return f"must be {str(item['ctx']['expected']).replace(chr(39), '')}"
        case kind:
            more = ", without separators of thousands" if kind == "number_form" else ""
            return f"must be {_expected(settings.model_fields[str(item['loc'][0])])}{more}"


def _expected(field: FieldInfo) -> str:
    """Return what a field accepts, from its own description, or from its type and limits."""
    if field.description:
        return field.description
    if field.annotation is bool:
        return "true or false"
    limits = {name: getattr(each, name) for each in field.metadata for name in LIMITS if hasattr(each, name)}
    if field.annotation not in {int, float}:
        return f"text of up to {limits['max_length']} characters" if "max_length" in limits else "text"
    number = "a whole number" if field.annotation is int else "a number"
    least = f"above {limits['gt']} and up to" if "gt" in limits else f"from {limits['ge']} to"
    return f"{number} {least} {limits['le']}"
