"""The documents are in plain words."""

import re
from pathlib import Path

import pytest

from tests.architecture.documents import DOCUMENTS, ROOT, without_code
from tests.architecture.forbidden_words import FORBIDDEN_ENGLISH

OUT = (
    *FORBIDDEN_ENGLISH,
    r"\b(?:just now|at the most|goes on|tells? of|hears? of|hand(?:s|ed)? out|put (?:away|aside)|taken in)\b",
    r"\bstands? (?:on|there|in)\b",
)
"""Words that are out. In the documents "the service" is the settlement service, and "I" numbers a list."""


def _paragraphs(path: Path) -> list[str]:
    """Return the text of a document without code, a line each."""
    text = DOCUMENTS[path]
    return [" ".join(each.split()) for each in re.split(r"\n\s*\n|\n(?=[-|#])", without_code(text)) if each.strip()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_has_a_word_that_is_out(path: Path) -> None:
    paragraphs = _paragraphs(path)
    assert paragraphs
    found = [(each, re.search(pattern, each, re.IGNORECASE)) for each in paragraphs for pattern in OUT]
    assert [(match[0], each) for each, match in found if match] == []
