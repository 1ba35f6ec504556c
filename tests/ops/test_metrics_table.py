"""docs/reference/metrics.md lists every metric, as the code declares it."""

from tests.architecture.documents import rows
from tests.ops import metrics_table


def test_every_metric_is_listed_as_it_is_declared_and_no_other() -> None:
    """`python -m tests.ops.metrics_table` prints the table."""
    assert rows("metrics") == metrics_table.rows()
