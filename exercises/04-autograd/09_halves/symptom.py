"""Is the gradient of a batch the same when the batch is taken at once and when it is taken in two halves?"""

import glasstorch as torch

BATCH = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])


def scaled(first, second, rows):
    """Rows of the batch, weighted with the product of two parameters."""
    return rows * (first * second)


def added(first, second, rows):
    """Rows of the batch, weighted with the sum of two parameters."""
    return rows * (first + second)


def gradients(layer, parts):
    """The gradients of both parameters, after a backward pass for each part of the batch."""
    first, second = (torch.tensor([0.5, 2.0], requires_grad=True) for _ in range(2))
    for rows in parts:
        layer(first, second, rows).sum().backward()
    return first.grad.tolist(), second.grad.tolist()


for layer in (scaled, added):
    whole, halves = gradients(layer, [BATCH]), gradients(layer, BATCH.split(2))
    print(f"{layer.__name__:8} whole {whole}  halves {halves}")
    if whole != halves:
        raise SystemExit("two halves have another gradient than the whole")
