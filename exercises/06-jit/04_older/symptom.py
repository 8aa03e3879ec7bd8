"""Does a traced function return what the function returns, even if it returns one more result?"""

import glasstorch as torch


def step(x, state):
    """Adds to a state in place, and multiplies by its first row, which is a view."""
    first = state[0]
    moved = x + 1
    state.add_(moved)
    return moved * first


def step_with_total(x, state):
    """The same, with a total of what was added."""
    first = state[0]
    moved = x + 1
    state.add_(moved)
    total = moved.sum()
    return moved * first, total


def results(function, x):
    """The results of a function for a state of ones."""
    given = function(x, torch.ones(2, 3))
    return [part.tolist() for part in (given if isinstance(given, tuple) else (given,))]


x = torch.tensor([1.0, 2.0, 3.0])
for function in (step, step_with_total):
    traced = torch.jit.trace(function, (x, torch.ones(2, 3)), check_trace=False)
    print(f"{function.__name__:16} {results(function, x)}")
    print(f"{'traced':16} {results(traced, x)}")
    if results(traced, x) != results(function, x):
        raise SystemExit("the traced function has read the state before it was written")
