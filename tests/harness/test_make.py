"""`make` and `.ci/run` on machines that lack programs, tested with fake programs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("sh", "bash", "make", "env", "sed", "mkdir", "touch", "grep", "tail", "head", "rm", "dirname", "id", "getconf")
PYTHON = """#!/bin/sh
case "$*" in
  *print*) echo {version} ;;
  *version_info*) exit {too_old} ;;
  *"-m venv"*) {venv} ;;
  *"-m pip"*) {pip} ;;
  *) echo "started: $*" ;;
esac
"""
MAKES_ONE = (
    'for folder; do :; done; mkdir -p "$folder/bin"; cat "$0" > "$folder/bin/python"; chmod +x "$folder/bin/python"'
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the files that `make` reads. Its name contains a space."""
    folder = tmp_path / "a b" / "kirim"
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """The only folder on the PATH."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in (*TOOLS, "cat", "chmod"):
        (folder / name).symlink_to(shutil.which(name) or "/nowhere")
    return folder


def program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def a_python(path: Path, version: str = "3.14", *, venv: str = MAKES_ONE, pip: str = "true") -> Path:
    too_old = int(tuple(map(int, version.split("."))) < (3, 11))
    return program(path, PYTHON.format(version=version, too_old=too_old, venv=venv, pip=pip))


def run(project: Path, tools: Path, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(tools), "HOME": str(project), "SYSTEM_PYTHON": str(tools / "system-python")} | settings
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """Return the output before make's own line about the failure."""
    assert done.returncode != 0
    said, makes = done.stderr.splitlines()
    assert makes.startswith("make: ***")
    return said


@pytest.mark.parametrize("version", ["2.7", "3.9", "3.10"])
def test_a_python_that_is_too_old_is_named_with_the_oldest_that_works(project: Path, tools: Path, version: str) -> None:
    old = a_python(tools / "old", version)
    said = sentence(run(project, tools, "make", "test", f"PYTHON={old}"))
    assert "Python 3.11 or newer" in said
    assert f"is Python {version}" in said
    assert not (project / ".venv").exists()


def test_without_any_python_the_sentence_says_which_is_needed(project: Path, tools: Path) -> None:
    assert "Python 3.11 or newer" in sentence(run(project, tools, "make", "run"))


def test_another_python_than_that_of_the_environment_is_not_silently_passed_over(project: Path, tools: Path) -> None:
    a_python(tools / "python3", "3.12")
    assert run(project, tools, "make", "run").returncode == 0
    newer = a_python(tools / "newer", "3.14")
    said = sentence(run(project, tools, "make", "run", f"PYTHON={newer}"))
    assert "made with Python 3.12, not 3.14" in said
    assert "VENV=.venv-3.14" in said
    assert run(project, tools, "make", "run", f"PYTHON={newer}", "VENV=.venv-3.14").returncode == 0


def test_an_old_default_python_does_not_matter_once_the_environment_is_made(project: Path, tools: Path) -> None:
    newer = a_python(tools / "newer", "3.14")
    assert run(project, tools, "make", "run", f"PYTHON={newer}").returncode == 0
    a_python(tools / "python3", "3.9")
    assert run(project, tools, "make", "run").returncode == 0


def test_a_python_without_its_venv_module_says_what_to_install(project: Path, tools: Path) -> None:
    a_python(tools / "python3", venv="echo ensurepip is not available; exit 1")
    assert "apt install python3-venv" in sentence(run(project, tools, "make", "test"))


def test_an_index_that_does_not_answer_is_one_sentence_with_pips_last_error(project: Path, tools: Path) -> None:
    pip = "echo WARNING: Retrying >&2; echo ERROR: No matching distribution found for aiohttp >&2; exit 1"
    a_python(tools / "python3", pip=pip)
    said = sentence(run(project, tools, "make", "test"))
    assert "ERROR: No matching distribution found for aiohttp" in said
    assert "connection to your package index" in said
    assert "Retrying" in (project / ".venv" / "install.log").read_text()


