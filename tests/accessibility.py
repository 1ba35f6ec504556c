"""Check pages in the browser with axe-core, which comes with the package `axe-playwright-python`."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.async_api import Page, ViewportSize

Size = tuple[str, "ViewportSize"]

DESKTOP: Final[Size] = ("desktop", {"width": 1280, "height": 900})
PHONE: Final[Size] = ("phone", {"width": 390, "height": 844})
LOOKS: Final = tuple(product((DESKTOP, PHONE), ("light", "dark")))
"""Each size in each colour scheme."""

TAGS: Final = (
    *("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"),
    # Rules that no guideline demands, and rules that axe-core leaves out unless they are asked for.
    *("best-practice", "experimental"),
)
RUN: Final = """async ({ tags, colours }) => {
    const isAsked = (rule) => rule.tags.some((tag) => tags.includes(tag));
    const ofColours = () => axe.getRules(["cat.color"]).filter(isAsked).map(({ ruleId }) => ruleId);
    const runOnly = colours ? { type: "rule", values: ofColours() } : { type: "tag", values: tags };
    const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"] });
    const describe = ({ target, html, failureSummary }) => `${target} ${html.slice(0, 200)} ${failureSummary}`;
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${describe(node)}`));
}"""
TWO_FRAMES: Final = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
VARIABLE: Final = "AXE"
"""Names another `axe.min.js`, to try a newer one."""


@cache
def _script() -> str:
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).read_text(encoding="utf-8")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


async def find_violations(page: Page, *, colours: bool = False) -> list[str]:
    """Return what axe-core finds wrong on the page, or only with its colours. Each has the part of the page."""
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(_script())
    found: list[str] = await page.evaluate(RUN, {"tags": list(TAGS), "colours": colours})
    return found


async def check_looks(page: Page, name: str, looks: Sequence[tuple[Size, str]] = LOOKS) -> None:
    """Assert that axe-core finds nothing on the page, at each size and in each colour scheme.

    Only the rules about colours depend on the scheme, so the others are checked once at each size.
    """
    left, checked = [], set[str]()
    for (size, viewport), scheme in looks:
        await page.set_viewport_size(viewport)
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
        # With less motion, each colour still takes a millisecond to change, and what inherits it another one.
        await page.evaluate(TWO_FRAMES)
        # What is folded away isn't drawn, so its changes stay in the list when they are finished.
        await page.wait_for_function("() => document.getAnimations().every(each => each.playState === 'finished')")
        left += [f"{name}, {size}, {scheme}: {each}" for each in await find_violations(page, colours=size in checked)]
        checked.add(size)
    assert left == [], "\n".join(left)
