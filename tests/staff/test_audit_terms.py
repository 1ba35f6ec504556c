"""Each feature declares what it writes to the audit log."""

from functools import reduce
from operator import or_

import pytest

from bot.app import build_declared_features
from bot.staff.audit_terms import STAFF_TERMS, AuditTerms, name_as_written
from tests.staff.audit_terms import TERMS


def test_two_features_cannot_have_subjects_of_the_same_kind() -> None:
    with pytest.raises(ValueError, match="alarm"):
        _ = STAFF_TERMS | AuditTerms(subjects={"alarm": name_as_written})


def test_the_features_have_subjects_of_different_kinds() -> None:
    declared = [feature.audit_terms for feature in build_declared_features() if feature.audit_terms is not None]
    assert STAFF_TERMS in declared
    assert reduce(or_, declared, AuditTerms()).subjects.keys() >= STAFF_TERMS.subjects.keys()


def test_the_terms_of_every_feature_are_tried_on_its_screen() -> None:
    for feature in build_declared_features():
        if feature.audit_terms is not None:
            assert feature.audit_terms.subjects.keys() <= TERMS.subjects.keys()
            assert feature.audit_terms.details <= TERMS.details
