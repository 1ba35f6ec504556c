"""The addresses that providers of PostgreSQL hand out, against a server with TLS and a certificate of its own."""

import asyncio
import gc
import inspect
import shutil
import socket
import ssl
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]  # it has no types
import pytest
from sqlalchemy import text

from bot.infra.db.address import parse_database_url
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.wakeups import SharedWakeups
from bot.sandbox.postgresql import installed, other_user
from tests.harness.postgresql import parents, start
from tests.infra.certificates import write_certificate

pytestmark = [
    pytest.mark.process,
    # The driver leaves the sockets of refused and of terminated TLS connections to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PASSWORD = "AbC123/dEf"

FROM_PROVIDERS = {
    "Neon": "postgresql://alex:PASSWORD@HOST/dbname?sslmode=require&channel_binding=require",
    "Supabase": "postgresql://alex:PASSWORD@HOST/dbname?sslmode=verify-full&sslrootcert=ROOT",
    "DigitalOcean": "postgresql://alex:PASSWORD@HOST/dbname?sslmode=require",
    "Aiven": "postgres://alex:PASSWORD@HOST/dbname?sslmode=require",
    "Amazon RDS": "postgresql://HOST/dbname?user=alex&password=PASSWORD&sslmode=verify-full&sslrootcert=ROOT",
    "Azure": "postgresql://alex:PASSWORD@HOST/dbname?sslmode=verify-full&sslrootcert=system",
    "Heroku": "postgres://alex:PASSWORD@HOST/dbname",
    "Crunchy Bridge": "postgres://alex:PASSWORD@HOST/dbname?sslmode=verify-ca&sslrootcert=ROOT&connect_timeout=10"
    "&application_name=kirim&options=-c%20statement_timeout%3D30s",
}
"""The form of each provider's address. Host, name and password are those of the test's server."""


@dataclass(frozen=True)
class TlsServer:
    """A server on this machine's address that accepts only TLS and a password, and the file of its authority."""

    port: int
    root: Path

    def fill(self, template: str, host: str = "localhost") -> str:
        filled = template.replace("PASSWORD", PASSWORD.replace("/", "%2F")).replace("ROOT", str(self.root))
        return filled.replace("HOST", f"{host}:{self.port}")


async def create_database(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"CREATE ROLE alex LOGIN PASSWORD '{PASSWORD}'")
        await connection.execute("CREATE DATABASE dbname OWNER alex")
    finally:
        await connection.close()


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Let the garbage collector find those sockets here, and not in a later test."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def tls_server() -> Iterator[TlsServer]:
    programs = next(installed(), None)
    if programs is None:
        pytest.skip("needs the programs of a PostgreSQL server")
    folder = Path(tempfile.mkdtemp(prefix="kirim-tls-", dir=next(parents())))
    write_certificate(folder)
    if user := other_user():
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, user)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    rules = folder / "pg_hba.conf"
    rules.write_text("local all postgres trust\nhostssl all alex 127.0.0.1/32 scram-sha-256\n")
    settings = (
        f"listen_addresses = '127.0.0.1'\nhba_file = '{rules}'\npassword_encryption = scram-sha-256\n"
        f"ssl = on\nssl_cert_file = '{folder}/server.pem'\nssl_key_file = '{folder}/server.key'\n"
    )
    server = start(programs, next(parents()), port=port, settings=settings)
    try:
        asyncio.run(create_database(server.url))
        yield TlsServer(port, folder / "root.pem")
    finally:
        server.stop()
        shutil.rmtree(folder)


async def is_encrypted(url: str) -> bool:
    """Return whether the database can be used, with each session encrypted."""
    store = Database(url)
    try:
        await store.check_server()
        async with store.reading() as tx:
            return bool(await tx.connection.scalar(text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")))
    finally:
        await store.close()


@pytest.mark.parametrize("provider", FROM_PROVIDERS)
async def test_the_address_that_a_provider_hands_out_connects_with_tls(
    provider: str, tls_server: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In place of the system's authorities. The tests share one context, which was made without it.
    monkeypatch.setenv("SSL_CERT_FILE", str(tls_server.root))
    monkeypatch.setattr(ssl, "create_default_context", inspect.unwrap(ssl.create_default_context))
    assert await is_encrypted(tls_server.fill(FROM_PROVIDERS[provider]))


@pytest.mark.parametrize("provider", ["Neon", "Azure"])
async def test_a_server_of_an_unknown_authority_is_refused(provider: str, tls_server: TlsServer) -> None:
    with pytest.raises(StoreDown, match=r"the certificate isn't valid \(unable to get local issuer certificate\)"):
        await is_encrypted(tls_server.fill(FROM_PROVIDERS[provider]))


async def test_a_server_of_another_name_is_refused(tls_server: TlsServer) -> None:
    with pytest.raises(StoreDown, match=r"the certificate isn't valid \(IP address mismatch"):
        await is_encrypted(tls_server.fill(FROM_PROVIDERS["Supabase"], host="127.0.0.1"))


async def test_wakeups_connect_as_the_other_sessions_do(tls_server: TlsServer) -> None:
    arrived = asyncio.Event()
    address = parse_database_url(tls_server.fill(FROM_PROVIDERS["Amazon RDS"]))
    first, second = (
        SharedWakeups(address, "one", lambda _: None),
        SharedWakeups(address, "two", lambda _: arrived.set()),
    )
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each.run()) for each in (first, second)]
        first.send("name")
        await asyncio.wait_for(arrived.wait(), 30)
        for task in tasks:
            task.cancel()
    await asyncio.sleep(0.1)  # the loop closes the connections that were terminated
