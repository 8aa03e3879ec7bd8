"""A tensor that a node has saved is changed through detach(). Does the backward pass raise an error?"""

import glasstorch as torch


def backward_after_clipping(layer):
    """The gradient of a loss whose hidden values are clipped before the backward pass."""
    weights = torch.tensor([0.5, 1.0, 3.0], requires_grad=True)
    hidden, loss = layer(weights)
    hidden.detach().clamp_(max=1.0)
    loss.backward()
    return weights.grad.tolist()


def exponential(weights):
    """The node of `exp` saves its result."""
    hidden = weights.exp()
    return hidden, hidden.sum()


def squared(weights):
    """The node of the product saves its arguments."""
    hidden = weights * 2
    return hidden, (hidden * hidden).sum()


for layer in (exponential, squared):
    try:
        gradient = backward_after_clipping(layer)
    except RuntimeError as error:
        print(f"{layer.__name__:12} refused: {str(error)[:78]} ...")
    else:
        print(f"{layer.__name__:12} {gradient}")
        raise SystemExit("the gradient is of the clipped numbers, and nothing was raised")
