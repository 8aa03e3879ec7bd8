"""Is a tensor the object that PyTorch's is: towards NumPy, towards Python, and in what it shares?

Each test runs on glasstorch and, where it is installed, on PyTorch; what is true of ours alone imports it by name.
"""

from __future__ import annotations

import copy
import gc
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch._tensor import make, make_view
from glasstorch.core.tensor_impl import TensorImpl


@pytest.fixture(params=["glasstorch", "torch"])
def torch(request: pytest.FixtureRequest, require: Callable[[str], Any]) -> Any:
    """The library under test."""
    return require(request.param)


# NumPy ----------------------------------------------------------------------------------------------------------


def test_numpy_and_the_tensor_are_one_memory(torch: Any) -> None:
    t = torch.zeros(2, 3)
    array = t.t().numpy()
    array[2, 1] = 7
    assert t[1, 2].item() == 7
    assert (array.shape, array.strides) == ((3, 2), (4, 12))
    assert t._version == 0  # nobody counts what NumPy writes
    f = torch.from_numpy(array)
    assert (f.data_ptr(), f.stride(), f.dtype) == (t.data_ptr(), (1, 3), torch.float32)


@pytest.mark.parametrize("name", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"])
def test_every_numpy_dtype_comes_and_goes(torch: Any, name: str) -> None:
    array = np.array([[1, 0], [1, 1]], name)
    t = torch.from_numpy(array)
    assert t.dtype is getattr(torch, name)
    assert t.numpy().dtype == array.dtype
    assert t.tolist() == array.tolist()


def test_numpy_is_refused_where_a_write_would_go_unnoticed_or_no_dtype_exists(torch: Any) -> None:
    t = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that requires grad"):
        t.numpy()
    assert t.numpy(force=True).tolist() == [1, 1]
    assert t.detach().numpy().tolist() == [1, 1]
    with pytest.raises(TypeError, match="Got unsupported ScalarType BFloat16"):
        torch.ones(2, dtype=torch.bfloat16).numpy()
    with pytest.raises((TypeError, NotImplementedError)):
        torch.ones(2, device="meta").numpy()


def test_an_array_that_no_tensor_can_share_is_refused(torch: Any) -> None:
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(TypeError):
        torch.from_numpy(np.array(["a"]))
    with pytest.raises(TypeError):
        torch.from_numpy([1, 2])


def test_numpy_functions_take_tensors(torch: Any) -> None:
    t = torch.arange(3.0)
    assert np.asarray(t).tolist() == [0, 1, 2]
    assert np.asarray(t, dtype=np.int64).dtype == np.int64
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert np.add(t.numpy(), 1).tolist() == [1, 2, 3]


def test_numpy_copies_a_tensor_where_it_is_asked_to() -> None:
    t = glasstorch.arange(3.0)
    assert not np.shares_memory(np.array(t), t.numpy())  # PyTorch's __array__ does not take `copy` yet and warns
    with pytest.raises(ValueError, match="without a copy"):
        np.array(t, dtype=np.int64, copy=False)


ARRAY_FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "x + a": lambda x, a: x + a,
    "x * a": lambda x, a: x * a,
    "x / a": lambda x, a: x / a,
    "a / x": lambda x, a: a / x,
    "x @ a": lambda x, a: x @ a,
    "x == a": lambda x, a: x == a,
    "a == x": lambda x, a: a == x,
    "x += a": lambda x, a: operator.iadd(x, a),
    "np.add(x, a)": lambda x, a: np.add(x, a),
    "np.isnan(x)": lambda x, a: np.isnan(x),
    "number * x": lambda x, a: a[0] * x,
    "number - x": lambda x, a: a[0] - x,
    "number / x": lambda x, a: a[0] / x,
    "number ** x": lambda x, a: a[0] ** x,
    "number // x": lambda x, a: a[0] // x,
    "number % x": lambda x, a: a[0] % x,
    "x + number": lambda x, a: x + a[0],
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's __array_wrap__ takes no context yet
@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize(
    ("form", "array_dtype"),
    [
        (form, array_dtype)
        for form in ARRAY_FORMS
        for array_dtype in ("float64", "float32", "int64", "bool")
        if array_dtype != "bool" or "number" not in form  # PyTorch reads NumPy's bool now as a bool, now as a float
    ],
)
def test_an_array_or_its_number_as_an_operand_gives_what_it_gives_in_pytorch(
    require: Callable[[str], Any], form: str, dtype: str, array_dtype: str
) -> None:
    results = []
    for library in (glasstorch, require("torch")):
        x = library.tensor([1, 2, 4], dtype=getattr(library, dtype))
        result = ARRAY_FORMS[form](x, np.array([1, 5, 3]).astype(array_dtype))
        assert type(result) is library.Tensor
        results.append((str(result.dtype), result.tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "floordiv", "mod", "pow", "matmul", "lt", "ge"])
def test_an_array_on_the_left_is_refused_as_in_pytorch(torch: Any, name: str) -> None:
    with pytest.raises(TypeError):
        getattr(operator, name)(np.ones(3), torch.ones(3))


@pytest.mark.parametrize("name", ["truediv", "floordiv", "mod", "pow", "add"])
def test_what_is_no_operand_is_refused_in_the_words_of_python(torch: Any, name: str) -> None:
    with pytest.raises(TypeError, match="unsupported operand type"):
        getattr(operator, name)(None, torch.ones(3))


def test_an_array_is_refused_where_the_tensor_requires_grad(torch: Any) -> None:
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        torch.ones(3, requires_grad=True) * np.ones(3)


def test_an_array_taken_from_a_tensor_is_never_overwritten() -> None:
    """Large enough for the pool: the block belongs to whoever still reads it."""
    count = 1 << 20
    t = glasstorch.full((count,), 1.0)
    kept, part = t.numpy(), glasstorch.full((count,), 2.0).numpy()[5:10]
    view = glasstorch.full((count,), 3.0)[7:9]
    del t
    for _ in range(4):
        glasstorch.full((count,), 9.0)
        gc.collect()
    assert (kept.min(), kept.max(), part.tolist(), view.tolist()) == (1.0, 1.0, [2.0] * 5, [3.0] * 2)


# Python ---------------------------------------------------------------------------------------------------------


def test_one_element_is_a_python_number(torch: Any) -> None:
    assert [torch.tensor(v).item() for v in (3, 2.5, True)] == [3, 2.5, True]
    assert [type(torch.tensor(v).item()) for v in (3, 2.5, True)] == [int, float, bool]
    assert (int(torch.tensor(3.7)), float(torch.tensor([3])), bool(torch.tensor([[0]]))) == (3, 3.0, False)
    assert [10, 20, 30][torch.tensor(1)] == 20
    assert list(range(5))[torch.tensor(1) : torch.tensor(3)] == [1, 2]


def test_many_elements_are_no_number_and_no_truth_value(torch: Any) -> None:
    t = torch.ones(2)
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"):
        t.item()
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(t)
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with no values is ambiguous"):
        bool(torch.ones(0))
    for convert in (int, float, complex):
        with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
            convert(t)
    with pytest.raises(TypeError, match="only integer tensors of a single element can be converted to an index"):
        [1, 2][torch.tensor(1.0)]
    assert (t == t).all()


def test_numbers_come_out_and_are_found(torch: Any) -> None:
    assert [int(torch.tensor([2.7])), float(torch.tensor([[2]])), complex(torch.tensor(1j))] == [2, 2.0, 1j]
    assert list(range(torch.tensor([3]))) == [0, 1, 2]
    t = torch.arange(3.0)
    assert [2 in t, 5 in t, 1j in t, torch.tensor([1.0]) in t] == [True, False, False, True]
    for value in ("a", None):
        with pytest.raises(RuntimeError, match="only supports Tensor or scalar, but you passed in a <class"):
            _ = value in t
    assert [x.item() for x in reversed(t)] == [2, 1, 0]
    assert reversed(torch.tensor(4)).item() == 4
    with pytest.raises(RuntimeError, match=r"item\(\) cannot be called on meta tensors"):
        torch.ones(1, device="meta").item()


def test_a_tensor_is_a_sequence_of_its_first_dimension(torch: Any) -> None:
    t = torch.arange(6).view(3, 2)
    assert len(t) == 3
    assert [row.tolist() for row in t] == [[0, 1], [2, 3], [4, 5]]
    first, *_ = t
    first[0] = 9
    assert t[0, 0].item() == 9
    assert 4 in t
    assert 7 not in t
    with pytest.raises(TypeError, match="len\\(\\) of a 0-d tensor"):
        len(torch.tensor(1))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        list(torch.tensor(1))


def test_a_tensor_is_hashed_by_identity(torch: Any) -> None:
    t, u = torch.ones(1), torch.ones(1)
    assert {t: 1, u: 2}[t] == 1
    assert len({t, u, t}) == 2


def test_formatting_one_element_formats_the_number(torch: Any) -> None:
    assert f"{torch.tensor(1.23456):.2f}" == "1.23"
    assert f"{torch.tensor(3)}" == "3"
    assert f"{torch.ones(1)}" == "tensor([1.])"
    with pytest.raises(TypeError):
        f"{torch.ones(2):.2f}"


def test_nested_lists_come_out_as_they_lie(torch: Any) -> None:
    assert torch.arange(6).view(2, 3).t().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert torch.ones(2, 0).tolist() == [[], []]
    assert torch.tensor(1.5, dtype=torch.bfloat16).tolist() == 1.5


def test_the_missing_method_of_another_library_is_a_plain_attribute_error(torch: Any) -> None:
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'astype'"):
        torch.ones(1).astype("int")


# Copies, pickles, subclasses ------------------------------------------------------------------------------------


def test_a_deep_copy_is_of_the_same_kind_and_shares_nothing(torch: Any) -> None:
    t = torch.arange(6.0).view(2, 3).t().requires_grad_()
    c = copy.deepcopy([t, t])
    assert c[0] is c[1]
    assert c[0].data_ptr() != t.data_ptr()
    assert (c[0].tolist(), c[0].requires_grad, c[0].stride()) == (t.tolist(), True, (1, 3))


def test_a_deep_copy_has_the_gradient(torch: Any) -> None:
    t = torch.ones(2, 2).requires_grad_()
    (t * 2).sum().backward()
    c = copy.deepcopy(t)
    assert c.grad.tolist() == [[2, 2], [2, 2]]
    assert c.grad is not t.grad
    t.grad.zero_()
    assert c.grad.tolist() == [[2, 2], [2, 2]]


def test_copies_made_together_share_a_storage_where_their_sources_do(torch: Any) -> None:
    t = torch.arange(4.0)
    whole, part, repeated = copy.deepcopy([t, t[1:], t[:1].expand(3)])
    whole.fill_(7)
    assert (part.tolist(), repeated.tolist(), t.tolist()) == ([7, 7, 7], [7, 7, 7], [0, 1, 2, 3])
    assert (part.storage_offset(), repeated.stride()) == (1, (0,))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_a_copy_keeps_the_geometry(torch: Any, copied: Callable[[Any], Any]) -> None:
    base = torch.arange(12.0).view(3, 4)
    for t in (base.t(), base[1:, ::2], base[0].expand(2, 4), base.to("meta").t()):
        c = copied(t)
        assert (c.shape, c.stride(), c.storage_offset(), c.device) == (
            t.shape, t.stride(), t.storage_offset(), t.device,
        )  # fmt: skip
        assert c.is_meta or torch.eq(c, t).all()


def test_a_tensor_survives_pickling(torch: Any) -> None:
    for t in (torch.arange(3), torch.ones(2, 2).t(), torch.tensor(1.5, requires_grad=True), torch.ones(0, 3)):
        back = pickle.loads(pickle.dumps(t))
        assert (back.dtype, back.shape, back.tolist()) == (t.dtype, t.shape, t.tolist())
        assert back.requires_grad is t.requires_grad
    assert pickle.loads(pickle.dumps(torch.ones(2, dtype=torch.bfloat16))).dtype is torch.bfloat16


def test_a_subclass_shares_the_storage_and_stays_what_it_is(torch: Any) -> None:
    class Marked(torch.Tensor):
        pass

    t = torch.ones(2)
    m = t.as_subclass(Marked)
    assert isinstance(m, Marked)
    m.data[0] = 5
    assert t.tolist() == [5.0, 1.0]
    m.note = "kept"
    assert m.note == "kept"


# Data, dtypes, devices ------------------------------------------------------------------------------------------


def test_data_is_the_storage_without_history_or_version(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    d = a.data
    d[0] = 5
    assert (a.tolist(), a._version, d._version, d.requires_grad) == ([5, 1], 0, 1, False)
    a.data = torch.zeros(3)
    assert (a.shape, a.requires_grad) == ((3,), True)


def test_converting_to_what_it_is_gives_the_tensor_itself(torch: Any) -> None:
    t = torch.ones(2)
    assert t.float() is t
    assert t.to(torch.float32) is t
    assert t.to("cpu") is t
    assert t.cpu() is t
    assert t.contiguous() is t
    assert t.to(torch.float32, copy=True) is not t
    names = {"double": torch.float64, "half": torch.float16, "bfloat16": torch.bfloat16, "long": torch.int64,
             "int": torch.int32, "bool": torch.bool}  # fmt: skip
    assert {name: getattr(t, name)().dtype for name in names} == names


def test_converting_to_an_integer_cuts_towards_zero(torch: Any) -> None:
    assert torch.tensor([1.9, -1.9]).long().tolist() == [1, -1]
    assert torch.tensor([0.0, -0.5]).bool().tolist() == [False, True]
    assert torch.tensor([True, False]).float().tolist() == [1.0, 0.0]


def test_facts_about_a_tensor(torch: Any) -> None:
    t = torch.ones(2, 3)
    assert (t.is_floating_point(), t.is_complex(), t.is_meta, t.is_cuda) == (True, False, False, False)
    assert (t.device.type, repr(t.layout)) == ("cpu", "torch.strided")
    assert (t.nbytes, t.itemsize, t.element_size(), t.numel(), t.dim()) == (24, 4, 4, 6, 2)
    assert torch.empty(1, device="cpu:0").device == torch.device("cpu")
    assert torch.empty(1, device="meta").is_meta


def test_contiguity_can_be_asked_for_a_format(torch: Any) -> None:
    x = torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    assert not x.is_contiguous()
    assert x.is_contiguous(memory_format=torch.channels_last)
    assert x.stride() == (60, 1, 15, 3)


# Uninitialised and resized --------------------------------------------------------------------------------------


def test_uninitialised_tensors_have_the_sizes_and_order_asked_for(torch: Any) -> None:
    like = torch.ones(2, 3, dtype=torch.int32).t()
    made = [
        torch.empty(2, 3), torch.empty((2,), dtype=torch.float64), torch.empty_strided((2, 3), (1, 2)),
        torch.empty_like(like), torch.empty_like(like, dtype=torch.float64, memory_format=torch.contiguous_format),
        like.new_empty(4), like.new_empty_strided((2, 2), (1, 2)), torch.empty(0, 5),
        torch.empty(1, 2, 3, 4, memory_format=torch.channels_last),
    ]  # fmt: skip
    assert [(tuple(t.shape), t.stride(), repr(t.dtype)) for t in made] == [
        ((2, 3), (3, 1), "torch.float32"), ((2,), (1,), "torch.float64"), ((2, 3), (1, 2), "torch.float32"),
        ((3, 2), (1, 3), "torch.int32"), ((3, 2), (2, 1), "torch.float64"),
        ((4,), (1,), "torch.int32"), ((2, 2), (1, 2), "torch.int32"), ((0, 5), (5, 1), "torch.float32"),
        ((1, 2, 3, 4), (24, 1, 8, 2), "torch.float32"),
    ]  # fmt: skip
    assert all(t._version == 0 for t in made)


def test_resizing_keeps_what_fits_and_leaves_no_stale_memory(torch: Any) -> None:
    t = torch.arange(4.0)
    view = t[1:3]
    assert view.tolist() == [1, 2]
    assert t.resize_(100) is t
    t[4:].fill_(7)
    t[1] = 9
    assert view.tolist() == [9, 2]
    assert t[:5].tolist() == [0, 9, 2, 3, 7]
    assert (t.shape, t.stride(), t.untyped_storage().nbytes()) == ((100,), (1,), 400)
    t.resize_(2)
    assert (t.tolist(), t.untyped_storage().nbytes()) == ([0, 9], 400)


def test_what_is_resized_must_not_require_grad(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        torch.ones(2, requires_grad=True).resize_(3)


def test_a_storage_that_numpy_was_shown_is_not_resized(torch: Any) -> None:
    x = torch.ones(4)
    x[1:].numpy()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        x.resize_(10)


def test_a_storage_that_belongs_to_numpy_is_not_resized(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        torch.from_numpy(np.zeros(2)).resize_(5)


def test_a_tensor_can_be_made_to_look_at_another_storage(torch: Any) -> None:
    source, t = torch.arange(6.0), torch.zeros(1)
    assert t.set_(source.untyped_storage(), 1, (2, 2), (2, 1)) is t
    assert t.tolist() == [[1, 2], [3, 4]]
    t[0, 0] = 9
    assert source[1].item() == 9
    t.set_(source.untyped_storage(), 4, (3,), (1,))
    assert (source.untyped_storage().nbytes(), t[:2].tolist(), source[4:].tolist()) == (28, [4, 5], [4, 5])


def test_views_of_one_storage_return_the_same_storage(torch: Any) -> None:
    t = torch.arange(6.0)
    v = t[2:4]
    assert v.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()
    assert v.data_ptr() == t.data_ptr() + 8
    assert (v.storage_offset(), v.untyped_storage().nbytes(), len(v.untyped_storage())) == (2, 24, 24)


# Threads --------------------------------------------------------------------------------------------------------


def test_threads_may_share_a_tensor_that_none_of_them_changes(torch: Any) -> None:
    import threading

    shared = torch.arange(12.0).view(3, 4).t()
    wanted = (shared * 2 + 1).sum().item()
    found: list[float] = []
    threads = [
        threading.Thread(target=lambda: found.extend((shared * 2 + 1).sum().item() for _ in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 200


def test_the_class_takes_sizes_or_data(torch: Any) -> None:
    assert torch.Tensor(2, 3).shape == (2, 3)
    assert torch.Tensor(torch.Size([4])).shape == (4,)
    assert torch.Tensor().shape == (0,)
    data = torch.Tensor([[1, 2], [3, 4]])
    assert (data.dtype, data.tolist()) == (torch.float32, [[1, 2], [3, 4]])
    with pytest.raises(TypeError, match=r"new\(\): data must be a sequence \(got float\)"):
        torch.Tensor(2.5)


def test_a_view_has_every_field_that_a_tensor_has() -> None:
    base = glasstorch.ones(6)
    view, made = make_view(base, (2,), (3,), 1), make(base.untyped_storage(), base.dtype, (2,), (3,), 1)
    fields = [field for field in TensorImpl.__slots__ if field != "__weakref__"]
    assert {field: getattr(view, field) for field in fields} == {field: getattr(made, field) for field in fields}
