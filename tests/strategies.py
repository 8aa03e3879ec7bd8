"""Which random inputs do several tests draw?"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

# The same examples in every run: a test that fails must fail again when it is run again.
steady = settings(derandomize=True, database=None, deadline=None, max_examples=200)

sizes = st.sampled_from([1, 1, 2, 2, 3, 4, 0])
shapes = st.lists(sizes, max_size=4).map(tuple)
# Sizes 1 often: they are where rules about strides differ.
small_shapes = st.lists(st.sampled_from([1, 1, 2, 3]), max_size=4).map(tuple)


@st.composite
def geometries(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Sizes, strides and an offset as views have them: plain, permuted, stepped, expanded, or anything at all."""
    shape = draw(shapes)
    kind = draw(st.sampled_from(["row-major", "row-major", "permuted", "stepped", "expanded", "any"]))
    if kind == "any":
        strides = tuple(draw(st.integers(0, 7)) for _ in shape)
        return shape, strides, draw(st.integers(0, 3))
    rows = list(reversed(range(len(shape))))
    order = rows if kind == "row-major" else draw(st.permutations(rows))
    steps = [0] * len(shape)
    step = 1
    for dim in order:
        steps[dim] = step
        step *= max(shape[dim], 1)
    if kind == "stepped":
        steps = [s * draw(st.integers(1, 2)) for s in steps]
    if kind == "expanded":
        steps = [0 if draw(st.booleans()) else s for s in steps]
    if draw(st.booleans()):  # the stride of a dimension of size 1 may be anything
        steps = [draw(st.integers(0, 30)) if size == 1 else s for size, s in zip(shape, steps, strict=True)]
    return shape, tuple(steps), draw(st.integers(0, 3))
