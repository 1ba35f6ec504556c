"""Ask the package index whether the lock file can be installed on each supported Python, without a compiler.

`make wheels` runs it. For each Python and platform it prints what is missing, and fails if anything is: a wheel whose
hash is locked, or a package that another one needs in a version that isn't locked. It asks through pip, so the index is
the one that pip is set up for. Nothing is installed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
PLATFORMS = ("linux-x86_64", "linux-aarch64", "macos-arm64")
NEWEST_GLIBC_MINOR = 28
"""Wheels for glibc 2.28 work on every maintained Linux."""
NEWEST_MACOS = "macosx_14_0"
AT_ONCE = 4


@dataclass(frozen=True)
class Target:
    """One Python on one platform."""

    python: str
    platform: str

    @property
    def markers(self) -> dict[str, str]:
        """The values that the conditions of a lock file are compared with."""
        system, _, machine = self.platform.partition("-")
        linux = system == "linux"
        return {
            "python_version": self.python,
            "python_full_version": f"{self.python}.0",
            "implementation_name": "cpython",
            "implementation_version": f"{self.python}.0",
            "platform_python_implementation": "CPython",
            "os_name": "posix",
            "sys_platform": "linux" if linux else "darwin",
            "platform_system": "Linux" if linux else "Darwin",
            "platform_machine": machine,
            "extra": "",
        }

    @property
    def options(self) -> list[str]:
        """The options that make pip select wheels for this target."""
        system, _, machine = self.platform.partition("-")
        if system == "linux":
            tags = [f"manylinux_2_{minor}_{machine}" for minor in range(NEWEST_GLIBC_MINOR, 4, -1)]
            tags += [f"{name}_{machine}" for name in ("manylinux2014", "manylinux2010", "manylinux1", "linux")]
        else:
            tags = [f"{NEWEST_MACOS}_{machine}"]
        digits = self.python.replace(".", "")
        chosen = ["--python-version", self.python, "--implementation", "cp"]
        chosen += [option for abi in (f"cp{digits}", "abi3", "none") for option in ("--abi", abi)]
        return chosen + [option for tag in tags for option in ("--platform", tag)]

    def __str__(self) -> str:
        return f"Python {self.python} on {self.platform}"


def pins(lock: str) -> list[str]:
    """Return each requirement of a lock file with its condition and its hashes, on one line."""
    joined = lock.replace("\\\n", " ").splitlines()
    return [" ".join(line.split()) for line in joined if re.match(r"[A-Za-z0-9]", line)]


def wanted(pinned: Iterable[str], target: Target) -> list[str]:
    """Return the requirements whose condition holds on `target`, without the condition."""
    chosen = []
    for line in pinned:
        requirement, _, hashes = line.partition(" --hash")
        parsed = Requirement(requirement)
        if parsed.marker is None or parsed.marker.evaluate(target.markers):
            # pip would compare a condition with the Python that it runs on.
            chosen.append(f"{parsed.name}{parsed.specifier} --hash{hashes}")
    return chosen


def missing(pinned: Sequence[str], target: Target, needed: Sequence[str]) -> list[str]:
    """Return what prevents the installation of the lock file on `target`. `needed` are the project's requirements."""
    requirements = wanted(pinned, target)
    why, found = _ask(requirements, target)
    if not why:
        return unmet(needed, found, target)
    # pip stops at the first missing package, so each package is requested separately.
    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = threads.map(lambda line: _ask([line], target)[0], requirements)
        return [f"{line.split()[0]}: {why}" for line, why in zip(requirements, answers, strict=True) if why] or [why]


def unmet(needed: Iterable[str], found: Iterable[Mapping[str, Any]], target: Target) -> list[str]:
    """Return the requirements of the project and its packages that the found packages don't meet.

    `found` is the metadata of packages: `name`, `version` and, in some, `requires_dist`.
    """
    packages = {canonicalize_name(each["name"]): each for each in found}
    lacks: list[str] = []
    seen: set[tuple[str, str]] = set()
    waiting = [("the project", Requirement(each), "") for each in needed]
    while waiting:
        asker, requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({**target.markers, "extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        package = packages.get(name)
        if package is None or not requirement.specifier.contains(package["version"], prereleases=True):
            locked = package["version"] if package else "not locked"
            lacks.append(f"{asker} needs {name}{requirement.specifier}, which is {locked}")
            continue
        for wanted_extra in {"", *requirement.extras} - {each for known, each in seen if known == name}:
            seen.add((name, wanted_extra))
            waiting += [(name, Requirement(each), wanted_extra) for each in package.get("requires_dist", ())]
    return sorted(set(lacks))


def _ask(requirements: Sequence[str], target: Target) -> tuple[str, list[Mapping[str, Any]]]:
    """Return pip's last line about what it can't install, or nothing and the packages' metadata."""
    with tempfile.TemporaryDirectory(prefix="kirim-wheels-") as folder:
        asked, report = Path(folder) / "requirements.txt", Path(folder) / "report.json"
        asked.write_text("\n".join(requirements))
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
                *("--dry-run", "--ignore-installed", "--no-deps", "--require-hashes", "--only-binary=:all:"),
                *("--report", str(report), "--target", folder, *target.options, "-r", str(asked)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if not done.returncode:
            return "", [each["metadata"] for each in json.loads(report.read_text())["install"]]
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return (errors or done.stderr.splitlines() or [f"exit code {done.returncode}"])[-1].removeprefix("ERROR: "), []


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Print what is missing for each target. The exit code is 1 if anything is."""
    parser = argparse.ArgumentParser(prog="make wheels", description=__doc__)
    parser.add_argument("--python", nargs="+", default=PYTHONS)
    parser.add_argument("--platform", nargs="+", choices=PLATFORMS, default=PLATFORMS)
    given = parser.parse_args(arguments)
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    allowed = SpecifierSet(settings["project"]["requires-python"])
    needed = list(settings["project"]["dependencies"])
    for more in settings["project"].get("optional-dependencies", {}), settings["dependency-groups"]:
        needed += [each for group in more.values() for each in group if isinstance(each, str)]
    pinned = pins((root / "requirements-dev.lock").read_text())
    complete = True
    for target in (Target(python, platform) for python in given.python for platform in given.platform):
        lacks = missing(pinned, target, needed)
        if f"{target.python}.0" not in allowed:
            lacks.append(f"requires-python in pyproject.toml is {allowed}")
        complete = complete and not lacks
        result = "missing" if lacks else f"a wheel for each of {len(wanted(pinned, target))} packages"
        print("\n  ".join([f"{target}: {result}", *lacks]), flush=True)  # noqa: T201
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
