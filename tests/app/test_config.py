"""Settings from the environment: every wrong one is named in one error, and no secret is shown."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import SecretStr, TypeAdapter, ValidationError

from bot import config
from bot.config import (
    DEFAULT_DATABASE,
    NO_NAME,
    OTHER_NAMES,
    TELEGRAM,
    ConfigError,
    Settings,
    find_unknown_names,
    load,
)
from bot.mcp_server.config import AgentSettings
from tests.architecture.documents import ROOT
from tests.infra.keys import ENCRYPTION_KEYS, KEY

TOKEN = "123456789:AAF-secret_secret_secret_secret_secret"
API_KEY = "pk_live_tenant1.s3cr3t-s3cr3t"
REQUIRED = {
    "TELEGRAM_BOT_TOKEN": TOKEN,
    "SERVICE_API_KEY": API_KEY,
    "SERVICE_BASE_URL": "https://service.example",
    "ENCRYPTION_KEYS": ENCRYPTION_KEYS,
}
PASSWORD = "hunter2"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def read_settings(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that sets the required variables and others, and reads the settings."""

    def settings(**more: str) -> Settings:
        for name, value in {**REQUIRED, **more}.items():
            monkeypatch.setenv(name, value)
        return load()

    return settings


def test_four_settings_are_enough(read_settings: Any) -> None:
    settings = read_settings()
    assert settings.telegram_bot_token.get_secret_value() == TOKEN
    assert settings.service_api_key.get_secret_value() == API_KEY
    assert settings.service_base_url == "https://service.example"
    assert (settings.telegram_api_url, settings.database_url) == (TELEGRAM, DEFAULT_DATABASE)
    assert (settings.poll_interval_seconds, settings.service_max_requests_per_second) == (5, 10)
    assert (settings.min_order_idr, settings.reconcile_seconds, settings.price_drift_percent) == (20_000, 60, 1)
    assert (settings.invoice_network, settings.default_locale, settings.log_level) == ("bc", "id", "info")
    assert settings.sealing_keys == (KEY,)
    assert (settings.max_open_orders, settings.retention_days, settings.stuck_seconds) == (5, 365, 1800)
    assert (settings.public_url, settings.http_host, settings.http_port) == ("", "127.0.0.1", 0)
    assert settings.operator_ids == settings.support_ids == frozenset()
    assert settings.key_id == "pk_live_tenant1"


