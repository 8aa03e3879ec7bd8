"""Does joining work where no backend is named, and into a tensor that is given?"""

from __future__ import annotations

from typing import Any

import pytest


def test_an_empty_list_is_refused_though_no_tensor_chooses_a_backend(torch: Any) -> None:
    with pytest.raises(ValueError, match="expected a non-empty list of Tensors"):
        torch.cat([])
    with pytest.raises(RuntimeError, match="expects a non-empty TensorList"):
        torch.stack([])


def test_stack_into_a_tensor(torch: Any) -> None:
    out = torch.empty(0)
    x = torch.arange(3.0)
    assert torch.stack([x, x], 1, out=out) is out
    assert out.tolist() == [[0, 0], [1, 1], [2, 2]]
    with pytest.raises(TypeError, match="can't be cast to the desired output type Long"):
        torch.stack([x, x], out=torch.empty(0, dtype=torch.int64))


def test_stack_into_a_tensor_whose_dimensions_cannot_be_joined(torch: Any) -> None:
    x = torch.arange(4).view(2, 2)
    out = torch.zeros(2, 2, 2, dtype=torch.int64).transpose(1, 2)
    assert torch.stack([x, x], 1, out=out) is out
    assert out.tolist() == [[[0, 1], [0, 1]], [[2, 3], [2, 3]]]
    assert out.stride() == (4, 1, 2)


def test_a_backend_with_only_an_out_form_can_join() -> None:
    import glasstorch
    from glasstorch.dispatch.operator import registry
    from glasstorch.kernels.joining import cat

    x = glasstorch.arange(3)
    assert cat([x, x], 0).tolist() == [0, 1, 2, 0, 1, 2]
    assert registry.find("aten::cat").has_kernel_for("CompositeExplicitAutogradNonFunctional")


def test_each_way_of_joining_into_a_tensor(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    for name, expected in {
        "concat": [1, 2, 1, 2],
        "concatenate": [1, 2, 1, 2],
        "hstack": [1, 2, 1, 2],
        "vstack": [[1, 2], [1, 2]],
        "row_stack": [[1, 2], [1, 2]],
        "dstack": [[[1, 1], [2, 2]]],
        "column_stack": [[1, 1], [2, 2]],
    }.items():
        out = torch.empty(0, dtype=torch.float64)
        assert getattr(torch, name)([x, x], out=out) is out
        assert out.tolist() == expected
        with pytest.raises(TypeError, match="can't be cast to the desired output type Long"):
            getattr(torch, name)([x, x], out=torch.empty(0, dtype=torch.int64))
