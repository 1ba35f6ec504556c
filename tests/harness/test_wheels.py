"""The check whether a lock file can be installed on other Pythons and platforms."""

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.harness.wheels import Target, main, pins, unmet, wanted

LINUX = Target("3.14", "linux-x86_64")
MACOS = Target("3.11", "macos-arm64")
LOCK = """\
# no header
uvloop==0.22 ; sys_platform == 'linux' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
tomli==2.4 ; python_full_version < '3.12' \\
    --hash=sha256:cc
yarl==1.20 \\
    --hash=sha256:dd
"""


def test_a_lock_file_is_read_line_by_line_with_its_hashes() -> None:
    assert [line.split()[0] for line in pins(LOCK)] == ["uvloop==0.22", "tomli==2.4", "yarl==1.20"]


def test_conditions_are_compared_with_the_target_and_not_with_this_python() -> None:
    assert wanted(pins(LOCK), LINUX) == [
        "uvloop==0.22 --hash=sha256:aa --hash=sha256:bb",
        "yarl==1.20 --hash=sha256:dd",
    ]
    assert wanted(pins(LOCK), MACOS) == ["tomli==2.4 --hash=sha256:cc", "yarl==1.20 --hash=sha256:dd"]


def test_what_a_package_needs_has_to_be_locked_in_a_fitting_version() -> None:
    found: list[dict[str, Any]] = [
        {"name": "Web-App", "version": "2.0", "requires_dist": ["yarl>=1.22", "tomli; python_version < '3.12'"]},
        {"name": "yarl", "version": "1.20"},
    ]
    assert unmet(["web_app>=1"], found, LINUX) == ["web-app needs yarl>=1.22, which is 1.20"]
    assert unmet(["web_app>=1"], found, MACOS) == [
        "web-app needs tomli, which is not locked",
        "web-app needs yarl>=1.22, which is 1.20",
    ]


def test_an_extra_counts_only_where_it_is_asked_for() -> None:
    found: list[dict[str, Any]] = [
        {"name": "orm", "version": "2.0", "requires_dist": ["driver; extra == 'fast'", "pool"]},
        {"name": "pool", "version": "1.0", "requires_dist": ["orm"]},
    ]
    assert unmet(["orm"], found, LINUX) == []
    assert unmet(["pool", "orm[fast]"], found, LINUX) == ["orm needs driver, which is not locked"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a lock file of two packages. One has a wheel only for Python 3.11 on Linux."""
    index = tmp_path / "index"
    index.mkdir()
    locked = []
    for name, tag in (("pure", "py3-none-any"), ("native", "cp311-cp311-manylinux2014_x86_64")):
        wheel = index / f"{name}-1.0-{tag}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            archive.writestr(f"{name}-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
            archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
        locked.append(f"{name}==1.0 \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    (tmp_path / "requirements-dev.lock").write_text("".join(locked))
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nrequires-python = ">=3.11,<3.13"\ndependencies = ["pure"]\n[dependency-groups]\ndev = ["native"]\n'
    )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return tmp_path


@pytest.mark.process
def test_each_target_is_named_with_what_it_lacks(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--python", "3.11", "--platform", "linux-x86_64"], project) == 0
    assert capsys.readouterr().out == "Python 3.11 on linux-x86_64: a wheel for each of 2 packages\n"
    assert main(["--python", "3.13", "--platform", "linux-x86_64"], project) == 1
    title, native, allowed = capsys.readouterr().out.splitlines()
    assert title == "Python 3.13 on linux-x86_64: missing"
    assert native.startswith("  native==1.0: ")
    assert "requires-python" in allowed


@pytest.mark.process
def test_a_wheel_that_was_replaced_since_is_no_locked_one(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(project / "index" / "pure-1.0-py3-none-any.whl", "a") as archive:
        archive.writestr("pure.py", "")
    assert main(["--python", "3.11", "--platform", "linux-x86_64"], project) == 1
    assert "  pure==1.0: " in capsys.readouterr().out
