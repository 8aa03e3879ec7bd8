"""Are the modules that run those that PyTorch names, forward and backward?"""

from __future__ import annotations

import importlib
from typing import Any

import pytest


def net(torch: Any) -> Any:
    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

        def forward(self, x: Any, scale: Any) -> Any:
            return {"y": self.a(x) + self.b(x) * scale}

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = torch.nn.ModuleList([Block(), Block()])

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x, x)["y"]
            return x

    return Net()


def steps(torch: Any) -> list[Any]:
    """What runs at each operator, in the forward and in two backward passes."""
    library = torch.__name__
    tracker = importlib.import_module(f"{library}.utils.module_tracker").ModuleTracker()
    mode = importlib.import_module(f"{library}.utils._python_dispatch").TorchDispatchMode
    seen: list[Any] = []

    class Watch(mode):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if any(word in str(func) for word in ("addmm", "aten.mm.")):
                seen.append((sorted(tracker.parents), tracker.is_bw))
            return func(*args, **(kwargs or {}))

    for needs_grad in (True, False):
        module = net(torch)
        with tracker, Watch():
            out = module(torch.ones(2, 3, requires_grad=needs_grad)).sum()
            out.backward(retain_graph=True)
            seen.append(sorted(tracker.parents))
            out.backward()
            seen.append(sorted(tracker.parents))
    return seen


def test_the_modules_that_run_are_those_of_torch() -> None:
    import glasstorch

    oracle = pytest.importorskip("torch")
    ours, theirs = steps(glasstorch), steps(oracle)
    assert ours == theirs
    assert (["Global", "Net", "Net.blocks.1", "Net.blocks.1.b"], False) in ours
    assert (["Global", "Net", "Net.blocks.1", "Net.blocks.1.b"], True) in ours
    assert ours[-1] == ["Global"]


def test_no_hooks_are_left_behind(torch: Any) -> None:
    tracker = importlib.import_module(f"{torch.__name__}.utils.module_tracker").ModuleTracker()
    x = torch.ones(2, 3, requires_grad=True)
    with tracker:
        out = net(torch)(x)
    assert tracker._handles == [] if hasattr(tracker, "_handles") else tracker._hooks == []
    out.sum().backward()
    net(torch)(x)
    assert tracker.parents == {"Global"}
