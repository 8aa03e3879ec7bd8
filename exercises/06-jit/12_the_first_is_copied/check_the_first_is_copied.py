"""Is the running average one graph, and still the same program?"""

import math
from typing import Any

import glasstorch as torch
from glasstorch._dynamo import explain
from workbook.exercises.asking import Ask, close, expect

Rows = list[list[float]]
MODELS: list[Rows] = [
    [[1.0, -2.0, 4.0], [0.5]],
    [[3.0, 2.0, 0.0], [-0.5]],
    [[-7.0, 3.0, 1.0], [6.0]],
    [[0.25, 1.0, -1.0], [0.0]],
]


def tensors(rows: Rows, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    """A tensor of each row."""
    return [torch.tensor(row, dtype=dtype) for row in rows]


def means(count: int) -> Rows:
    """The means of the first models, by the definition."""
    return [[sum(column) / count for column in zip(*rows, strict=True)] for rows in zip(*MODELS[:count], strict=True)]


def alike(came: Any, accepted: Any) -> bool:
    """Whether two lists of tensors differ only by rounding."""
    return len(came) == len(accepted) and all(map(close, came, accepted))


def test_the_means(ask: Ask) -> None:
    """the averages after each of four models, as it is and compiled"""
    function = ask.get("take_in")
    for way, run in (("as it is", function), ("compiled", torch.compile(function, backend="eager"))):
        averages, taken = tensors([[9.0, 9.0, 9.0], [9.0]]), ask.get("taken")
        for count in range(len(MODELS)):
            if run is function:
                ask("take_in", averages, tensors(MODELS[count]), torch.tensor(count)).value  # noqa: B018
            else:
                run(averages, tensors(MODELS[count]), torch.tensor(count))
            asked = f"the averages after {count + 1} calls of the function, {way}"
            because = "each average is the mean of the models so far"
            expect(averages, tensors(means(count + 1)), same=alike, asked=asked, because=because)
        because = "four models have four numbers each"
        expect(ask.get("taken") - taken, 16, asked=f"by how much `taken` has grown, {way}", because=because)


def test_the_first_is_copied(ask: Ask) -> None:
    """the average after the first model"""
    large = torch.tensor([2**53 + 1])
    firsts = [(torch.tensor([before]), torch.tensor([0.1])) for before in (math.inf, math.nan, 1e38)]
    for average, new in [*firsts, (torch.tensor([7]), large)]:
        because = f"n_averaged is 0, so the average, which was {average.item()}, becomes a copy"
        ask("take_in", [average], [new], torch.tensor(0)).value  # noqa: B018
        expect(average, new, asked="the average", because=because)


def test_what_it_writes_to(ask: Ask) -> None:
    """what the function writes to"""
    whole = torch.zeros(2, 3, dtype=torch.float64)
    weights, count = tensors([[1.0, 2.0, 3.0]]), torch.tensor(0)
    ask("take_in", [whole[1]], weights, count).value  # noqa: B018
    came = whole.tolist(), str(whole.dtype), weights[0].tolist(), count.item()
    accepted = [[0.0] * 3, [1.0, 2.0, 3.0]], str(torch.float64), [1.0, 2.0, 3.0], 0
    because = "the average is the second row, which is changed in place; all else stays as it was"
    expect(came, accepted, asked="the memory with the average, its dtype, the weights and n_averaged", because=because)


def test_one_graph(ask: Ask) -> None:
    """the graphs of the compiled function"""
    function = ask.get("take_in")
    ask("take_in", tensors(MODELS[0]), tensors(MODELS[1]), torch.tensor(1)).value  # noqa: B018
    for count in (0, 1, 5):
        explained = explain(function)(tensors(MODELS[0]), tensors(MODELS[1]), torch.tensor(count))
        reasons = "; ".join(str(reason.reason) for reason in explained.break_reasons)
        because = f"the reasons: {reasons}" if reasons else "the averages are computed in the graph"
        came = explained.graph_count, explained.graph_break_count
        expect(came, (1, 0), asked=f"graphs and breaks of a call with n_averaged = {count}", because=because)