@pytest.mark.parametrize(
    ("name", "value", "means"),
    [
        ("TELEGRAM_API_URL", "http://127.0.0.1:8480/", "http://127.0.0.1:8480"),
        ("SERVICE_BASE_URL", "https://service.example/api/", "https://service.example/api"),
        ("SERVICE_BASE_URL", "http://service:8481", "http://service:8481"),
        ("DATABASE_URL", "postgresql://kirim@db/kirim", "postgresql://kirim@db/kirim"),
        ("SERVICE_MAX_REQUESTS_PER_SECOND", "0.5", 0.5),
        ("PRICE_DRIFT_PERCENT", "0", 0.0),
        ("INVOICE_NETWORK", "bcrt", "bcrt"),
        (
            "ENCRYPTION_KEYS",
            f"{ENCRYPTION_KEYS} , {ENCRYPTION_KEYS}",
            SecretStr(f"{ENCRYPTION_KEYS} , {ENCRYPTION_KEYS}"),
        ),
        ("HTTP_PORT", "8080", 8080),
        ("SUPPORT_CONTACT", "@kirim_help", "@kirim_help"),
        ("SERVICE_CONTACT", "+62 21 1234 5678", "+62 21 1234 5678"),
        ("OPERATOR_IDS", "2001, 2002,,2001", frozenset({2001, 2002})),
        ("SUPPORT_IDS", " 3001 ", frozenset({3001})),
        ("TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/8,::1", (*map(ip_network, ("127.0.0.1", "10.0.0.0/8", "::1")),)),
        ("DEFAULT_LOCALE", "EN", "en"),
        ("LOG_LEVEL", "Debug", "debug"),
    ],
)
def test_each_setting_is_taken(read_settings: Any, name: str, value: str, means: object) -> None:
    assert getattr(read_settings(**{name: value}), name.lower()) == means


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TELEGRAM_BOT_TOKEN", "no-colon"),
        ("TELEGRAM_BOT_TOKEN", "123456789:AA/../getMe"),
        ("TELEGRAM_BOT_TOKEN", "١٢٣:AAF"),
        ("SERVICE_API_KEY", "pk_live_tenant1"),
        ("SERVICE_API_KEY", "pk_live_tenant1.with space"),
        ("SERVICE_API_KEY", "pk_live_tenant1.é"),
        ("SERVICE_BASE_URL", "ftp://service.example"),
        ("SERVICE_BASE_URL", "https://service.example?key=1"),
        ("SERVICE_BASE_URL", f"https://me:{PASSWORD}@service.example"),
        ("SERVICE_BASE_URL", "https://service.example:99999"),
        ("TELEGRAM_API_URL", "https://telegram.example/#top"),
        ("TELEGRAM_API_URL", "http://telegram.example"),
        ("SERVICE_BASE_URL", "http://service.example"),
        ("SERVICE_BASE_URL", "http://8.8.8.8:8481"),
        ("DATABASE_URL", f"mysql://me:{PASSWORD}@db/kirim"),
        ("DATABASE_URL", "kirim.db"),
        ("ENCRYPTION_KEYS", "hunter2"),
        ("ENCRYPTION_KEYS", ENCRYPTION_KEYS[:-4]),
        ("PUBLIC_URL", "http://kirim.example"),
        ("PUBLIC_URL", "https://kirim"),
        ("PUBLIC_URL", "https://kirim.example/?p=1"),
        ("HTTP_PORT", "65536"),
        ("MAX_OPEN_ORDERS", "-1"),
        ("POLL_INTERVAL_SECONDS", "0.9"),
        ("POLL_INTERVAL_SECONDS", "nan"),
        ("SERVICE_MAX_REQUESTS_PER_SECOND", "0"),
        ("MIN_ORDER_IDR", "20000.5"),
        ("PRICE_DRIFT_PERCENT", "-1"),
        ("INVOICE_NETWORK", "BC1"),
        ("OPERATOR_IDS", "emma"),
        ("TRUSTED_PROXIES", "proxy"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("OPERATOR_IDS", "²"),
        ("SUPPORT_IDS", "3001;3002"),
        ("DEFAULT_LOCALE", "fr"),
        ("RECEIVE", "push"),
        ("LOG_LEVEL", "loud"),
    ],
)
def test_each_bad_setting_is_named_and_never_quoted(read_settings: Any, name: str, value: str) -> None:
    with pytest.raises(ConfigError) as failure:
        read_settings(**{name: value})
    lines = str(failure.value).splitlines()[1:]
    assert [line.partition(":")[0].strip() for line in lines] == [name]
    assert PASSWORD not in str(failure.value)
    if name in {"TELEGRAM_BOT_TOKEN", "SERVICE_API_KEY"}:
        assert value not in str(failure.value)


def test_all_that_is_missing_or_bad_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "pk_live_broken-secret")
    monkeypatch.setenv("LOG_LEVEL", "loud")
    monkeypatch.setenv("OPERATOR_IDS", "emma")
    with pytest.raises(ConfigError) as failure:
        load()
    said = str(failure.value)
    for name in ("TELEGRAM_BOT_TOKEN", "SERVICE_API_KEY", "SERVICE_BASE_URL", "LOG_LEVEL", "OPERATOR_IDS"):
        assert said.count(name) == 1
    assert "SERVICE_BASE_URL: required" in said
    assert "broken-secret" not in said
    assert failure.value.__cause__ is None


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("MAX_OPEN_ORDERS", "many", ("whole number", "0", "1000000")),
        ("HTTP_PORT", "65536", ("whole number", "0", "65535")),
        ("POLL_INTERVAL_SECONDS", "nan", ("a number", "1", "86400")),
        ("CHAT_MESSAGES_PER_SECOND", "0", ("a number above 0", "30")),
        ("ALLOW_PAID_BROADCAST", "perhaps", ("true", "false")),
        ("LOG_LEVEL", "loud", ("debug", "info", "warning", "error")),
        ("INVOICE_NETWORK", "BC1", ("bc", "bcrt")),
        ("SUPPORT_CHAT_ID", "5", ("group", "-100")),
        ("SUPPORT_CONTACT", "@" * 201, ("200 characters",)),
        ("SERVICE_CONTACT", "@" * 201, ("200 characters",)),
    ],
)
def test_a_bad_setting_says_what_it_accepts(
    read_settings: Any, name: str, value: str, accepted: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigError) as failure:
        read_settings(**{name: value})
    said = str(failure.value).splitlines()[1]
    assert all(fact in said for fact in accepted), said
    assert not any(word in said for word in ("Input", "String", "pattern", "parse", "Error")), said


def test_no_secret_shows_in_what_is_printed_or_logged(read_settings: Any) -> None:
    settings = read_settings(DATABASE_URL=f"postgresql://kirim:{PASSWORD}@db/kirim")
    for shown in (repr(settings), str(settings)):
        assert TOKEN.partition(":")[2] not in shown
        assert API_KEY.partition(".")[2] not in shown
        assert PASSWORD not in shown
    assert "s3cr3t" not in settings.key_id


