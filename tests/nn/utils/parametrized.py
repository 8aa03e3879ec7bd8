"""Which parametrizations do the tests use, on which layers?"""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any


def parametrize(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.nn.utils.parametrize")


def kinds(torch: Any) -> Any:
    """Parametrizations of several sorts, as modules of one library."""
    nn = torch.nn

    class Symmetric(nn.Module):
        def forward(self, X: Any) -> Any:
            return X.triu() + X.triu(1).mT

        def right_inverse(self, A: Any) -> Any:
            return A.triu()

    class Doubled(nn.Module):
        def forward(self, X: Any) -> Any:
            return X * 2

        def right_inverse(self, A: Any) -> Any:
            return A / 2

    class Shifted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.shift = nn.Parameter(torch.ones(1))

        def forward(self, X: Any) -> Any:
            return X + self.shift

    class InTraining(nn.Module):
        def forward(self, X: Any) -> Any:
            return X if self.training else X * 0

    class RankOne(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x.unsqueeze(-1) @ y.unsqueeze(-2)

        def right_inverse(self, Z: Any) -> Any:
            return Z[:, 0], Z[0] / Z[0, 0]

    class Counted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def forward(self, X: Any) -> Any:
            self.calls += 1
            return X * 1

    class NotInvertible(nn.Module):
        def forward(self, X: Any) -> Any:
            return X * 3

        def right_inverse(self, A: Any) -> Any:
            raise NotImplementedError

    class Of(nn.Module):
        """Two functions as a parametrization."""

        def __init__(self, forward: Any, right_inverse: Any = None) -> None:
            super().__init__()
            self.forward_function = forward
            if right_inverse is not None:
                self.right_inverse = right_inverse

        def forward(self, *given: Any) -> Any:
            return self.forward_function(*given)

    return SimpleNamespace(
        Symmetric=Symmetric, Doubled=Doubled, Shifted=Shifted, InTraining=InTraining, RankOne=RankOne, Counted=Counted,
        NotInvertible=NotInvertible, Of=Of,
    )  # fmt: skip


def linear(torch: Any, rows: int = 3, columns: int = 3) -> Any:
    """A linear layer with weights 1, 2, 3 ... and a bias of zeros."""
    layer = torch.nn.Linear(columns, rows)
    with torch.no_grad():
        layer.weight.copy_(torch.arange(1, rows * columns + 1).view(rows, columns))
        layer.bias.zero_()
    return layer


def with_(torch: Any, *names: str, **options: Any) -> Any:
    """A linear layer with these parametrizations on its weight."""
    layer = linear(torch)
    for name in names:
        parametrize(torch).register_parametrization(layer, "weight", getattr(kinds(torch), name)(), **options)
    return layer


def held(module: Any, name: str = "weight") -> Any:
    """All that a parametrized tensor holds."""
    listed = module.parametrizations[name]
    return (
        [(n, p.tolist(), p.requires_grad, p.is_leaf) for n, p in listed.named_parameters()],
        [(n, b.tolist(), b.requires_grad) for n, b in listed.named_buffers()],
        listed.is_tensor,
        listed.ntensors,
        listed.unsafe,
    )
