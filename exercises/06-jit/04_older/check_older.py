"""Does a traced function return what the function returns, whatever is between two operators that may be fused?"""

import random

from workbook.exercises.asking import Ask, expect

BEGIN = ["first = state[0]", "mine = state.clone()", "row = mine[0]", "moved = x + 1"]
# Lines that may come between two pointwise operators; most use the result of the first, or what follows from it.
BETWEEN = [
    "state.add_(moved)",
    "mine.mul_(moved)",
    "given.append(moved.sum())",
    "given.append(mine.sum())",
    "given.append(state.sum())",
    "first.sub_(1)",
]
END = ["moved * first", "moved * 2", "moved - row"]


def bodies() -> list[list[str]]:
    """Functions of a tensor and two states, line by line."""
    draw = random.Random("06.4")
    return [[*BEGIN, *draw.sample(BETWEEN, draw.randint(1, 5)), f"given.append({draw.choice(END)})"] for _ in range(40)]


def program(body: list[str], end: str) -> str:
    """A program that defines the function, and its last line."""
    lines = "\n    ".join(["given = []", *body, "return tuple(given)"])
    return f"""
def f(x, state):
    {lines}
def inputs():
    return torch.tensor([1.0, 2.0, 3.0]), torch.ones(2, 3)
def results(function):
    args = inputs()
    return [part.tolist() for part in (*function(*args), *args)]
traced = torch.jit.trace(f, inputs(), check_trace=False)
{end}"""


def test_what_a_traced_function_gives(ask: Ask) -> None:
    """the results of a traced function, and the values of its arguments afterwards"""
    for body in bodies():
        plain = ask.run(program(body, "results(f)")).value
        came = ask.run(program(body, "results(traced)"))
        expect(came, plain, because="the function itself returns this; no pass may change what a program computes")


def test_what_may_be_fused_is_fused(ask: Ask) -> None:
    """the number of groups in the graph of a traced function"""
    for between in ([], ["given.append(moved.sum())"], ["given.append(mine.sum())"]):
        body = [*BEGIN, *between, "given.append(moved * 2)"]
        came = ask.run(program(body, "str(traced.graph_for(*inputs())).count('= prim::FusionGroup')"))
        expect(came, 1, because="no line between the two operators writes to memory, so they may be fused")
