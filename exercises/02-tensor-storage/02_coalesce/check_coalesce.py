"""Does the walk visit the same elements of all operands together, in the same order, in the fewest dimensions?"""

import itertools
import math
import random

from workbook.exercises.asking import Ask, expect

Shape = tuple[int, ...]
Walk = tuple[Shape, tuple[Shape, ...]]


def cells(shape: Shape, strides: Shape) -> list[int]:
    """The cell of every element, in order; slow, and computed straight from the definition."""
    indices = itertools.product(*map(range, shape))
    return [sum(i * stride for i, stride in zip(index, strides, strict=True)) for index in indices]


def looked_up(shape: Shape, strides: tuple[Shape, ...]) -> Walk:
    """The walk in the fewest dimensions: tries every way to merge neighbours, and compares the cells."""
    for count in range(len(shape) + 1):
        for cuts in itertools.combinations(range(1, len(shape)), max(count - 1, 0)):
            edges = [0, *cuts, len(shape)] if count else [0]
            ends = [*itertools.pairwise(edges)]
            sizes = tuple(math.prod(shape[a:b]) for a, b in ends)
            steps = []
            for own in strides:
                parts = [cells(shape[a:b], own[a:b]) for a, b in ends]
                steps.append(tuple(part[1] - part[0] if len(part) > 1 else 0 for part in parts))
            if all(cells(sizes, new) == cells(shape, old) for new, old in zip(steps, strides, strict=True)):
                return sizes, tuple(steps)
    raise AssertionError((shape, strides))


def operand(draw: random.Random, shape: Shape, kind: str) -> Shape:
    """The strides of one operand: dense, with gaps, its dimensions in any order, or broadcast along some of them."""
    strides, step = [0] * len(shape), draw.choice((1, 2)) if kind == "gaps" else 1
    order = [*reversed(range(len(shape)))]
    if kind == "any order":
        draw.shuffle(order)
    for dim in order:
        if kind == "broadcast" and draw.random() < 0.5:
            continue
        strides[dim] = step
        step *= shape[dim]
        step += kind == "gaps" and draw.random() < 0.3
    return tuple(strides)


def walks(first: tuple[str, ...], others: tuple[str, ...]) -> list[Walk]:
    """Sizes above 1, and strides of up to three operands of these kinds; from few elements to many."""
    draw = random.Random(f"02.2 {first} {others}")
    found = []
    for _ in range(80):
        shape = tuple(draw.choice((2, 3, 4)) for _ in range(draw.randint(2, 4)))
        kinds = [draw.choice(first), *(draw.choice(others) for _ in range(draw.randint(0, 2)))]
        found.append((shape, tuple(operand(draw, shape, kind) for kind in kinds)))
    return sorted(found, key=lambda walk: (math.prod(walk[0]), walk))


def test_several_operands(ask: Ask) -> None:
    """the walk through operands that have gaps, or whose dimensions lie in another order in memory"""
    kinds = ("dense", "gaps", "any order")
    for shape, strides in walks(kinds, kinds):
        because = "dimensions are merged only if every operand allows it, and their order stays the same"
        expect(ask("coalesce_dimensions", shape, strides), looked_up(shape, strides), because=because)


def test_operands_that_are_broadcast(ask: Ask) -> None:
    """the walk through operands of which some are broadcast and have strides of 0"""
    for shape, strides in walks(("dense",), ("broadcast",)):
        because = "a stride of 0 is treated like any other; a pass over that dimension is 0 cells long"
        expect(ask("coalesce_dimensions", shape, strides), looked_up(shape, strides), because=because)


def test_dimensions_of_size_one(ask: Ask) -> None:
    """the walk through operands that have dimensions of size 1"""
    for shape, strides in (
        ((1, 6), ((50, 1),)),
        ((6, 1), ((1, 50), (2, 0))),
        ((2, 1, 5), ((5, 70, 1), (5, 5, 1))),
        ((2, 1, 5), ((5, 70, 1), (6, 6, 1))),
        ((1, 4, 1, 1, 3), ((9, 3, 80, 90, 1), (0, 6, 0, 0, 2))),
    ):
        because = "no step is taken along a dimension of size 1, so it is left out whatever its strides"
        expect(ask("coalesce_dimensions", shape, strides), looked_up(shape, strides), because=because)


def test_a_single_element(ask: Ask) -> None:
    """the walk through operands with one element"""
    for shape, strides in (((), ((),)), ((1,), ((1,), (0,))), ((1, 1, 1), ((3, 2, 1), (1, 1, 1)))):
        because = "one element is reached without a step, so no dimension is left, and no operand has a stride"
        expect(ask("coalesce_dimensions", shape, strides), ((), ((),) * len(strides)), because=because)


def test_no_elements(ask: Ask) -> None:
    """the walk through operands without elements"""
    for shape, strides, accepted in (
        ((0,), ((1,), (3,)), ((0,), ((1,), (3,)))),
        ((2, 0), ((1, 1),), ((2, 0), ((1, 1),))),
        ((0, 2, 3), ((6, 3, 1), (3, 3, 1)), ((0, 6), ((6, 1), (3, 1)))),
    ):
        because = "a size of 0 is compared like any other size"
        expect(ask("coalesce_dimensions", shape, strides), accepted, because=because)
