"""Plant faults in a copy of the tree, one at a time, and say which test finds each: `python -m tests.planted_faults`.

The faults are in the `.toml` files beside this one. A file's `above` names the tests of its package and of those above
it. They run after a fault's own `tests`, as long as its time lasts. The tree itself is never changed.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
NOT_COPIED: Final = shutil.ignore_patterns(".git", ".venv*", ".*_cache", "__pycache__", "build")
FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
PYTEST: Final = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")
ALL_TESTS: Final = ("-n", "4", "--dist", "worksteal", "tests")
STOPS_WITHIN_SECONDS: Final = 20.0  # its servers, after an interrupt
FOUND, SURVIVED, OUTDATED, GONE = "found", "survived", "must be rewritten", "can no longer exist"
RED: Final = "judged by a test that fails without it, too"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault: the text `old`, which is in `file` once, becomes `new`. `gone` says why it can no longer exist."""

    sentence: str
    area: str
    above: Sequence[str]
    file: str = ""
    old: str = ""
    new: str = ""
    tests: Sequence[str] = ()
    gone: str = ""

    @property
    def problem(self) -> str:
        """Why it can't be planted though it could exist, or ""."""
        path, tests = ROOT / self.file, (*self.tests, *self.above)
        text = path.read_text() if path.is_file() else ""
        if text.count(self.old) != 1:
            return f"the text to replace is {text.count(self.old)} times in {self.file}"
        if missing := [test for test in tests if not (ROOT / test.partition("::")[0]).exists()]:
            return f"there is no {', '.join(missing)}"
        try:
            compile(text.replace(self.old, self.new), self.file, "exec")
        except SyntaxError as error:
            return f"{self.file} can't be compiled with it: {error}"
        return "" if self.gone or (self.tests and self.old != self.new) else "it changes nothing, or names no tests"


def read_faults(word: str) -> list[Fault]:
    """Return the faults with `word` in their area, file or sentence."""
    files = [(path.stem, tomllib.loads(path.read_text())) for path in sorted(Path(__file__).parent.glob("*.toml"))]
    found = [Fault(area=area, above=listed["above"], **each) for area, listed in files for each in listed["fault"]]
    return [each for each in found if word.lower() in f"{each.area} {each.file} {each.sentence}".lower()]


def run_tests(copy: Path, arguments: Sequence[str], seconds: float | None = None) -> str | None:
    """Return the test that failed in the copy, "" if none did, or None if the time was over."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    start = partial(subprocess.Popen[str], text=True, start_new_session=True, stderr=subprocess.STDOUT)
    with start((*PYTEST, *arguments), cwd=copy, env=environment, stdout=subprocess.PIPE) as pytest:
        try:
            output, _ = pytest.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            pytest.send_signal(signal.SIGINT)
            try:
                pytest.communicate(timeout=STOPS_WITHIN_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(pytest.pid, signal.SIGKILL)
            return None
    failed = FAILED.search(output)
    return failed[1] if failed else f"pytest ended with {pytest.returncode}: {output}" if pytest.returncode else ""


def judge(copies: "SimpleQueue[Path]", seconds: float | None, fault: Fault) -> tuple[Fault, str, str]:
    """Plant a fault in one of the copies. Return what became of it, and by which test. Without `seconds`, all run."""
    if fault.gone or fault.problem:
        return fault, GONE if fault.gone else OUTDATED, fault.gone or fault.problem
    copy, began = copies.get(), time.monotonic()
    text = (path := copy / fault.file).read_text()
    path.write_text(text.replace(fault.old, fault.new))
    try:
        found = run_tests(copy, fault.tests if seconds else ALL_TESTS, seconds)
        if found is None:
            return fault, SURVIVED, "Its own tests took longer than its time"
        if seconds and not found and (left := seconds - (time.monotonic() - began)) > 0:
            found = run_tests(copy, fault.above, left)
        path.write_text(text)
        if found and run_tests(copy, [found.partition("[")[0]]):
            return fault, RED, found
    finally:
        path.write_text(text)
        copies.put(copy)
    return (fault, FOUND, found) if found else (fault, SURVIVED, "")


def judge_all(faults: Sequence[Fault], jobs: int, seconds: float, *, by_all: bool) -> Counter[str]:
    """Judge faults in `jobs` copies at once, print a line for each, and return how many ended how."""
    copies, counts, survivors = SimpleQueue[Path](), Counter[str](), list[Fault]()
    with tempfile.TemporaryDirectory(prefix="planted-") as folder, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            copies.put(Path(shutil.copytree(ROOT, f"{folder}/{number}", ignore=NOT_COPIED)))
        for fault, result, why in pool.map(partial(judge, copies, seconds), faults):
            print(f"{result:<8} {fault.area}: {fault.sentence}. {why}", flush=True)  # noqa: T201
            survivors += [fault] if by_all and result == SURVIVED else []
            counts[result] += 1
        for fault in survivors:
            _, result, why = judge(copies, None, fault)
            print(f"{result:<8} by all: {fault.sentence}. {why}", flush=True)  # noqa: T201
            counts.update({SURVIVED: -1, result: 1})
    return counts


def main() -> int:
    """Judge the faults, or only check that each can be planted. Return 1 if one wasn't judged or survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted_faults")
    parser.add_argument("--only", default="", metavar="WORD", help="those with this word in area, file or sentence")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many at once")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each: half a minute, unless others work here")
    parser.add_argument("--survivors-by-all", action="store_true", help="judge survivors by the whole suite, too")
    parser.add_argument("--check", action="store_true", help="only check that each can be planted, in a second")
    chosen = parser.parse_args()
    faults = read_faults(chosen.only)
    if chosen.check:
        counts = Counter(OUTDATED if each.problem else "can be planted" for each in faults)
        print(*(f"{each.area}: {each.sentence}: {each.problem}\n" for each in faults if each.problem), sep="", end="")  # noqa: T201
    else:
        counts = judge_all(faults, chosen.jobs, chosen.seconds, by_all=chosen.survivors_by_all)
    print(", ".join(f"{count} {result}" for result, count in counts.items() if count))  # noqa: T201
    return bool(counts[SURVIVED] + counts[OUTDATED] + counts[RED])


if __name__ == "__main__":
    sys.exit(main())
