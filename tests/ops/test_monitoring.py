"""What Prometheus and Grafana get in compose.yaml: every bot, the alerts, a data source and the dashboard."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ops import compose
from tests.ops.compose import ROOT

COMPOSE = compose.read()
OPS = ROOT / "ops"
PROVISIONING = "/etc/grafana/provisioning/"


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _mounts(service: str) -> dict[str, Path]:
    """Return which file or folder of the repository a service has where."""
    parts = [each.split(":") for each in COMPOSE.services[service]["volumes"]]
    return {target: ROOT / source for source, target, *_ in parts if source.startswith("./")}


def _targets(path: Path) -> list[str]:
    return [target for group in _read(path) for target in group["targets"]]


def test_prometheus_reads_every_bot() -> None:
    bots = COMPOSE.find_bots().items()
    expected = [f"{name}:{compose.read_settings(each).metrics_port}" for name, each in bots]
    assert _targets(_mounts("prometheus")["/etc/prometheus/targets.yaml"]) == expected
    assert {str(compose.read_settings(each).metrics_host) for _, each in bots} == {"0.0.0.0"}  # noqa: S104  in the network


def test_prometheus_starts_with_the_configuration_that_ships() -> None:
    (option,) = [each for each in COMPOSE.services["prometheus"]["command"] if each.startswith("--config.file=")]
    path = Path(option.partition("=")[2])
    configuration = _mounts("prometheus")[str(path.parent)] / path.name
    assert configuration.samefile(OPS / "prometheus.yaml")
    needed = [*_read(configuration)["rule_files"], "targets.yaml"]
    assert all((configuration.parent / name).is_file() for name in needed)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool isn't installed")
@pytest.mark.process
def test_promtool_accepts_the_configuration_with_the_targets_of_compose(tmp_path: Path) -> None:
    """It also reads the files of targets."""
    for name in ("prometheus.yaml", "alerts.yaml"):
        shutil.copy(OPS / name, tmp_path)
    targets = tmp_path / "targets.yaml"
    shutil.copy(OPS / "compose/prometheus/targets.yaml", targets)
    assert _promtool_accepts(tmp_path / "prometheus.yaml")
    targets.write_text("- target: [bot]\n", encoding="utf-8")
    assert not _promtool_accepts(tmp_path / "prometheus.yaml")


def _promtool_accepts(configuration: Path) -> bool:
    done = subprocess.run(
        ["promtool", "check", "config", str(configuration)], capture_output=True, check=False, timeout=60
    )
    return done.returncode == 0


def test_grafana_has_one_default_data_source_that_reads_prometheus() -> None:
    folder = _mounts("grafana")[f"{PROVISIONING}datasources"]
    (source,) = [source for path in folder.glob("*.yaml") for source in _read(path)["datasources"]]
    assert (source["type"], source["isDefault"]) == ("prometheus", True)
    assert source["url"] == "http://prometheus:9090"
    assert "prometheus" in COMPOSE.services
    interval = _read(OPS / "prometheus.yaml")["global"]["scrape_interval"]
    assert source["jsonData"]["timeInterval"] == interval


def test_grafana_finds_the_dashboard_and_nothing_else() -> None:
    mounts = _mounts("grafana")
    (provider,) = _read(mounts[f"{PROVISIONING}dashboards"] / "kirim.yaml")["providers"]
    assert provider["type"] == "file"
    assert list(mounts[provider["options"]["path"]].rglob("*.json")) == [OPS / "grafana.json"]
