"""`make` and `.ci/run` on machines that lack programs, tested with fake programs."""

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
NO_ANSWER = "echo WARNING: Retrying >&2; echo ERROR: No matching distribution found for aiohttp >&2; exit 1"


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
    for name in (*TOOLS, "cat", "chmod", "cksum", "cut"):
        (folder / name).symlink_to(shutil.which(name) or "/nowhere")
    return folder


def program(path: Path, text: str = "") -> Path:
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def a_python(path: Path, version: str = "3.14", *, venv: str = MAKES_ONE, pip: str = "true") -> Path:
    too_old = int(tuple(map(int, version.split("."))) < (3, 11))
    return program(path, PYTHON.format(version=version, too_old=too_old, venv=venv, pip=pip))


def run(project: Path, tools: Path, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(tools), "HOME": str(project), "SYSTEM_PYTHON": str(tools / "system-python")} | settings
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("python", "said"),
    [
        (None, "Python 3.11 or newer"),
        ({"version": "3.9"}, 'Python 3.11 or newer, and "python3" is Python 3.9'),
        ({"version": "3.10"}, 'Python 3.11 or newer, and "python3" is Python 3.10'),
        ({"venv": "echo ensurepip is not available; exit 1"}, "apt install python3-venv"),
        ({"pip": NO_ANSWER}, "ERROR: No matching distribution found for aiohttp). Check the connection to your"),
    ],
)
def test_what_is_missing_is_one_sentence(project: Path, tools: Path, python: dict[str, str] | None, said: str) -> None:
    if python is not None:
        a_python(tools / "python3", **python)
    done = run(project, tools, "make", "run")
    assert done.returncode != 0
    sentence, of_make = done.stderr.splitlines()
    assert said in sentence
    assert of_make.startswith("make: ***")


def test_another_python_than_that_of_the_environment_is_not_silently_passed_over(project: Path, tools: Path) -> None:
    a_python(tools / "python3", "3.12")
    assert run(project, tools, "make", "run").returncode == 0
    newer = a_python(project / "my python", "3.14")  # also its path may have a space
    said = run(project, tools, "make", "run", f"PYTHON={newer}").stderr
    assert "made with Python 3.12, not 3.14" in said
    assert "VENV=.venv-3.14" in said
    done = run(project, tools, "make", "run", f"PYTHON={newer}", "VENV=.venv-3.14", "ARGS=--help")
    assert done.stdout.splitlines()[-1] == "started: -m bot sandbox --help"


def test_running_installs_only_what_it_needs_and_the_tools_come_with_the_tests(project: Path, tools: Path) -> None:
    calls = tools.parent / "pip-calls"
    a_python(tools / "python3", pip=f'echo "$*" >> "{calls}"; echo "Collecting aiohttp"')
    program(tools / "find")
    first = run(project, tools, "make", "run").stdout.splitlines()
    assert re.fullmatch(r"Setting up \.venv with \d+ packages\. This takes about a minute, only this time\.", first[0])
    assert run(project, tools, "make", "run").stdout.splitlines() == ["started: -m bot sandbox"]
    assert "up to date" in run(project, tools, "make", "check-rest").stdout
    run(project, tools, "make", "run")
    locks = [line.split()[-1] for line in calls.read_text().splitlines()]
    assert locks == ["requirements.lock", "requirements-dev.lock"]


def test_an_environment_that_is_there_keeps_its_python(project: Path, tools: Path) -> None:
    a_python(tools / "python3")
    program(tools / "find")
    assert run(project, tools, "make", "run").returncode == 0
    # Another build of the same version: with a mixture of both, Python can't even import ssl.
    other = a_python(tools / "other", venv="echo rebuilt >&2; exit 1")
    assert run(project, tools, "make", "check-rest", f"PYTHON={other}").returncode == 2  # hadolint is missing here
    assert "rebuilt" not in (project / ".venv" / "install.log").read_text()


def test_uv_is_used_where_it_is(project: Path, tools: Path) -> None:
    calls = tools.parent / "uv-calls"
    python = a_python(tools / "python3", venv="exit 1", pip="exit 1")
    make_one = f'mkdir -p .venv/bin; cat "{python}" > .venv/bin/python; chmod +x .venv/bin/python'
    program(tools / "uv", f'echo "$*" >> "{calls}"\n[ "$1" != venv ] || {{ {make_one}; }}')
    assert run(project, tools, "make", "run").stdout.splitlines()[-1] == "started: -m bot sandbox"
    made, installed = calls.read_text().splitlines()
    assert made.startswith("venv ")
    assert installed.endswith("--require-hashes --no-deps -r requirements.lock")


@pytest.mark.parametrize(
    ("system_python", "used"),
    [("exit 0", "system-python"), ("exit 1", "python3"), ('case "$*" in *ensurepip*) exit 1 ;; esac', "python3")],
    ids=["new enough", "too old", "without venv"],
)
def test_ci_installs_what_is_missing_and_runs_check_and_test(
    project: Path, tools: Path, system_python: str, used: str
) -> None:
    calls = tools.parent / "calls"
    for name in ("apt-get", "sudo"):
        program(tools / name, f'echo "{name} $*" >> "{calls}"; [ {name} = apt-get ] || {{ shift 1; "$@"; }}')
    program(tools / "make", f'echo "make $* CI=$CI PYTHON=${{PYTHON##*/}}" >> "{calls}"')
    program(tools / "initdb")
    a_python(tools / "python3")
    program(tools / "system-python", system_python)
    assert run(project, tools, "bash", ".ci/run").returncode == 0
    *installing, check, test = calls.read_text().splitlines()
    assert [check, test] == [f"make {what} CI=true PYTHON={used}" for what in ("check", "test")]
    (installed,) = (line for line in installing if line.startswith("apt-get install"))
    assert {"chromium", "prometheus"} <= set(installed.split())
    program(tools / "make", f'echo "make $*" >> "{calls}"; exit 2')
    assert run(project, tools, "bash", ".ci/run").returncode == 2


def test_digests_are_put_behind_the_names_of_all_images(project: Path, tools: Path) -> None:
    program(tools / "docker", 'for image; do :; done\necho "sha256:$(echo "$image" | cksum | cut -d " " -f 1)"')
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
