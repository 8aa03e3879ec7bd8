"""The Python listings of the five source documents that run as they stand, one after another, with what they print."""

import random as random_module

import torch
import torch.nn as nn

# 002: adding two tensors
a = torch.tensor([1.0, 2.0, 3.0])
b = torch.tensor([4.0, 5.0, 6.0])
c = a + b
print(c)

# 003: the Python interface
torch.manual_seed(0)
x = torch.tensor([1.0, 2.0])
model = nn.Linear(2, 1)
output = model(x)
print(output)

# 003: to the GPU and back, where there is one
if torch.cuda.is_available():
    x = torch.tensor([1.0, 2.0]).cuda()
    y = x * 2
    z = y.cpu()
    print(z)

# 004: entering backward; the listing's tensor has one element, so that no gradient need be given
x = torch.tensor([1.0], requires_grad=True)
y = x * 2
y.backward()
print(x.grad)


# 004: a function of one's own
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * (input > 0).float()


x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
out = MyReLU.apply(x)
out.sum().backward()
print(out, x.grad)


# 001: a straight-through estimator
class QuantizeWithSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input_tensor):
        return torch.round(input_tensor)

    @staticmethod
    def backward(ctx, grad_output):
        grad_input = grad_output.clone()
        return grad_input


quantizer = QuantizeWithSTE.apply
my_tensor = torch.tensor([0.2, 0.7, 1.5], requires_grad=True)
quantized_output = quantizer(my_tensor)
(quantized_output * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
print(quantized_output, my_tensor.grad)

# 004: a graph that differs from step to step
random_module.seed(0)
model1, model2 = nn.Linear(3, 1), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
criterion = nn.MSELoss()
x, target = torch.randn(5, 3), torch.randn(5, 1)
for epoch in range(4):
    if random_module.random() > 0.5:
        y = model1(x)
    else:
        y = model2(x)
    loss = criterion(y, target)
    loss.backward()
    print(epoch, f"{loss.item():.4f}", sum(p.grad is not None for m in (model1, model2) for p in m.parameters()))

# 003 and 004: tracing
model = nn.Linear(2, 1)
example_input = torch.ones(3, 2)
traced_model = torch.jit.trace(model, example_input)
print(torch.equal(traced_model(example_input * 2), model(example_input * 2)))
print("aten::linear" in str(traced_model.graph))

# 004: the profiler around a backward pass
with torch.autograd.profiler.profile() as prof:
    x = torch.ones(2, 2, requires_grad=True)
    (x * 3).sum().backward()
names = {event.key for event in prof.key_averages()}
print(sorted(name for name in names if name in ("aten::mul", "aten::sum", "aten::ones", "MulBackward0")))
