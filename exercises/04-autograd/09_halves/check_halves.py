"""Is the gradient of several parts that of the whole, in its own memory, and without unnecessary copies?"""

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
    """the sums of a.grad, of b.grad and of the passed gradient, after two passes that give 3 to each element"""
    for leaves in BOTH.values():
        for passes in SHARED.values():
            program = f"a, b = {leaves}\ngiven = torch.full_like(a, 3.0)\n{passes}\n{passes}"
            came = ask.run(f"{program}\na.grad.sum().item(), b.grad.sum().item(), given.sum().item()")
            because = "each pass adds 3 to each element once, and writes into no tensor to which others refer"
            expect(came, (12.0, 12.0, 6.0), because=because)


def test_nothing_is_copied_in_vain(ask: Ask) -> None:
    """whether the first gradient of a leaf is kept in the memory in which it arrived"""
    program = f"a, b = {BOTH['two vectors']}\nplaces = []\na.register_hook(lambda grad: places.append(grad.data_ptr()))"
    came = ask.run(f"{program}\n(a * b).sum().backward()\na.grad.data_ptr() == places[0]")
    expect(came, True, because="no other reference to it exists and it has its leaf's strides, so no copy is needed")


def test_the_layout_is_the_leafs(ask: Ask) -> None:
    """the strides of the first gradient of a leaf that is stored column by column"""
    leaf = "leaf = torch.ones(2, 3).t().requires_grad_()"
    for loss in ("(leaf * 2).backward(torch.ones(3, 2))", "leaf.sum().backward()"):
        came = ask.run(f"{leaf}\n{loss}\nleaf.grad.stride()")
        expect(came, (1, 3), because="the gradient gets the leaf's layout: an optimizer reads both in the same order")
