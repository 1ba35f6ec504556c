"""The reader of expressions finds every metric, and what doesn't exist."""

import pytest

from tests.ops.expressions import Condition, Use, find_grouping, find_labels, find_mistakes, find_uses


def test_metrics_and_conditions_are_found_and_nothing_else() -> None:
    expression = """
        60 * histogram_quantile(0.99, sum by (le, queue) (rate(kirim_a_bucket{queue=~"x|y", job!="}"}[5m])))
        / max without (instance) (kirim_b) > 0.2 or absent(up == 1e3) and on (instance) abs(kirim_c) > 1
    """
    assert find_uses(expression) == [
        Use("kirim_a_bucket", (Condition("queue", "=~", "x|y"), Condition("job", "!=", "}"))),
        Use("kirim_b"),
        Use("up"),
        Use("kirim_c"),
    ]
    assert find_grouping(expression) == {"le", "queue"}


@pytest.mark.parametrize(
    ("expression", "mistake"),
    [
        ("rate(kirim_answer_seconds[5m])", "no metric kirim_answer_seconds"),
        ("rate(kirim_updates_received[5m])", "no metric kirim_updates_received"),
        ("sum by (kind) (kirim_leading)", "no label kind"),
        ('kirim_leading{kind="a"}', "kirim_leading has no label kind"),
        ('kirim_notifications_waiting{queue="mony"}', "queue of kirim_notifications_waiting has not exactly mony"),
        (
            'kirim_notifications_waiting{queue=~"urgent|bul"}',
            "queue of kirim_notifications_waiting has not exactly urgent|bul",
        ),
        ('kirim_notifications_waiting{queue=~".*"}', "queue of kirim_notifications_waiting has not exactly .*"),
        ('kirim_notifications_waiting{queue!="mony"}', "queue of kirim_notifications_waiting has not exactly mony"),
    ],
)
def test_what_does_not_exist_is_a_mistake(expression: str, mistake: str) -> None:
    assert find_mistakes(expression) == [mistake]


@pytest.mark.parametrize(
    "expression",
    [
        'sum by (le, instance) (rate(kirim_answer_seconds_bucket{job="kirim"}[$__rate_interval]))',
        'kirim_notifications_waiting{queue!="urgent"}',
        'sum by (worker) (kirim_worker_failures_total{worker="any"})',
        'up{job="kirim"} == 0',
        "process_resident_memory_bytes",
    ],
)
def test_what_exists_is_no_mistake(expression: str) -> None:
    assert find_mistakes(expression) == []


def test_labels_are_known_without_a_series_too() -> None:
    assert find_labels()["kirim_worker_failures_total"].keys() == {"worker"}
    assert find_labels()["kirim_notifications_total"]["queue"] == {"urgent", "edits", "extra", "bulk"}