def test_running_installs_only_what_it_needs_and_the_tools_come_with_the_tests(project: Path, tools: Path) -> None:
    calls = tools.parent / "pip-calls"
    a_python(tools / "python3", pip=f'echo "$*" >> "{calls}"; echo "Collecting aiohttp"')
    program(tools / "find", "#!/bin/sh\n")
    first = run(project, tools, "make", "run").stdout.splitlines()
    assert re.fullmatch(r"Setting up \.venv with \d+ packages\. This takes about a minute, only this time\.", first[0])
    assert run(project, tools, "make", "run").stdout.splitlines() == ["started: -m bot sandbox"]
    assert "up to date" in run(project, tools, "make", "check-rest").stdout
    run(project, tools, "make", "run")
    locks = [line.split()[-1] for line in calls.read_text().splitlines()]
    assert locks == ["requirements.lock", "requirements-dev.lock"]


def test_an_environment_that_is_there_keeps_its_python(project: Path, tools: Path) -> None:
    a_python(tools / "python3")
    program(tools / "find", "#!/bin/sh\n")
    assert run(project, tools, "make", "run").returncode == 0
    # Another build of the same version: with a mixture of both, Python can't even import ssl.
    other = a_python(tools / "other", venv="echo rebuilt >&2; exit 1")
    assert run(project, tools, "make", "check-rest", f"PYTHON={other}").returncode == 2  # hadolint is missing here
    assert "rebuilt" not in (project / ".venv" / "install.log").read_text()


def test_uv_is_used_where_it_is(project: Path, tools: Path) -> None:
    calls = tools.parent / "uv-calls"
    python = a_python(tools / "python3", venv="exit 1", pip="exit 1")
    make_one = f'mkdir -p .venv/bin; cat "{python}" > .venv/bin/python; chmod +x .venv/bin/python'
    program(tools / "uv", f'#!/bin/sh\necho "$*" >> "{calls}"\n[ "$1" != venv ] || {{ {make_one}; }}\n')
    assert run(project, tools, "make", "run").stdout.splitlines()[-1] == "started: -m bot sandbox"
    made, installed = calls.read_text().splitlines()
    assert made.startswith("venv ")
    assert installed.startswith("pip install ")
    assert installed.endswith("--require-hashes --no-deps -r requirements.lock")


def test_a_path_with_spaces_works_for_the_project_and_for_python(project: Path, tools: Path) -> None:
    python = a_python(project / "my python")
    done = run(project, tools, "make", "run", "ARGS=--help", f"PYTHON={python}")
    assert done.stdout.splitlines()[-1] == "started: -m bot sandbox --help"


@pytest.fixture
def ci(tools: Path) -> Path:
    """A machine on which apt-get and make only record their arguments."""
    log = tools.parent / "calls"
    for name in ("apt-get", "make", "sudo"):
        (tools / name).unlink(missing_ok=True)
        python = "" if name != "make" else " PYTHON=${PYTHON##*/}"
        program(tools / name, f'#!/bin/sh\n[ "$1" != -n ] || shift 1\necho "{name} $* CI=$CI{python}" >> "{log}"\n')
    return log


def test_ci_calls_check_and_test_and_nothing_of_its_own(project: Path, tools: Path, ci: Path) -> None:
    for name in ("chromium", "initdb", "promtool", "prometheus-alertmanager", "caddy", "pgbouncer"):
        program(tools / name, "#!/bin/sh\n")
    a_python(tools / "python3")
    assert run(project, tools, "bash", ".ci/run").returncode == 0
    assert ci.read_text().splitlines() == ["make check CI=true PYTHON=python3", "make test CI=true PYTHON=python3"]


@pytest.mark.parametrize(
    ("version", "used"), [("3.11", "system-python"), ("3.14", "system-python"), ("3.9", "python3")]
)
def test_ci_uses_the_systems_python_if_it_is_new_enough(
    project: Path, tools: Path, ci: Path, version: str, used: str
) -> None:
    a_python(tools / "python3")
    a_python(tools / "system-python", version)
    assert run(project, tools, "bash", ".ci/run").returncode == 0
    assert ci.read_text().splitlines()[-2:] == [f"make {what} CI=true PYTHON={used}" for what in ("check", "test")]


