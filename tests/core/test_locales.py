"""A language file that is broken or incomplete is found at the start, not when a user needs it."""

import shutil
from importlib import import_module
from pathlib import Path

import pytest

import bot.core.locales

FOLDER = Path(bot.core.locales.__file__).parent


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("[phrase]", "[other]", r"the language file id\.toml lacks: phrase$"),
        ("locale.", "other.", r"the language file id\.toml lacks: locale$"),
        ("[phrase]", "[phrase", r"the language file id\.toml can't be read: .+ \(at line \d+, column \d+\)"),
        ("[phrase]", "# \udcff\n[phrase]", r"the language file id\.toml can't be read: .*utf-8"),
    ],
    ids=["without phrases", "without its name", "malformed", "not UTF-8"],
)
def test_a_broken_language_file_is_named_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str, reason: str
) -> None:
    package = Path(shutil.copytree(FOLDER, tmp_path / f"{tmp_path.name}_languages"))
    file = package / "id.toml"
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8", errors="surrogateescape")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match=reason):
        import_module(package.name)
