"""Do a tensor and a second one on its memory count the changes of both, and no others?"""

import random

from workbook.exercises.asking import Ask, Raises, expect

MADE = {
    "a new tensor": "base = torch.ones(4)",
    "a part of a tensor": "base = torch.ones(6)[1:5]",
    "a tensor that was changed before": "base = torch.ones(4)\nbase.add_(1)",
}
SHARED = {"detach()": "base.detach()", "view(torch.int32)": "base.view(torch.int32)"}
MODIFIED = Raises(RuntimeError, "modified by an inplace operation")


def changes() -> list[tuple[str, int]]:
    """Programs that make a tensor and another one on its memory and change both; and how many changes they make."""
    draw, found = random.Random("04.5"), []
    for made in MADE.values():
        for shared in SHARED.values():
            writes = draw.choices(("other.zero_()", "base.zero_()"), k=draw.randint(1, 3))
            lines = [made, f"other = {shared}", *writes]
            found.append(("\n".join(lines), len(writes) + made.count("add_")))
    return found


def test_both_count_all_changes(ask: Ask) -> None:
    """the versions of a tensor and of a second one on its memory, after changes in place"""
    for program, count in changes():
        came = ask.run(f"{program}\nbase._version, other._version")
        expect(came, (count, count), because="tensors on one memory share one version counter, so all changes count")


def test_a_changed_argument_is_refused(ask: Ask) -> None:
    """the backward pass of a product, after one of its saved arguments was changed"""
    for shared in ("hidden.detach()", "hidden.detach().detach()", "hidden[1:].detach()"):
        program = "x = torch.tensor([2.0, 3.0], requires_grad=True)\nhidden = x * 2\nloss = (hidden * hidden).sum()"
        came = ask.run(f"{program}\n{shared}.mul_(5)\nloss.backward()")
        expect(came, MODIFIED, because="the formula would use other numbers than the forward pass did")


def test_no_gradient_flows(ask: Ask) -> None:
    """whether a tensor that detach() returns requires a gradient"""
    came = ask.run("hidden = torch.ones(2, requires_grad=True) * 2\nhidden.detach().requires_grad")
    expect(came, False, because="the two share memory and a version counter, but no history")