def test_ci_uses_the_python_that_is_named(project: Path, tools: Path, ci: Path) -> None:
    for name in ("python3", "system-python", "mine"):
        a_python(tools / name)
    assert run(project, tools, "bash", ".ci/run", PYTHON="mine").returncode == 0
    assert ci.read_text().splitlines()[-1] == "make test CI=true PYTHON=mine"


def test_ci_uses_the_other_python_where_that_of_the_system_has_no_venv_module(
    project: Path, tools: Path, ci: Path
) -> None:
    a_python(tools / "python3")
    program(tools / "system-python", '#!/bin/sh\ncase "$*" in *ensurepip*) exit 1 ;; esac\n')
    assert run(project, tools, "bash", ".ci/run").returncode == 0
    assert "python3-venv" in ci.read_text()
    assert ci.read_text().splitlines()[-1] == "make test CI=true PYTHON=python3"


@pytest.mark.skipif(os.geteuid() != 0, reason="others install through sudo")
def test_ci_installs_what_is_missing_first(project: Path, tools: Path, ci: Path) -> None:
    program(tools / "initdb", "#!/bin/sh\n")
    program(tools / "python3", "#!/bin/sh\nexit 1\n")
    assert run(project, tools, "bash", ".ci/run").returncode == 0
    update, install, *makes = ci.read_text().splitlines()
    assert update.startswith("apt-get update")
    assert install.startswith("apt-get install")
    assert {"chromium", "prometheus", "python3-venv"} <= set(install.split())
    assert len(makes) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="others install through sudo")
def test_ci_makes_the_environment_while_it_installs_packages(project: Path, tools: Path, ci: Path) -> None:
    program(tools / "initdb", "#!/bin/sh\n")
    a_python(tools / "python3")
    assert run(project, tools, "bash", ".ci/run").returncode == 0
    *installing, check, test = (line.partition(" CI=true")[0] for line in ci.read_text().splitlines())
    assert (check, test) == ("make check", "make test")
    assert sorted(line.split(" ")[:2] for line in installing) == [
        ["apt-get", "install"],
        ["apt-get", "update"],
        ["make", ".venv/.installed"],
    ]


def test_ci_stops_at_the_first_failure(project: Path, tools: Path, ci: Path) -> None:
    for name in ("chromium", "initdb", "promtool", "prometheus-alertmanager", "caddy", "pgbouncer", "python3"):
        program(tools / name, "#!/bin/sh\n")
    program(tools / "make", f'#!/bin/sh\necho "make $*" >> "{ci}"\nexit 2\n')
    assert run(project, tools, "bash", ".ci/run").returncode == 2
    assert ci.read_text() == "make check\n"


def test_digests_are_put_behind_the_names_of_all_images(project: Path, tools: Path) -> None:
    text = 'for image; do :; done\necho "sha256:$(echo "$image" | cksum | cut -d " " -f 1)"\n'
    program(tools / "docker", f"#!/bin/sh\n{text}")
    for name in ("cksum", "cut"):
        (tools / name).symlink_to(shutil.which(name) or "/nowhere")
    files = [project / "Dockerfile", project / "compose.yaml"]
    before = [(ROOT / path.name).read_text(encoding="utf-8") for path in files]
    for path, text in zip(files, before, strict=True):
        path.write_text(text, encoding="utf-8")
    outputs = [run(project, tools, "make", "digests").stdout for _ in range(2)]
    assert outputs[0] == outputs[1]
    named = re.findall(r" (\S+)@sha256:\d+$", outputs[0], re.MULTILINE)
    images = {each for text in before for each in re.findall(r"^\s+image: (\S+:\S+)$", text, re.MULTILINE)}
    assert set(named) == images | {"python:3.13-slim"}
    for path, text in zip(files, before, strict=True):
        after = path.read_text(encoding="utf-8")
        assert re.sub(r"@sha256:\d+", "", after) == text
        assert after.count("@sha256:") == len(re.findall(r"^ +image: \S+:|^ARG PYTHON_IMAGE=", text, re.MULTILINE))
