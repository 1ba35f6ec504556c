"""A newer version of the program, with one more migration, for tests of upgrades."""

import shutil
from pathlib import Path

import pytest

from bot.infra.db import migrate

REVISION = f"{int(migrate.get_expected_revision()) + 1:04}"
MIGRATION = f'''
"""One more column."""

import sqlalchemy as sa
from alembic import op

revision = "{REVISION}"
down_revision = "{migrate.get_expected_revision()}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("users", sa.Column("nickname", sa.Text))
'''


def become_the_next_version(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add one more migration to this process until the test ends. `folder` is an empty folder for its files."""
    migrations = folder / "migrations"
    shutil.copytree(migrate.MIGRATIONS, migrations)
    (migrations / "versions" / f"{REVISION}_one_more.py").write_text(MIGRATION)
    monkeypatch.setattr(migrate, "MIGRATIONS", migrations)
