"""The files that `pip install .` installs. A wheel is built, unpacked elsewhere, and run from another directory."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bot.infra.db import migrate
from tests.infra.keys import ENCRYPTION_KEYS
from tests.texts import label
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    site = folder / "site"
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(site)
    return site


def _runs(site: Path, cwd: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "HOME": str(cwd)} | settings
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def test_the_wheel_holds_everything_that_is_no_module(installed: Path) -> None:
    for needed in (
        "bot/locales/en/LC_MESSAGES/kirim.po",
        "bot/locales/id/LC_MESSAGES/kirim.po",
        "bot/locales/id/status_questions.toml",
        "bot/orders/pay_page/templates/payment.html",
        "bot/sandbox/static/index.html",
        "bot/sandbox/service/payout-methods.json",
        "bot/recipients/known.json",
    ):
        assert (installed / needed).is_file(), needed
    assert list((installed / "bot/migrations/versions").glob("*.py"))
    in_tree = {p.relative_to(ROOT) for p in (ROOT / "bot").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert {str(path) for path in in_tree if not (installed / path).is_file()} == set()


def test_an_installed_kirim_migrates_from_another_directory(installed: Path, tmp_path: Path) -> None:
    settings = {
        "TELEGRAM_BOT_TOKEN": "1:made-up",
        "SERVICE_API_KEY": "pk_live_made.up",
        "SERVICE_BASE_URL": "http://127.0.0.1:9",
        "ENCRYPTION_KEYS": ENCRYPTION_KEYS,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'installed.db'}",
    }
    done = _runs(installed, tmp_path, "-m", "bot", "migrate", **settings)
    assert done.returncode == 0, done.stderr
    assert migrate.get_expected_revision() in done.stdout


def test_an_installed_kirim_has_its_sentences_and_its_page(installed: Path, tmp_path: Path) -> None:
    code = (
        "import bot, sys; from bot.infra.i18n import Translations; from bot.sandbox import page;"
        "print(bot.__file__); print(Translations.load(strict=True).get('id').plain('users.button.send'));"
        "print(len(page.routes('http://127.0.0.1:9')))"
    )
    done = _runs(installed, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    where, sentence, _ = done.stdout.splitlines()
    assert where.startswith(str(installed))
    assert sentence == label("users.button.send", "id")


def test_an_installed_kirim_brings_the_command_for_agents(installed: Path, tmp_path: Path) -> None:
    promised = next(installed.glob("kirim-*.dist-info/entry_points.txt")).read_text()
    assert "kirim-mcp = bot.mcp_server:main" in promised.splitlines()
    done = _runs(installed, tmp_path, "-c", "from bot.mcp_server import main; main()")
    assert (done.returncode, done.stdout) == (2, "")
    assert "SERVICE_API_KEY: required" in done.stderr


def test_an_installed_kirim_mcp_serves_whoever_starts_it(installed: Path, tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n"
    command = (sys.executable, "-c", "from bot.mcp_server import main; main()")
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), "SERVICE_API_KEY": "pk_live_made.up"}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, input=line, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    (answer,) = map(json.loads, done.stdout.splitlines())
    assert answer["result"]["serverInfo"] == {"name": "kirim", "version": "0.1.0"}
    # No setting has the service's address, and the log says so.
    assert "http://127.0.0.1:8481" in done.stderr
    assert "SERVICE_BASE_URL" in done.stderr