def test_an_env_file_is_read_and_the_environment_goes_before_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = [f"{name}={value}" for name, value in REQUIRED.items()]
    (tmp_path / ".env").write_text("\n".join([*lines, "MIN_ORDER_IDR=30000", "LOG_LEVEL=error", "NOT_OURS=1"]))
    monkeypatch.setenv("LOG_LEVEL", "debug")
    settings = load()
    assert (settings.min_order_idr, settings.log_level) == (30_000, "debug")


def test_an_empty_setting_is_one_that_is_not_set(read_settings: Any) -> None:
    settings = read_settings(OPERATOR_IDS="", POLL_INTERVAL_SECONDS="", DATABASE_URL="", LOG_LEVEL="")
    assert (settings.operator_ids, settings.poll_interval_seconds) == (frozenset(), 5)
    assert (settings.database_url, settings.log_level) == (DEFAULT_DATABASE, "info")
    with pytest.raises(ConfigError, match="SERVICE_BASE_URL: required"):
        read_settings(SERVICE_BASE_URL="")


def test_wallet_pages_need_a_server(read_settings: Any) -> None:
    with pytest.raises(ConfigError, match="PUBLIC_URL needs HTTP_PORT"):
        read_settings(PUBLIC_URL="https://kirim.example")
    settings = read_settings(PUBLIC_URL="https://kirim.example/", HTTP_PORT="8080")
    assert (settings.public_url, settings.http_port) == ("https://kirim.example", 8080)


PUBLIC = {"PUBLIC_URL": "https://kirim.example", "HTTP_PORT": "8080"}


@pytest.mark.parametrize("missing", ["PUBLIC_URL", "HTTP_PORT"])
def test_a_webhook_needs_a_public_address_and_a_port(read_settings: Any, missing: str) -> None:
    with pytest.raises(ConfigError, match=r"needs .*HTTP_PORT"):
        read_settings(**{**PUBLIC, "RECEIVE": "webhook", missing: ""})
    assert read_settings(**PUBLIC, RECEIVE=" Webhook ").receive == "webhook"


@pytest.mark.parametrize("address", ["http://127.0.0.1:8482", "https://kirim.example:8080"])
def test_telegram_posts_only_to_https_and_four_ports(read_settings: Any, address: str) -> None:
    with pytest.raises(ConfigError, match=r"RECEIVE=webhook needs .* https://, on port 443, 80, 88 or 8443"):
        read_settings(PUBLIC_URL=address, HTTP_PORT="8482", RECEIVE="webhook")
    for accepted in ("https://kirim.example:8443", "https://kirim.example/bot"):
        read_settings(PUBLIC_URL=accepted, HTTP_PORT="8482", RECEIVE="webhook")
    local = {"TELEGRAM_API_URL": "http://127.0.0.1:8480", "PUBLIC_URL": address, "HTTP_PORT": "8482"}
    assert read_settings(**local, RECEIVE="webhook").public_url == address


def test_metrics_are_never_served_on_the_public_port(read_settings: Any) -> None:
    with pytest.raises(ConfigError, match="METRICS_PORT must be another port than HTTP_PORT"):
        read_settings(METRICS_PORT="8080", HTTP_PORT="8080")
    assert read_settings(METRICS_PORT="9464", HTTP_PORT="8080").metrics_host == "127.0.0.1"


@pytest.mark.parametrize(
    "contact",
    ["@kirim_help", "help@kirim.example", "https://kirim.example", "https://kirim.example:8443/help?order=1&x#y", ""],
)
def test_a_support_contact_is_an_at_name_a_mail_or_a_web_address(read_settings: Any, contact: str) -> None:
    assert read_settings(SUPPORT_CONTACT=f" {contact} ").support_contact == contact


@pytest.mark.parametrize(
    "contact",
    [
        "kirim_help",
        "@x",
        "@<b>kirim</b>",
        "http://kirim.example",
        "https://kirim",
        "https://you@kirim.example",
        "javascript:alert(1)",
        "+62 812 3456 7890",
    ],
)
def test_anything_else_is_no_support_contact(read_settings: Any, contact: str) -> None:
    with pytest.raises(ConfigError, match=r"SUPPORT_CONTACT: must be .*@name.*email.*https"):
        read_settings(SUPPORT_CONTACT=contact)


