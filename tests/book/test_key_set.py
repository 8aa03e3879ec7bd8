"""Are the keys of a call drawn with where they come from?"""

from __future__ import annotations

import re
from typing import Any

import pytest

import workbook
from glasstorch.core.keys import ALL_BACKENDS, ALL_KEYS, BACKENDS, CPU_KEYS, DispatchKeySet, key_set_of
from tests.book.test_live_figures import words
from workbook.book.cells import show_keys
from workbook.book.figures import key_set


def test_every_key_of_the_union_is_drawn_with_the_sets_that_have_it() -> None:
    figure = key_set.draw({"a": key_set_of("SparseCPU"), "b": key_set_of("CUDA")})
    assert words(figure) == [
        *("CPU", "bit 0", "CUDA", "bit 1"),
        *("Sparse", "bit 23", "SparseCPU", "a", "SparseCUDA", "no set"),
        *("Dense", "bit 16", "CPU", "no set", "CUDA", "b"),
    ]
    assert figure.svg().count("g-box g-torch g-dashed") == 1  # SparseCUDA, to which the call goes
    assert figure.svg().count("g-box g-pane g-dashed") == 1
    assert figure.svg().count("g-box g-glass") == 2
    assert figure.description == (
        "It goes to SparseCUDA. Sparse: SparseCPU from a, SparseCUDA from no set; Dense: CPU from no set, CUDA from b."
    )


def test_a_functionality_without_backends_is_one_box_across_all() -> None:
    figure = key_set.draw({"x": CPU_KEYS, "y": key_set_of("Meta")})
    said = words(figure)
    assert said[4:8] == ["AutocastCPU", "bit 39", "AutocastCPU", "x"]
    assert said.count("AutogradMeta") == 1
    assert figure.description.startswith("It goes to AutocastCPU.")
    widths = [float(width) for width in re.findall(r'<rect class="g-box[^>]* width="([\d.]+)"', figure.svg())]
    assert widths[0] == widths[3] > 2 * widths[1] == 2 * widths[2]  # Autocast, Autograd twice, ADInplaceOrView


def test_a_key_that_several_sets_have_names_them_all() -> None:
    assert "one, two" in words(key_set.draw({"one": CPU_KEYS, "two": CPU_KEYS}))


def test_a_set_of_functionalities_alone_is_drawn_without_columns() -> None:
    assert words(key_set.draw({"mode": key_set_of("Tracer")})) == ["Tracer", "bit 38", "Tracer", "mode"]


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (0, "these sets have 0 on 0; print them instead"),
        (key_set_of(*BACKENDS[:5]), "these sets have 1 on 5"),
        (ALL_KEYS & ~ALL_BACKENDS, "these sets have 46 on 0"),
    ],
)
def test_what_does_not_fit_into_a_figure_is_refused(keys: int, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        key_set.draw({"x": keys})


def test_a_cell_draws_sets_of_keys_and_nothing_else(capsys: Any) -> None:
    show_keys(x=DispatchKeySet(CPU_KEYS))
    assert capsys.readouterr().out.startswith("The keys of a call. It goes to AutocastCPU.")
    assert workbook.show_keys is show_keys
    not_a_set: Any = CPU_KEYS
    with pytest.raises(TypeError, match="show_keys: x is of type int\n  accepted: a DispatchKeySet"):
        show_keys(x=not_a_set)
