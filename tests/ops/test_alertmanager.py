"""Alertmanager of compose.yaml: who gets which alert, and how it starts."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.ops import alertmanager, compose
from tests.ops.test_alerts import ALERTS

SERVICE = compose.read().services["alertmanager"]
ADDRESS = "alertmanager:9093"
needs_amtool = pytest.mark.skipif(shutil.which("amtool") is None, reason="prometheus-alertmanager isn't installed")


def test_prometheus_sends_alerts_where_alertmanager_listens() -> None:
    settings = yaml.safe_load((compose.ROOT / "ops/prometheus.yaml").read_text(encoding="utf-8"))
    (discovered,) = settings["alerting"]["alertmanagers"]
    assert discovered == {"file_sd_configs": [{"files": ["alertmanagers.yaml"]}]}
    mounted = "./ops/compose/prometheus/alertmanagers.yaml"
    assert f"{mounted}:/etc/prometheus/alertmanagers.yaml:ro" in compose.read().services["prometheus"]["volumes"]
    assert yaml.safe_load((compose.ROOT / mounted).read_text(encoding="utf-8")) == [{"targets": [ADDRESS]}]
    assert f"//127.0.0.1:{ADDRESS.partition(':')[2]}/" in SERVICE["healthcheck"]["test"][-1]


@needs_amtool
@pytest.mark.process
def test_only_alerts_that_operators_do_not_know_yet_are_sent_to_telegram(tmp_path: Path) -> None:
    configuration = tmp_path / "alertmanager.yaml"
    configuration.write_text(alertmanager.configure("http://localhost", "1:a", -1), encoding="utf-8")
    for severity in {rule["labels"]["severity"] for rule in ALERTS.values()}:
        command = ["amtool", "config", "routes", "test", f"--config.file={configuration}", f"severity={severity}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == ("nobody" if severity == "info" else "telegram"), severity


@pytest.mark.process
def test_it_starts_with_its_token_and_chat_in_files_that_others_cannot_read(tmp_path: Path) -> None:
    folder, _, mounted = SERVICE["volumes"][0].removesuffix(":ro").partition(":")
    assert SERVICE["entrypoint"] == ["sh", f"{mounted}/start.sh"]
    script = (compose.ROOT / folder / "start.sh").read_text(encoding="utf-8")
    receivers = yaml.safe_load(alertmanager.CONFIGURATION.read_text(encoding="utf-8"))["receivers"]
    ((telegram,),) = (each["telegram_configs"] for each in receivers if each["name"] == "telegram")
    files = {"ALERT_BOT_TOKEN": telegram["bot_token_file"], "ALERT_CHAT_ID": telegram["chat_id_file"]}
    started = script.replace("exec alertmanager", "env; echo")
    for name, file in files.items():
        started = started.replace(f"> {file}\n", f"> {tmp_path / name}\n")
    secrets = {"ALERT_BOT_TOKEN": "1:secret", "ALERT_CHAT_ID": "-100"}
    for name in secrets:
        done = _run(started, {**secrets, name: ""})
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "Set ALERT_BOT_TOKEN and ALERT_CHAT_ID in .env\n"
    done = _run(started, secrets)
    assert done.returncode == 0, done.stderr
    assert f"--config.file={mounted}/{alertmanager.CONFIGURATION.name} " in done.stdout
    assert "secret" not in done.stdout
    for name, value in secrets.items():
        file = tmp_path / name
        assert file.read_text(encoding="utf-8") == value
        assert file.stat().st_mode & 0o077 == 0


def _run(script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    given = {"PATH": "/usr/bin:/bin", **environment}
    return subprocess.run(["sh", "-c", script], env=given, capture_output=True, text=True, check=False)
