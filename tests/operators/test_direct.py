"""Does calling an operator directly do what calling its function does?"""

from __future__ import annotations

import glasstorch
from glasstorch.dispatch.trace import trace
from glasstorch.operators import direct


def test_a_direct_call_takes_the_same_path() -> None:
    x = glasstorch.ones(2, 3, requires_grad=True)
    pairs = [
        (lambda: direct.on_tensor("transpose.int")(x, 0, 1), lambda: x.transpose(0, 1)),
        (lambda: direct.factory("zeros")((2,), None, None, None, None), lambda: glasstorch.zeros(2)),
        (lambda: direct.on_tensors("cat")([x, x], 0), lambda: glasstorch.cat([x, x])),
    ]
    for call, function in pairs:
        with trace() as hops:
            result = call()
        with trace() as expected_hops:
            expected = function()
        assert [(h.operator, h.key, h.keys) for h in hops] == [(h.operator, h.key, h.keys) for h in expected_hops]
        assert result.tolist() == expected.tolist()
        assert result.requires_grad == expected.requires_grad


def test_modes_reach_direct_calls() -> None:
    x = glasstorch.ones(2, requires_grad=True)
    with glasstorch.no_grad():
        assert not direct.on_tensor("clone")(x, None).requires_grad
    assert direct.on_tensor("clone")(x, None).requires_grad
