"""Is a loss scaled, a bad step skipped and the scale adapted as in PyTorch?"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.devices.devices import Devices
from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]


def model(lib: Any, **options: Any) -> tuple[Any, Any, Any]:
    weight = lib.tensor([1.0, -2.0], requires_grad=True)
    options = {"init_scale": 8.0, "growth_interval": 2, **options}
    return weight, lib.optim.SGD([weight], lr=0.5, momentum=0.9), lib.amp.GradScaler("cpu", **options)


def training(lib: Any, **options: Any) -> list[Any]:
    """Ten steps, of which three have an infinite gradient."""
    weight, optimizer, scaler = model(lib, **options)
    said = []
    for step in range(10):
        optimizer.zero_grad()
        loss = (weight * weight).sum() * (float("inf") if step in (3, 4, 7) else 1.0)
        scaler.scale(loss).backward()
        returned = scaler.step(optimizer)
        scaler.update()
        said.append([weight.tolist(), scaler.get_scale(), scaler._get_growth_tracker(), returned])
    return [said, scaler.state_dict()]


def unscaled_by_hand(lib: Any) -> list[Any]:
    weight, optimizer, scaler = model(lib)
    scaler.scale((weight * 3).sum()).backward()
    before = weight.grad.tolist()
    scaler.unscale_(optimizer)
    after = weight.grad.tolist()
    norm = lib.nn.utils.clip_grad_norm_([weight], 1.0).item()
    scaler.step(optimizer)
    scaler.update()
    return [before, after, norm, weight.tolist(), scaler.get_scale()]


def two_optimizers(lib: Any) -> list[Any]:
    """One gradient of the second is not a number: it alone is skipped, and the scale falls."""
    weight, first, scaler = model(lib)
    other = lib.tensor([3.0], requires_grad=True)
    unused = lib.tensor([3.0], requires_grad=True)
    second = lib.optim.SGD([{"params": [other]}, {"params": [unused]}], lr=1.0)
    losses = scaler.scale([(weight * 2).sum(), (other * float("nan"), [other * 2])])
    losses[0].backward()
    losses[1][0].backward()
    for optimizer in (first, second):
        scaler.step(optimizer)
    scaler.update()
    return [weight.tolist(), other.tolist(), scaler.get_scale(), type(losses[1]).__name__]


def scaled_iterables(lib: Any) -> list[Any]:
    scaler = lib.amp.GradScaler("cpu", init_scale=4.0)
    x = lib.ones(2)
    return [
        scaler.scale(x).tolist(),
        [t.tolist() for t in scaler.scale(iter([x, x * 2]))],
        scaler.scale(()),
        x.tolist(),
    ]


def settings(lib: Any) -> list[Any]:
    scaler = lib.amp.GradScaler("cpu")
    said = [scaler.get_scale(), scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()]
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.25)
    scaler.set_growth_interval(7)
    return [*said, scaler.is_enabled(), scaler.state_dict()]


def given_a_scale(lib: Any) -> list[Any]:
    weight, optimizer, scaler = model(lib)
    said = []
    for scale in (2.0, lib.tensor(32.0), lib.tensor([16.0])):
        scaler.scale(weight.sum()).backward()
        scaler.step(optimizer)
        scaler.update(scale)
        said.append(scaler.get_scale())
    return said


def disabled(lib: Any) -> list[Any]:
    weight, optimizer, scaler = model(lib, enabled=False)
    loss = weight.sum()
    said = [scaler.scale(loss) is loss, scaler.state_dict(), scaler.is_enabled(), scaler.get_scale()]
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    scaler.load_state_dict({})
    return [*said, weight.tolist(), scaler._get_growth_tracker()]


def saved_and_loaded(lib: Any) -> list[Any]:
    weight, optimizer, scaler = model(lib)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    fresh, used = lib.amp.GradScaler("cpu"), lib.amp.GradScaler("cpu")
    used.scale(weight)
    for other in (fresh, used):
        other.load_state_dict(scaler.state_dict())
    again = pickle.loads(pickle.dumps(scaler))
    return [one.state_dict() for one in (scaler, fresh, used, again)] + [again._scale is None]


def of_a_fused_optimizer(lib: Any, asks: bool) -> list[Any]:
    """An optimizer that unscales gradients itself is given what it needs, for its step only."""
    weight, _, scaler = model(lib)
    seen: list[Any] = []

    class Own(lib.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, *args: Any) -> Any:
            seen.append([self.grad_scale.item(), self.found_inf.item(), weight.grad.tolist()])

    class Asks(lib.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, *args: Any, grad_scaler: Any = None) -> Any:
            seen.append(grad_scaler is scaler)
            grad_scaler.unscale_(self)

    optimizer = (Asks if asks else Own)([weight], lr=0.1)
    scaler.scale((weight * float("inf" if not asks else 1)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return [*seen, hasattr(optimizer, "grad_scale"), scaler.get_scale()]


def step_twice(lib: Any) -> None:
    weight, optimizer, scaler = model(lib)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.step(optimizer)


def unscale_twice(lib: Any) -> None:
    weight, optimizer, scaler = model(lib)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)


def unscale_after_step(lib: Any) -> None:
    weight, optimizer, scaler = model(lib)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.unscale_(optimizer)


def step_without_gradients(lib: Any) -> None:
    weight, optimizer, scaler = model(lib)
    scaler.scale(weight)
    scaler.step(optimizer)


def update_without_step(lib: Any) -> None:
    weight, _, scaler = model(lib)
    scaler.scale(weight)
    scaler.update()


def half_gradients(lib: Any) -> None:
    _, _, scaler = model(lib)
    weight = lib.ones(2, dtype=lib.float16, requires_grad=True)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(lib.optim.SGD([weight], lr=1.0))


def pickled_in_a_step(lib: Any) -> None:
    weight, optimizer, scaler = model(lib)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    pickle.dumps(scaler)


@pytest.mark.parametrize(
    "program",
    [
        training,
        lambda lib: training(lib, growth_factor=1.7, backoff_factor=0.3),
        lambda lib: training(lib, init_scale=2.0**127, growth_interval=1),
        unscaled_by_hand,
        two_optimizers,
        scaled_iterables,
        settings,
        given_a_scale,
        disabled,
        saved_and_loaded,
        lambda lib: of_a_fused_optimizer(lib, asks=False),
        lambda lib: of_a_fused_optimizer(lib, asks=True),
        step_twice,
        unscale_twice,
        unscale_after_step,
        step_without_gradients,
        update_without_step,
        half_gradients,
        pickled_in_a_step,
        lambda lib: model(lib, growth_factor=1.0),
        lambda lib: model(lib, backoff_factor=1.0),
        lambda lib: model(lib)[2].step(model(lib)[1]),
        lambda lib: model(lib)[2].update(),
        lambda lib: model(lib)[2].step(model(lib)[1], closure=lambda: 1),
        lambda lib: model(lib)[2].scale(3),
        lambda lib: model(lib)[2].load_state_dict({}),
        lambda lib: lib.amp.GradScaler().is_enabled(),
        lambda lib: lib.cuda.amp.GradScaler().is_enabled(),
        lambda lib: lib.cpu.amp.GradScaler(2.0, growth_interval=3).state_dict(),
        lambda lib: [state.name for state in lib.amp.grad_scaler.OptState],
    ],
)
def test_a_program_does_what_it_does_in_pytorch(program: Callable[[Any], Any], require: Require) -> None:
    assert_same(program, require("torch"))


def test_a_bad_new_scale_is_refused(require: Require) -> None:
    for scale in ([1.0, 2.0], "requires grad"):

        def program(lib: Any, scale: Any = scale) -> None:
            weight, optimizer, scaler = model(lib)
            scaler.scale(weight.sum()).backward()
            scaler.step(optimizer)
            scaler.update(lib.ones(1, requires_grad=True) if isinstance(scale, str) else lib.tensor(scale))

        assert_same(program, require("torch"))


# The operators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("last", [1.0, float("inf"), float("-inf"), float("nan")])
def test_unscaling_notes_what_is_not_finite(dtype: str, last: float, require: Require) -> None:
    def program(lib: Any) -> Any:
        found, inverse = lib.zeros(()), lib.tensor(0.3)
        grads = [lib.tensor([[3.0, 1.0]], dtype=getattr(lib, dtype)), lib.tensor([last], dtype=getattr(lib, dtype))]
        returned = lib._amp_foreach_non_finite_check_and_unscale_(grads, found, inverse)
        return [returned, found.item(), [str(g.tolist()) for g in grads]]

    assert_same(program, require("torch"))


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, f, i: lib._amp_foreach_non_finite_check_and_unscale_([lib.ones(2)], lib.zeros(2), lib.ones(1)),
        lambda lib, f, i: lib._amp_foreach_non_finite_check_and_unscale_([lib.ones(2)], lib.zeros(1), lib.ones(2)),
        lambda lib, f, i: lib._amp_foreach_non_finite_check_and_unscale_([lib.ones(2)], f(0.0).double(), f(1.0)),
        lambda lib, f, i: lib._amp_foreach_non_finite_check_and_unscale_([lib.ones(2)], f(0.0), f(1.0).double()),
        lambda lib, f, i: lib._amp_foreach_non_finite_check_and_unscale_([i(3)], f(0.0), f(1.0)),
        lambda lib, f, i: lib._amp_foreach_non_finite_check_and_unscale_([], f(0.0), f(1.0)),
        lambda lib, f, i: lib._amp_update_scale_(f(2.0), i(1).long(), f(0.0), 2.0, 0.5, 2),
        lambda lib, f, i: lib._amp_update_scale_(f(2.0).double(), i(1), f(0.0), 2.0, 0.5, 2),
        lambda lib, f, i: lib._amp_update_scale_(f(2.0), i(1), f(0.0).double(), 2.0, 0.5, 2),
        lambda lib, f, i: lib._amp_update_scale_(lib.ones(2), i(1), f(0.0), 2.0, 0.5, 2),
        lambda lib, f, i: lib._amp_update_scale_(f(2.0), lib.zeros(2, dtype=lib.int32), f(0.0), 2.0, 0.5, 2),
        lambda lib, f, i: lib._amp_update_scale_(f(2.0), i(1), lib.ones(2), 2.0, 0.5, 2),
        lambda lib, f, i: lib._amp_update_scale_(f(3e38), i(1), f(0.0), 2.0, 0.5, 2).tolist(),
        lambda lib, f, i: lib._amp_update_scale_(f(3.3), i(1), f(0.0), 1.1, 0.7, 2).tolist(),
        lambda lib, f, i: lib._amp_update_scale_(f(3.3), i(1), f(2.0), 1.1, 0.7, 2).tolist(),
        lambda lib, f, i: lib._amp_update_scale_(f(3.3), i(0), f(0.0), 1.1, 0.7, 2).tolist(),
    ],
)
def test_the_operators_check_and_round_as_pytorchs(call: Callable[..., Any], require: Require) -> None:
    def program(lib: Any) -> Any:
        return call(lib, lambda v: lib.tensor([v]), lambda v: lib.tensor([v], dtype=lib.int32))

    assert_same(program, require("torch"))


def test_on_cuda_a_step_is_skipped_and_nothing_is_read_to_update_the_scale(cuda: Devices) -> None:
    weight = glasstorch.ones(2, device="cuda", requires_grad=True)
    optimizer, scaler = glasstorch.optim.SGD([weight], lr=1.0), glasstorch.amp.GradScaler(init_scale=4.0)
    scaler.scale((weight * float("inf")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [1.0, 1.0]
    optimizer.zero_grad()
    scaler.scale((weight * 0.5).sum()).backward()
    assert weight.grad.tolist() == [1.0, 1.0]
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.5, 0.5]
    assert scaler.get_scale() == 2.0
