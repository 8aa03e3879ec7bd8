"""Which random inputs do several tests draw?"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

# The same examples in every run: a test that fails must fail again when it is run again.
steady = settings(derandomize=True, database=None, deadline=None, max_examples=200)

sizes = st.integers(0, 4)
shapes = st.lists(sizes, max_size=4).map(tuple)
# Sizes 1 often: they are where rules about strides differ.
small_shapes = st.lists(st.sampled_from([1, 1, 2, 3]), max_size=4).map(tuple)


@st.composite
def geometries(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Sizes, strides and an offset as views have them: permuted, stepped, expanded, or anything at all."""
    shape = draw(shapes)
    kind = draw(st.sampled_from(["permuted", "stepped", "expanded", "any"]))
    if kind == "any":
        strides = tuple(draw(st.integers(0, 7)) for _ in shape)
        return shape, strides, draw(st.integers(0, 3))
    order = draw(st.permutations(range(len(shape))))
    steps = [0] * len(shape)
    step = 1
    for dim in order:
        steps[dim] = step
        step *= max(shape[dim], 1)
    if kind == "stepped":
        steps = [s * draw(st.integers(1, 2)) for s in steps]
    if kind == "expanded":
        steps = [0 if draw(st.booleans()) else s for s in steps]
    return shape, tuple(steps), draw(st.integers(0, 3))
