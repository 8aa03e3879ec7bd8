"""Does the list form of SGD take the steps of its definition, however the gradients are cleared?"""

from workbook.exercises.asking import Ask, expect

STEPS = """
p = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
q = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
sgd = torch.optim.SGD([p, q], lr=0.1, foreach=True, {options})
for number in range(4):
    sgd.zero_grad(set_to_none={none})
    ((number + 1) * p.sum() + q * q).backward()
    sgd.step()
"""
SEEN = "[round(number, 6) for number in [*p.tolist(), q.item()]]"


def steps(momentum: float, dampening: float, nesterov: bool) -> list[float]:
    """The parameters after four steps, by the definition in the docstring of SGD."""
    values, buffers = [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]
    for number in range(4):
        grads = [number + 1.0, number + 1.0, 2 * values[2]]
        for place, grad in enumerate(grads):
            first = number == 0
            buffers[place] = grad if first else momentum * buffers[place] + (1 - dampening) * grad
            values[place] -= 0.1 * (grad + momentum * buffers[place] if nesterov else buffers[place])
    return [round(value, 6) for value in values]


def test_gradients_that_are_cleared_in_place(ask: Ask) -> None:
    """the parameters after four steps, however the gradients are cleared in between"""
    for momentum, dampening, nesterov in ((0.9, 0.0, False), (0.5, 0.25, False), (0.9, 0.0, True)):
        options = f"momentum={momentum}, dampening={dampening}, nesterov={nesterov}"
        for none in (True, False):
            came = ask.run(f"{STEPS.format(options=options, none=none)}\n{SEEN}")
            expect(came, steps(momentum, dampening, nesterov),
                   because="momentum must not depend on what happens to a gradient after its step")  # fmt: skip
