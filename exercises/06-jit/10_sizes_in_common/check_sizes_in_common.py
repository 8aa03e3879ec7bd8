"""Are the common sizes of two loops the coarsest ones, and is there none where the dimensions cross?"""

import random
from collections.abc import Iterator
from itertools import product
from math import prod

from workbook.exercises.asking import Ask, expect

Shape = tuple[int, ...]


def factorizations(n: int) -> Iterator[Shape]:
    """All ordered products of sizes above 1 that give n."""
    if n == 1:
        yield ()
    for first in range(2, n + 1):
        if n % first == 0:
            yield from ((first, *rest) for rest in factorizations(n // first))


def splits_into(sizes: Shape, finer: Shape) -> bool:
    """Whether neighbours of the finer sizes can be merged to these sizes."""
    rest = list(finer)
    for size in sizes:
        merged = 1
        while merged < size and rest:
            merged *= rest.pop(0)
        if merged != size:
            return False
    return not rest


def by_definition(one: Shape, other: Shape) -> Shape | None:
    """Tries all sizes, those with few dimensions first."""
    if prod(one) != prod(other):
        return None
    tried = sorted(factorizations(prod(one)), key=len)
    return next((sizes for sizes in tried if splits_into(one, sizes) and splits_into(other, sizes)), None)


def judge(ask: Ask, one: Shape, other: Shape, because: str) -> None:
    """Ask for the common sizes of two loops."""
    asked = f"the coarsest sizes into which {one} and {other} can be split, without sizes of 1"
    expect(ask("common", one, other), by_definition(one, other), asked=asked, because=because)


def test_one_is_finer(ask: Ask) -> None:
    """pairs of which one is a splitting of the other"""
    for one, other in (((24,), (6, 4)), ((6, 4), (24,)), ((2, 3, 4), (6, 4)), ((7,), (7,)), ((2, 12), (2, 3, 4))):
        judge(ask, one, other, "the finer one of the two has all dimensions that both need")


def test_both_have_to_be_split(ask: Ask) -> None:
    """pairs of which neither is a splitting of the other"""
    for one, other in (((6, 4), (3, 8)), ((8, 3), (2, 12)), ((4, 2, 9), (2, 12, 3)), ((30, 2), (5, 12))):
        judge(ask, one, other, "a dimension begins wherever one begins in either of them, and nowhere else")


def test_dimensions_that_cross(ask: Ask) -> None:
    """pairs that cannot be split until they are the same"""
    for one, other in (((6, 4), (4, 6)), ((2, 9), (3, 6)), ((3, 5), (5, 3)), ((2, 9, 2), (3, 12))):
        judge(ask, one, other, "an inner dimension of the one is no whole number of those of the other")


def test_other_numbers_of_elements(ask: Ask) -> None:
    """pairs with different numbers of elements"""
    for one, other in (((6,), (3, 4)), ((4, 3), (3,)), ((3,), (4, 3)), ((), (2,))):
        judge(ask, one, other, "one of the loops would visit elements that the other one does not have")


def test_sizes_of_1(ask: Ask) -> None:
    """sizes of 1, and loops over a single element"""
    for one, other in (((6, 1), (2, 3)), ((1, 4), (4,)), ((1, 1), ()), ((), ()), ((2, 1, 3), (1, 6, 1))):
        judge(ask, one, other, "a dimension of size 1 is left out")


def test_pairs_drawn_at_random(ask: Ask) -> None:
    """pairs with up to 48 elements"""
    draw = random.Random(6)
    for n in (12, 16, 30, 36, 48):
        every = list(factorizations(n))
        for one, other in draw.sample(list(product(every, every)), min(12, len(every) ** 2)):
            judge(ask, one, other, "both are split in as few places as possible")