def test_a_day_that_is_smaller_than_the_smallest_order_is_refused(read_settings: Any) -> None:
    with pytest.raises(ConfigError, match=r"MAX_IDR_PER_DAY .*MIN_ORDER_IDR"):
        read_settings(MAX_IDR_PER_DAY="19999")
    assert read_settings(MAX_IDR_PER_DAY="0").max_idr_per_day == 0
    assert read_settings(MAX_IDR_PER_DAY="20000").max_idr_per_day == 20_000


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with a file for each required setting, as Compose and Kubernetes make it."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    for name, value in REQUIRED.items():
        (folder / name.lower()).write_text(f"{value}\n")
    monkeypatch.setattr(config, "SECRETS", folder)
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    return folder


def test_any_setting_can_be_a_file_and_the_environment_goes_before_it(
    monkeypatch: pytest.MonkeyPatch, secrets: Path
) -> None:
    (secrets / "database_url").write_text("postgresql://kirim:hunter2@database/kirim")
    (secrets / "log_level").write_text("error")
    monkeypatch.setenv("LOG_LEVEL", "debug")
    settings = load()
    assert settings.telegram_bot_token.get_secret_value() == TOKEN
    assert settings.database_url.endswith("@database/kirim")
    assert settings.log_level == "debug"


def test_systemd_hands_over_secrets_in_a_folder_of_its_own(
    monkeypatch: pytest.MonkeyPatch, secrets: Path, tmp_path: Path
) -> None:
    credentials = secrets.rename(tmp_path / "credentials")
    with pytest.raises(ConfigError, match="TELEGRAM_BOT_TOKEN: required"):
        load()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(credentials))
    assert load().telegram_bot_token.get_secret_value() == TOKEN


NUMBERS = [
    field
    for settings in (Settings, AgentSettings)
    for field in settings.model_fields.values()
    if field.annotation in {int, float}
]


@pytest.mark.parametrize(
    "written", ["20.000", "20,000", "1.000", "1_000", "1e3", "+20", "٢٠", "2 0", "0x14", "inf", "-0"]
)
def test_no_number_is_read_whose_separators_could_be_of_thousands(written: str) -> None:
    for field in NUMBERS:
        form: Any = Annotated[(field.annotation, *field.metadata)]
        with pytest.raises(ValidationError):
            TypeAdapter(form).validate_python(written)


SLIPS = "min_order_id min_order_idrr mni_order_idr xmin_order_idr in_order_idr min_ordr_idr min_odrer_idr".split()  # noqa: SIM905
NO_SLIPS = "min_order order_idr_min home nim_rode_idr min_order_idr_x service_mcp_prt pOrT service_mcp_port".split()  # noqa: SIM905


def test_of_the_environment_only_slips_of_an_own_name_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*SLIPS, *NO_SLIPS, "MIN_ORDER_IDR"):
        monkeypatch.setenv(name, "1")
    slips = {name.upper() for name in SLIPS}
    assert find_unknown_names(Settings) == sorted(slips)
    assert find_unknown_names(AgentSettings, None) == sorted({*slips, "SERVICE_MCP_PRT"})


def test_all_names_of_env_files_and_secrets_that_nobody_knows_are_named(
    read_settings: Any, secrets: Path, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text(
        "MIN_ORDER_IDER=1\nFOO=bar\nLOG_LEVEL=info\nPOSTGRES_PASSWORD=x\nCOMPOSE_PROFILES=tools\nSERVICE_MCP_PORT=1\n"
    )
    for name in ("min_order_idr", "service_mcp_http_token", "operator_id"):
        (secrets / name).write_text("1")
    (secrets / "..data").mkdir()
    read_settings()
    assert find_unknown_names(Settings) == ["FOO", "MIN_ORDER_IDER", "OPERATOR_ID"]
    assert find_unknown_names(AgentSettings, env_file=None) == ["OPERATOR_ID"]


def test_a_secret_on_a_line_of_its_own_is_reported_without_it(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"ENCRYPTION_KEYS=a,\n{PASSWORD}\n{ENCRYPTION_KEYS[:43]}=x\n{API_KEY}=1\n")
    assert find_unknown_names(Settings) == [NO_NAME]


def test_a_wrong_name_is_named_beside_the_setting_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in REQUIRED.items():
        monkeypatch.setenv(name.replace("API_KEY", "API_KYE"), value)
    with pytest.raises(ConfigError, match=r"SERVICE_API_KEY: required.*\n.*SERVICE_API_KYE: no setting"):
        load()


def test_the_names_of_all_programs_are_known() -> None:
    written = (ROOT / ".env.example").read_text(), (ROOT / "compose.yaml").read_text()
    used = {*re.findall(r"^#?([A-Z_]+)=", written[0], re.MULTILINE), *re.findall(r"\$\{([A-Z_]+)", written[1])}
    names = {name.lower() for name in used} | set(AgentSettings.model_fields)
    assert all(OTHER_NAMES.fullmatch(name) for name in names - set(Settings.model_fields))
