"""The search for a PostgreSQL server and a Chromium, and the hints if there is none."""

import os
import platform
import shutil
import socket
from pathlib import Path

import pytest

from bot.sandbox.postgresql import PROGRAMS, NoServer, installed
from tests.harness import chromium, machine, postgresql
from tests.harness.postgresql import answering, find


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def a_server(folder: Path) -> Path:
    for name in PROGRAMS:
        program(folder / name)
    return folder


def test_the_newest_of_several_installed_versions_comes_first(tmp_path: Path) -> None:
    for version in ("9.6", "16", "17"):
        a_server(tmp_path / version / "bin")
    found = installed({"PATH": ""}, [f"{tmp_path}/*/bin"])
    assert [folder.parent.name for folder in found] == ["17", "16", "9.6"]


def test_a_server_on_the_path_comes_before_the_usual_places_and_only_once(tmp_path: Path) -> None:
    first, second = a_server(tmp_path / "mine"), a_server(tmp_path / "17" / "bin")
    found = installed({"PATH": str(first)}, [f"{tmp_path}/mine", f"{tmp_path}/*/bin"])
    assert list(found) == [first, second]


def test_a_link_on_the_path_leads_to_the_folder_with_all_programs(tmp_path: Path) -> None:
    real = a_server(tmp_path / "15" / "bin")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "initdb").symlink_to(real / "initdb")
    assert list(installed({"PATH": str(tmp_path / "links")}, [])) == [real]


def test_a_client_without_a_server_is_not_enough(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "initdb")
    program(tmp_path / "bin" / "pg_ctl")
    assert list(installed({"PATH": str(tmp_path / "bin")}, [f"{tmp_path}/bin"])) == []


def test_a_server_that_answers_is_looked_for_where_and_as_whom_it_usually_does() -> None:
    urls = list(answering({}))
    assert urls[0] == "postgresql://postgres@/test?host=127.0.0.1&port=5432"
    assert any("%2Fvar%2Frun%2Fpostgresql" in url for url in urls)
    assert len(urls) == len(set(urls))


def test_the_variables_of_postgresqls_own_programs_come_first() -> None:
    named = {"PGHOST": "db.example", "PGPORT": "5433", "PGUSER": "emma", "PGDATABASE": "play"}
    assert next(answering(named)) == "postgresql://emma@/play?host=db.example&port=5433"


def test_a_server_that_was_named_but_does_not_answer_is_not_replaced_by_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(NoServer, match="not usable"):
        find({"TEST_POSTGRES_URL": f"postgresql://postgres@127.0.0.1:{port}/test", "PATH": os.environ["PATH"]})


def test_without_any_server_it_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "answering", lambda _: iter(()))
    with pytest.raises(NoServer, match=r"^not found$"):
        find({"PATH": ""}, [])


def test_an_own_server_that_does_not_start_is_replaced_by_one_that_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_server(tmp_path)
    tried = []

    def start(programs: Path, parent: Path, _: object) -> postgresql.Server:
        tried.append((programs, parent))
        raise NoServer("initdb: no space left")

    monkeypatch.setattr(postgresql, "start", start)
    monkeypatch.setattr(postgresql, "usable", lambda url: url)
    monkeypatch.setattr(postgresql, "at_end", lambda *_, **__: lambda: None)
    assert find({"PATH": ""}, [str(tmp_path)]).url.startswith("postgresql://postgres@/test?")
    assert {programs for programs, _ in tried} == {tmp_path}
    assert len(tried) == len({parent for _, parent in tried})


def test_why_an_own_server_does_not_start_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object) -> postgresql.Server:
        raise NoServer("initdb: no space left")

    monkeypatch.setattr(postgresql, "start", start)
    monkeypatch.setattr(postgresql, "answering", lambda _: iter(()))
    with pytest.raises(NoServer, match=r"^not started \(initdb: no space left\)$"):
        find({"PATH": ""}, [str(a_server(tmp_path))])


@pytest.mark.parametrize(
    ("system", "manager", "command"),
    [
        ("Linux", "apt-get", "`apt install postgresql`"),
        ("Linux", "dnf", "`dnf install postgresql`"),
        ("Darwin", "", "`brew install postgresql@17`"),
        ("FreeBSD", "", "the package postgresql"),
    ],
)
def test_each_system_has_its_way_to_install_it(
    system: str, manager: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name == manager else None)
    assert command in postgresql.hint()


def test_what_is_left_out_is_one_line_with_its_number_and_how_to_get_it() -> None:
    line = machine.format_skipped(machine.POSTGRESQL, "not found", 424)
    assert line.startswith("PostgreSQL not found: 424 tests left out. Install ")
    assert "\n" not in line
    assert machine.format_skipped(machine.BROWSER, "not found", 1).startswith(
        "Chromium not found: 1 test left out. Install "
    )


@pytest.mark.process
def test_a_chromium_that_only_says_what_to_install_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "chromium", "#!/bin/sh\necho requires the snap\nexit 1\n")
    works = program(tmp_path / "google-chrome")
    assert chromium.find({"PATH": str(tmp_path)}, []) == str(works)


@pytest.mark.process
def test_a_chromium_without_windows_comes_first(tmp_path: Path) -> None:
    program(tmp_path / "chromium")
    shell = program(tmp_path / "chromium-headless-shell")
    assert chromium.find({"PATH": str(tmp_path)}, []) == str(shell)
    build = tmp_path / ".cache" / "ms-playwright" / "chromium_headless_shell-1300"
    for path in ("chrome-linux/headless_shell", "chrome-headless-shell-linux64/chrome-headless-shell"):
        placed = program(build / path)
        assert chromium.find({"PATH": "", "HOME": str(tmp_path)}, chromium.PLACES) == str(placed)
        placed.unlink()


@pytest.mark.process
def test_a_chromium_elsewhere_is_found_and_playwrights_newest_wins(tmp_path: Path) -> None:
    for build in ("1200", "1300"):
        program(tmp_path / ".cache" / "ms-playwright" / f"chromium-{build}" / "chrome-linux" / "chrome")
    found = chromium.find({"PATH": "", "HOME": str(tmp_path)}, chromium.PLACES[-2:])
    assert "chromium-1300" in found


@pytest.mark.process
def test_a_chromium_that_was_named_but_does_not_start_is_not_replaced_by_another(tmp_path: Path) -> None:
    program(tmp_path / "chromium")
    with pytest.raises(chromium.NoChromium, match="/nowhere doesn't start"):
        chromium.find({"PATH": str(tmp_path), "CHROMIUM": "/nowhere"}, [])


def test_without_any_chromium_it_is_not_found() -> None:
    with pytest.raises(chromium.NoChromium, match=r"^not found$"):
        chromium.find({"PATH": "", "HOME": "/nowhere"}, [])
