"""Do the inner workings that a program can look at say what PyTorch's say?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch


def test_a_tensors_keys_can_be_looked_at(torch: Any) -> None:
    assert (
        str(torch._C._dispatch_keys(torch.ones(1))) == "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    )


def test_keys_are_switched_for_the_code_inside(torch: Any) -> None:
    outside = str(torch._C._dispatch_tls_local_exclude_set())
    assert str(torch._C._dispatch_tls_local_include_set()) == "DispatchKeySet(BackendSelect, ADInplaceOrView)"
    with torch._C._AutoDispatchBelowAutograd():
        assert "AutogradOther" in str(torch._C._dispatch_tls_local_exclude_set())
        assert not (torch.ones(1, requires_grad=True) * 2).requires_grad
    assert str(torch._C._dispatch_tls_local_exclude_set()) == outside
    with torch.inference_mode():
        assert str(torch._C._dispatch_tls_local_include_set()) == "DispatchKeySet(BackendSelect)"


def test_the_table_of_an_operator_is_printed(torch: Any) -> None:
    rows = dict(row.split(": ", 1) for row in torch._C._dispatch_dump_table("aten::matmul").splitlines())
    assert rows["CPU"].startswith("registered at ")
    assert rows["CPU"].endswith(" [math kernel]")
    assert rows["ADInplaceOrView"].startswith("fallthrough registered at ")
    assert rows["ADInplaceOrView"].endswith(" [backend fallback]")


def test_what_is_not_here_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"module 'glasstorch\._C' has no attribute '_jit_pass_dce'"):
        glasstorch._C._jit_pass_dce  # noqa: B018
