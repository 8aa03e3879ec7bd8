"""Does attention follow its definition, with masks, with fewer queries than keys, and in groups of heads?"""

import math
import random

import glasstorch as torch
from workbook.exercises.asking import Ask, expect

Rows = list[list[float]]


def drawn(seed: str, *sizes: int) -> torch.Tensor:
    """Numbers drawn at random, the same in every run."""
    draw = random.Random(seed)
    return torch.tensor([draw.uniform(-1, 1) for _ in range(math.prod(sizes))], dtype=torch.float64).view(*sizes)


def defined(query: Rows, key: Rows, value: Rows, added: Rows, scale: float) -> list[float]:
    """The output of one head, number by number."""
    found = []
    for row, extra in zip(query, added, strict=True):
        scores = [scale * sum(map(math.prod, zip(row, one, strict=True))) + more
                  for one, more in zip(key, extra, strict=True)]  # fmt: skip
        weights = [math.exp(score) for score in scores]
        total = sum(weights) or 1.0
        found += [sum(map(math.prod, zip(weights, column, strict=True))) / total for column in zip(*value, strict=True)]
    return [round(number, 6) for number in found]


def asked(ask: Ask, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None,
          causal: bool = False, scale: float | None = None, groups: bool = False) -> object:  # fmt: skip
    """The answer's output for one call, as a list of rounded numbers."""
    both = ask("attend", q, k, v, mask, 0.0, causal, None, scale, groups).value
    return [round(number, 6) for number in both[0].flatten().tolist()]


def test_causal(ask: Ask) -> None:
    """the output with a causal mask, for as many queries as keys, for fewer and for more"""
    for length, keys in ((3, 3), (2, 5), (4, 2)):
        q, k, v = drawn("q", 1, length, 3), drawn("k", 1, keys, 3), drawn("v", 1, keys, 2)
        added = [[0.0 if key <= query else -math.inf for key in range(keys)] for query in range(length)]
        accepted = defined(q[0].tolist(), k[0].tolist(), v[0].tolist(), added, 1 / math.sqrt(3))
        came = asked(ask, q, k, v, causal=True)
        expect(came, accepted, asked=f"the output for {length} queries and {keys} keys, with is_causal",
               because="query i sees the keys from 0 to i, whatever the two lengths are")  # fmt: skip


def test_a_mask_of_numbers(ask: Ask) -> None:
    """the output with a mask of numbers, for several scales"""
    for width, scale in ((4, None), (16, None), (4, 2.0)):
        q, k, v, mask = drawn("q", 1, 2, width), drawn("k", 1, 3, width), drawn("v", 1, 3, 2), drawn("m", 2, 3) * 3
        factor = 1 / math.sqrt(width) if scale is None else scale
        accepted = defined(q[0].tolist(), k[0].tolist(), v[0].tolist(), mask.tolist(), factor)
        came = asked(ask, q, k, v, mask, scale=scale)
        expect(came, accepted, asked=f"the output for heads of width {width}, scale {scale}, with a mask of numbers",
               because="the mask is added after the scale, so the heads' width does not matter")  # fmt: skip


def test_nothing_to_see(ask: Ask) -> None:
    """the output for a query from which a mask hides every key"""
    q, k, v = drawn("q", 1, 2, 4), drawn("k", 1, 3, 4), drawn("v", 1, 3, 2)
    mask = torch.zeros(2, 3, dtype=torch.float64)
    mask[1] = -math.inf
    accepted = defined(q[0].tolist(), k[0].tolist(), v[0].tolist(), mask.tolist(), 0.5)
    came = asked(ask, q, k, v, mask)
    expect(came, accepted, asked="the output if the second of two queries sees no key",
           because="the output of a query that sees no key is 0")  # fmt: skip


def test_groups_of_heads(ask: Ask) -> None:
    """the output if several heads of queries share a head of keys and values"""
    for heads, shared in ((2, 1), (4, 2), (6, 3), (6, 2)):
        q, k, v = drawn("q", heads, 2, 4), drawn("k", shared, 3, 4), drawn("v", shared, 3, 2)
        accepted = []
        for head in range(heads):
            of = head // (heads // shared)
            accepted += defined(q[head].tolist(), k[of].tolist(), v[of].tolist(), [[0.0] * 3] * 2, 0.5)
        came = asked(ask, q, k, v, groups=True)
        expect(came, accepted, asked=f"the output for {heads} heads of queries and {shared} of keys and values",
               because="neighbouring heads of queries share a head of keys and values")  # fmt: skip
