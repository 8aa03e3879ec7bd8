"""Is the gradient of several parts that of the whole, in memory of its own, and without copies that are not needed?"""

from workbook.exercises.asking import Ask, expect

BOTH = {
    "two vectors": "(torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))",
    "two matrices": "(torch.tensor([[1.0], [2.0]], requires_grad=True) for _ in range(2))",
}
SHARED = {
    "a sum of two leaves": "(a + b).backward(given)",
    "a sum of one of them and of the other, less 1": "(a + (b - 1)).backward(given)",
    "a gradient that the caller keeps": "a.backward(given)\nb.backward(given)",
}


def test_two_passes_are_added(ask: Ask) -> None:
    """the gradients of two leaves after two passes, in each of which both get 3"""
    for leaves in BOTH.values():
        for passes in SHARED.values():
            program = f"a, b = {leaves}\ngiven = torch.full_like(a, 3.0)\n{passes}\n{passes}"
            came = ask.run(f"{program}\na.grad.sum().item(), b.grad.sum().item(), given.sum().item()")
            because = "each pass adds once to each leaf, and writes into no tensor that others hold"
            expect(came, (12.0, 12.0, 6.0), because=because)


def test_nothing_is_copied_in_vain(ask: Ask) -> None:
    """whether the first gradient of a leaf lies where it arrived"""
    program = f"a, b = {BOTH['two vectors']}\nplaces = []\na.register_hook(lambda grad: places.append(grad.data_ptr()))"
    came = ask.run(f"{program}\n(a * b).sum().backward()\na.grad.data_ptr() == places[0]")
    expect(came, True, because="nobody else holds it, and it has the strides of its leaf, so it can be kept as it is")


def test_the_layout_is_the_leafs(ask: Ask) -> None:
    """the strides of the first gradient of a leaf that lies in columns"""
    leaf = "leaf = torch.ones(2, 3).t().requires_grad_()"
    for loss in ("(leaf * 2).backward(torch.ones(3, 2))", "leaf.sum().backward()"):
        came = ask.run(f"{leaf}\n{loss}\nleaf.grad.stride()")
        expect(came, (1, 3), because="an optimizer reads a leaf and its gradient in one order")
