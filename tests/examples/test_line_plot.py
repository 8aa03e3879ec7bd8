"""Is the curve of a training run drawn as it was?"""

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from examples.line_plot import write_line_plot

SVG = "{http://www.w3.org/2000/svg}"


def drawn(tmp_path: Path, values: list[float]) -> ElementTree.Element:
    path = tmp_path / "plot.svg"
    write_line_plot(path, values, "a <title> & more", "step", "loss")
    return ElementTree.fromstring(path.read_text(encoding="utf-8"))


def points(root: ElementTree.Element, name: str) -> list[tuple[float, float]]:
    (line,) = [line for line in root.iter(f"{SVG}polyline") if line.get("class") == name]
    return [tuple(map(float, pair.split(","))) for pair in (line.get("points") or "").split()]


def test_every_value_is_a_point_higher_for_more(tmp_path: Path) -> None:
    root = drawn(tmp_path, [2.3, 1.0, 0.5, 0.0])
    raw = points(root, "raw")
    assert len(raw) == 4
    assert [x for x, _ in raw] == sorted(x for x, _ in raw)
    heights = [y for _, y in raw]
    assert heights == sorted(heights)  # SVG counts down from the top
    labels = [text.text for text in root.iter(f"{SVG}text")]
    assert labels[0] == "a <title> & more"
    assert {"0", "0.5", "2.5", "step", "loss"} <= set(labels)


@pytest.mark.parametrize("values", [[1.0], [0.0, 0.0], [1e-7] * 3, [1.0, math.nan, math.inf, 2.0], [math.nan], []])
def test_curves_without_height_or_length_are_drawn_too(tmp_path: Path, values: list[float]) -> None:
    finite = [value for value in values if math.isfinite(value)]
    assert len(points(drawn(tmp_path, values), "raw")) == len(finite)


def test_the_same_values_give_the_same_file(tmp_path: Path) -> None:
    texts = []
    for _ in range(2):
        drawn(tmp_path, [3.0, 1 / 3, 0.2])
        texts.append((tmp_path / "plot.svg").read_bytes())
    assert texts[0] == texts[1]
