"""The alerts that ship: they use metrics that exist, say what to do, and fire when they should."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.config import Settings
from tests.architecture.documents import ROOT, part
from tests.ops.expressions import find_mistakes, find_uses

OPS = ROOT / "ops"
SCENARIOS = [Path(__file__).with_name(f"{name}.yaml") for name in ("alert_scenarios", "alert_scenarios_of_minutes")]
ALERTS: dict[str, dict[str, Any]] = {
    rule["alert"]: rule
    for group in yaml.safe_load((OPS / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
}
needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool isn't installed")
each_alert = pytest.mark.parametrize("name", ALERTS)


@each_alert
def test_an_alert_uses_metrics_and_labels_that_exist(name: str) -> None:
    assert find_uses(ALERTS[name]["expr"])
    assert find_mistakes(ALERTS[name]["expr"]) == []


@each_alert
def test_an_alert_names_settings_that_exist(name: str) -> None:
    named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", str(ALERTS[name]["annotations"])))
    assert named <= {setting.upper() for setting in Settings.model_fields}


def test_the_runbook_describes_every_alert_in_order_and_no_other() -> None:
    described = re.findall(r"^### (\w+)$", part("alerts"), re.MULTILINE)
    assert described == list(ALERTS)


def test_prometheus_reads_the_alerts_and_the_port_of_the_documents() -> None:
    settings = yaml.safe_load((OPS / "prometheus.yaml").read_text(encoding="utf-8"))
    assert settings["rule_files"] == ["alerts.yaml"]
    (job,) = settings["scrape_configs"]
    assert job["job_name"] == "kirim"
    assert job["file_sd_configs"] == [{"files": ["targets.yaml"]}]
    ((target,),) = (each["targets"] for each in yaml.safe_load((OPS / "targets.yaml").read_text(encoding="utf-8")))
    assert f"METRICS_PORT={target.partition(':')[2]}" in part("metrics-set-up")
    seconds = {settings["global"][name] for name in ("scrape_interval", "evaluation_interval")}
    assert seconds == {"5s"}
    assert min(int(rule["for"][:-1]) for rule in ALERTS.values() if re.fullmatch(r"[1-9]\d*s", rule["for"])) >= 15


@each_alert
def test_an_alert_has_a_scenario_in_which_it_fires_and_one_in_which_it_does_not(name: str) -> None:
    titles = [each["name"] for each in _read_scenarios()]
    found = {title.partition(": ")[0] for title in titles if re.fullmatch(rf"\w+: {name}(?: \(.*\))?", title)}
    assert found == {"fires", "quiet"}


@needs_promtool
@pytest.mark.process
def test_prometheus_accepts_the_configuration_and_the_alerts() -> None:
    _promtool("check", "config", str(OPS / "prometheus.yaml"))
    _promtool("check", "rules", "--lint-fatal", str(OPS / "alerts.yaml"))


@needs_promtool
@pytest.mark.process
def test_alerts_fire_when_they_should_and_only_then() -> None:
    _promtool("test", "rules", *map(str, SCENARIOS))


def _read_scenarios() -> list[dict[str, Any]]:
    return [each for file in SCENARIOS for each in yaml.safe_load(file.read_text(encoding="utf-8"))["tests"]]


def _promtool(*arguments: str) -> None:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
