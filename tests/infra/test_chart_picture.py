"""Chart pictures: everything in its place, everything readable, the same picture for the same facts."""

import io
import math
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from bot.infra.drawing.chart import Bar, BarFacts, ChartFacts, Mark, Row, RowFacts, Trend
from bot.infra.drawing.chart_drawing import CARD_LEFT, CARD_RIGHT, LEFT, RIGHT, render_chart
from bot.infra.drawing.picture import CARD, COLOURS, PAGE
from tests.examples import some

POINTS = tuple((number / 299, 0.5 + 0.4 * math.sin(number / 20)) for number in range(300))
FACTS = ChartFacts(
    brand="Kirim",
    title="BTC/IDR",
    period="24 jam",
    main_number="Rp1.612.345.678",
    change="↑ 1,25%",
    trend=Trend.UP,
    note="sejak 20 Nov 2026 17.06 WIB",
    runs=(POINTS,),
    levels=(Mark(0.1, "1.600 jt"), Mark(0.45, "1.605 jt"), Mark(0.8, "1.610 jt")),
    times=tuple(Mark(number / 6, f"{4 * number:02}.00") for number in range(1, 7)),
    columns=(("Terendah", "Rp1.598,3 jt"), ("Tertinggi", "Rp1.614,9 jt"), ("USDC/IDR", "Rp16.250")),
    footer="21 Nov 2026 17.06 WIB · sumber: sandbox",
)
BARS = BarFacts(
    brand="Kirim",
    title="Volume",
    period="7 days",
    main_number="Rp128,450,000",
    bars=tuple(Bar(number / 7, f"{14 + number} Nov", str(number)) for number in range(1, 8)),
    levels=FACTS.levels,
    columns=FACTS.columns,
)
HOSTILE = {
    "one endless word": "W" * 4_096,
    "words without end": "kata " * 800,
    "emoji": "🎉" * 4_096,
    "markup": "<b>BCA</b> &amp; <script>",
    "turned around": "\u202e\u2067gnp.exe\u2066\u200f",
    "other scripts": "王小明 مرحبا Иван ไทย नमस्ते",
    "empty": "",
}
TEXTS = ("brand", "title", "period", "main_number", "change", "note", "footer")


def _open(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


def _everywhere(text: str) -> ChartFacts:
    given: dict[str, Any] = dict.fromkeys(TEXTS, text)
    marks = tuple(replace(mark, label=text) for mark in FACTS.levels)
    return replace(FACTS, **given, levels=marks, times=marks, columns=((text, text),) * 3)


def _colours(picture: Image.Image, left: int, right: int) -> set[object]:
    strip = picture.crop((left, 0, right, picture.height))
    return {colour for _, colour in strip.getcolors(strip.width * strip.height) or ()}


@pytest.mark.parametrize("text", some([pytest.param(text, id=name) for name, text in HOSTILE.items()]))
def test_nothing_runs_out_of_its_place(text: str) -> None:
    picture = _open(render_chart(_everywhere(text)))
    page, card = COLOURS[PAGE], COLOURS[CARD]
    assert picture.height < 1_500
    assert _colours(picture, 0, CARD_LEFT) == _colours(picture, CARD_RIGHT, 1080) == {page}
    middle = picture.crop((0, 200, 1080, picture.height - 200))
    assert _colours(middle, CARD_LEFT, LEFT - 24) == _colours(middle, RIGHT + 24, CARD_RIGHT) == {card}


@pytest.mark.parametrize(
    "runs",
    [
        (),
        (((1.0, 0.5),),),
        (((0.0, 0.2), (0.4, 0.9)), ((0.8, 0.1), (1.0, 0.3))),
        (((0.5, 0.5),), ((1.0, 0.5),)),
        (((-3.0, 7.0), (9.0, -1.0)),),
        (((0.0, 0.0), (1.0, 0.0)),),
    ],
    ids=["nothing", "one point", "a gap", "single points", "out of its bounds", "at the bottom"],
)
def test_whatever_is_known_is_drawn(runs: tuple[tuple[tuple[float, float], ...], ...]) -> None:
    picture = _open(render_chart(replace(FACTS, runs=runs)))
    page = COLOURS[PAGE]
    assert _colours(picture, 0, CARD_LEFT) == _colours(picture, CARD_RIGHT, 1080) == {page}


@pytest.mark.parametrize("count", [0, 1, 2, 31, 500])
def test_any_number_of_bars_is_drawn(count: int) -> None:
    bars = tuple(Bar(number / max(count - 1, 1), f"{number}", "9" * 30) for number in range(count))
    picture = _open(render_chart(replace(BARS, bars=bars)))
    assert _colours(picture, 0, CARD_LEFT) == {COLOURS[PAGE]}


@pytest.mark.parametrize("text", some([pytest.param(text, id=name) for name, text in HOSTILE.items()]))
@pytest.mark.parametrize("count", [0, 1, 12, 100])
def test_any_rows_are_drawn_within_the_card(text: str, count: int) -> None:
    rows = tuple(
        Row(label=text, share=number - 1, reach=number / 2, value=text, is_marked=number % 2 == 0)
        for number in range(count)
    )
    facts = RowFacts(brand="Kirim", title="Time", period="30 days", main_number="12", rows=rows)
    picture = _open(render_chart(facts))
    page, card = COLOURS[PAGE], COLOURS[CARD]
    assert picture.height < 1_700
    assert _colours(picture, 0, CARD_LEFT) == _colours(picture, CARD_RIGHT, 1080) == {page}
    middle = picture.crop((0, 200, 1080, picture.height - 200))
    if middle.height > 0:
        assert _colours(middle, CARD_LEFT, LEFT - 24) == _colours(middle, RIGHT + 24, CARD_RIGHT) == {card}
