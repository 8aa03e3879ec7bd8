"""Gradients looked at from several sides: graphs, accumulation, Jacobians, second derivatives, own functions, hooks."""

import torch
from torch.autograd import Function, grad, gradcheck

torch.manual_seed(1)
inputs, wanted = torch.ones(5), torch.zeros(3)
weight, bias = torch.randn(5, 3, requires_grad=True), torch.randn(3, requires_grad=True)
scores = inputs @ weight + bias
loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, wanted)
print(scores, loss, type(loss.grad_fn).__name__, [type(fn).__name__ for fn, _ in scores.grad_fn.next_functions])
loss.backward()
print(weight.grad, bias.grad, sep="\n")
with torch.no_grad():
    print((inputs @ weight).requires_grad, scores.detach().requires_grad, torch.is_grad_enabled())

x = torch.eye(3, 4, requires_grad=True)
y = (x + 1).pow(2).t()
for _ in range(2):
    y.backward(torch.ones_like(y), retain_graph=True)
    print(x.grad)
x.grad.zero_()
y.backward(torch.full_like(y, 0.5))
print(x.grad)
try:
    y.backward(torch.ones_like(y))
except RuntimeError as error:
    print(str(error).split(".")[0])

a, b = torch.tensor([2.0, 3.0], requires_grad=True), torch.tensor([6.0, 4.0], requires_grad=True)
torch.autograd.backward([3 * a**3, -(b**2)], [torch.ones(2), torch.ones(2)])
print(a.grad, b.grad)
t = torch.tensor(1.5, requires_grad=True)
(first,) = grad(t.sin() * t, t, create_graph=True)
(second,) = grad(first, t)
print(f"{first.item():.5f} {second.item():.5f}")
v = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
outputs = v.exp() * v.sum()
print(torch.stack([grad(outputs, v, row, retain_graph=True)[0] for row in torch.eye(3)]))
print(grad(outputs.sum(), v)[0])


class Cubic(Function):
    """x^3 - x, with a derivative written by hand."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * (x**3 - x)

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return upstream * ctx.factor * (3 * x**2 - 1), None


points = torch.linspace(-1, 1, 5, requires_grad=True)
bent = Cubic.apply(points, 2.0)
bent.sum().backward()
print(bent, points.grad, sep="\n")
print(gradcheck(lambda p: Cubic.apply(p, 0.5), torch.randn(4, dtype=torch.double, requires_grad=True)))

leaf = torch.zeros(2, requires_grad=True)
handle = leaf.register_hook(lambda g: g * 2)
middle = leaf + 1
middle.retain_grad()
(middle.sum() * 3).backward()
print(leaf.grad, middle.grad, leaf.is_leaf, middle.is_leaf)
handle.remove()
try:
    leaf.add_(1)
except RuntimeError as error:
    print("RuntimeError:", error)
u = leaf * 2
squared = u * u
u += 1
try:
    squared.sum().backward()
except RuntimeError as error:
    print("RuntimeError:", str(error).split(":")[0])
with torch.autograd.set_detect_anomaly(True, check_nan=True):
    zero = torch.zeros(1, requires_grad=True)
    try:
        (zero / zero).sum().backward()
    except RuntimeError as error:
        print(error)

grid = torch.linspace(-3, 3, 200)
target = grid.sin()
coefficients = torch.zeros(4, requires_grad=True)
powers = grid[:, None] ** torch.arange(4)
for step in range(201):
    loss = (powers @ coefficients - target).square().mean()
    loss.backward()
    with torch.no_grad():
        coefficients -= 1e-3 * coefficients.grad
    coefficients.grad = None
    if step % 100 == 0:
        print(step, f"{loss.item():.4f}", [round(c, 3) for c in coefficients.tolist()])
