"""Do programs over modes, libraries, trees and fake tensors see what they see with PyTorch?

Each is a part of a program in the manner of PyTorch's own tests, and gave something else when it was first run here.
"""

from __future__ import annotations

import copy
import gc
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same


def within(t: Any, name: str) -> Any:
    """A module of a library."""
    return importlib.import_module(f"{t.__name__}.{name}")


def seen(t: Any, call: Callable[[], Any]) -> list[Any]:
    """The operators that a mode sees in a call, with what it is given by name."""
    found: list[Any] = []

    class See(within(t, "utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            found.append((str(func), {name: str(value) for name, value in (kwargs or {}).items()}))
            return func(*args, **(kwargs or {}))

    with See():
        call()
    return found


def refusal(call: Callable[[], Any]) -> Any:
    """The class of an error, and the first line of what it says up to its first sentence; else what was returned."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 (it is what is compared)
        return type(error).__name__, str(error).partition("\n")[0].partition(". ")[0].partition(";")[0].rstrip(".")


def defined(t: Any, schema: str, kernel: Any, key: str = "CPU", **how: Any) -> Any:
    """An operator of a program, and the library that holds it."""
    library = t.library.Library("found_by_programs", "FRAGMENT")
    library.define(schema)
    library.impl(schema.partition("(")[0], kernel, key, **how)
    return getattr(t.ops.found_by_programs, schema.partition("(")[0]), library


def with_an_operator(t: Any, schema: str, kernel: Any, use: Callable[[Any], Any], **how: Any) -> Any:
    op, library = defined(t, schema, kernel, **how)
    try:
        return use(op)
    finally:
        library._destroy()


def wrapper(t: Any) -> Any:
    """A class of tensors that wrap another."""

    class Wrapper(t.Tensor):  # type: ignore[misc,name-defined]
        inner: Any

        @staticmethod
        def __new__(cls: Any, inner: Any) -> Any:
            made = t.Tensor._make_wrapper_subclass(cls, inner.size(), strides=inner.stride(), dtype=inner.dtype)
            made.inner = inner
            return made

        def __repr__(self, **more: Any) -> str:
            return f"Wrapper({self.inner.tolist()})"

        @classmethod
        def __torch_dispatch__(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*(a.inner if isinstance(a, Wrapper) else a for a in args), **(kwargs or {}))
            return Wrapper(result) if isinstance(result, t.Tensor) else result

    return Wrapper


def in_place_of_mul(t: Any) -> Any:
    """What a kernel for autograd gets that takes its key set, and where it goes on."""
    found: list[Any] = []

    def mul(keys: Any, a: Any, b: Any) -> Any:
        found.append((keys.has(t._C.DispatchKey.CPU), keys.highestPriorityTypeId().name))
        return t.ops.aten.mul.Tensor.redispatch(keys & t._C._after_autograd_keyset, a, b)

    library = t.library.Library("aten", "IMPL")
    try:
        library.impl("mul.Tensor", mul, "AutogradCPU", with_keyset=True)
        return (t.ones(2, requires_grad=True) * t.full((2,), 3.0)).tolist(), found
    finally:
        library._destroy()


def a_custom_operator(t: Any) -> Any:
    def f(x):  # type: ignore[no-untyped-def]
        return x + 1

    f.__annotations__ = {"x": t.Tensor, "return": t.Tensor}
    made = t.library.custom_op("found_by_programs::custom", f, mutates_args=(), tags=[t.Tag.core])
    return [str(tag) for tag in made._opoverload.tags], refusal(lambda: made(3))[0], made(t.ones(1)).tolist()


def tags_of(t: Any, *tags: str) -> Any:
    library = t.library.Library("found_by_programs", "FRAGMENT")
    try:
        library.define("tagged(Tensor x) -> Tensor", tags=tuple(t.Tag.__members__[tag] for tag in tags))
        return [repr(tag) for tag in t.ops.found_by_programs.tagged.default.tags]
    finally:
        library._destroy()


def mode_of_functions(t: Any, answer: Any) -> Any:
    class Answers(within(t, "overrides").TorchFunctionMode):  # type: ignore[misc,name-defined]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return answer

    with Answers():
        return refusal(lambda: t.ones(1))


def message_of_refused_function(t: Any) -> str:
    class Refuses:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    with pytest.raises(TypeError) as caught:
        t.add(Refuses(), 1)
    return str(caught.value).replace(t.__name__, "torch")


def mode_as_a_classmethod(t: Any, module: str, base: str, handler: str) -> Any:
    def answer(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))

    kind = type("Mode", (getattr(within(t, module), base),), {handler: classmethod(answer)})

    def use() -> Any:
        with kind():
            return t.ones(1)

    return refusal(use)


def asked_of_its_class(t: Any, policy: str, answers: dict[str, Any], use: Callable[[Any], Any], **more: Any) -> Any:
    """What a class is asked of its tensor, and what is made of its answers."""
    asked: list[str] = []

    class Asked(t.Tensor):  # type: ignore[misc,name-defined]
        @classmethod
        def __torch_dispatch__(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(str(func))
            return answers.get(str(func), NotImplemented)

    made = t.Tensor._make_wrapper_subclass(Asked, (6, 2), dispatch_sizes_strides_policy=policy, **more)
    told = [refusal(lambda: use(made))]
    return asked, told


def answering() -> Any:
    class Answering:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func.__name__, [kind.__name__ for kind in types], len(args)

    return Answering()


def everything_about(x: Any) -> Any:
    return (
        tuple(x.size()),
        tuple(x.shape),
        x.dim(),
        x.ndim,
        x.numel(),
        x.stride(),
        x.is_contiguous(),
        x.storage_offset(),
    )


OTHER_SIZES = {
    "aten.sym_size.default": [5, 3], "aten.dim.default": 2, "aten.sym_numel.default": 15,
    "aten.sym_stride.default": (1, 1), "aten.is_contiguous.default": None, "aten.sym_storage_offset.default": 0,
}  # fmt: skip


def records_inside_a_handler(t: Any) -> Any:
    overrides, found = within(t, "overrides"), []

    class Records(t.Tensor):  # type: ignore[misc,name-defined]
        @classmethod
        def __torch_dispatch__(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            with overrides.enable_reentrant_dispatch():
                x = t.ones(1, requires_grad=True)
                (x * 2).sum().backward()
                found.append(x.grad.tolist())
            return t.ones(2)

    t.Tensor._make_subclass(Records, t.ones(2)) + 1
    return found, refusal(lambda: overrides.enable_reentrant_dispatch().__enter__())[0]


def trained_under_a_mode(t: Any) -> Any:
    layers = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.ReLU(), t.nn.LayerNorm(3), t.nn.Linear(3, 1))
    return [name for name, _ in seen(t, lambda: [layers(t.ones(1, 2)).sum().backward() for _ in range(2)])]


def storages(t: Any) -> Any:
    reference = within(t, "multiprocessing.reductions").StorageWeakRef
    x = t.ones(4)
    v, other = x[1:], t.ones(4)
    one, two = reference(x.untyped_storage()), reference(v.untyped_storage())
    same = one == two, hash(one) == hash(two), one == reference(other.untyped_storage()), one.expired()
    same += (x.untyped_storage()._cdata == v.untyped_storage()._cdata, x._cdata == x._cdata, x._cdata == v._cdata)
    del x, v
    gc.collect()
    return same, one.expired()


def fake(t: Any, use: Callable[[Any], Any]) -> Any:
    mode = within(t, "_subclasses.fake_tensor").FakeTensorMode()
    with mode:
        return use(mode)


def trained_without_elements(t: Any) -> Any:
    layer = t.nn.Linear(2, 3)
    optimizer = t.optim.Adam(layer.parameters())
    layer(t.ones(1, 2)).sum().backward()
    optimizer.step()
    return repr(layer.weight), [repr(state["step"]) for state in optimizer.state.values()]


def fake_modes(t: Any) -> Any:
    guards, module = within(t, "_guards"), within(t, "_subclasses.fake_tensor")
    mode, other = module.FakeTensorMode(), module.FakeTensorMode()
    with mode:
        x, inside = t.ones(1), guards.detect_fake_mode() is mode
    with other:
        y = t.ones(1)
    mixed = refusal(lambda: guards.detect_fake_mode([x, y]))[0], refusal(lambda: x + y)[1].partition(" x.")[0]
    return inside, guards.detect_fake_mode([x]) is mode, guards.detect_fake_mode(), guards.active_fake_mode(), mixed


def schemas_compared(t: Any) -> Any:
    mode = within(t, "_subclasses.schema_check_mode").SchemaCheckMode

    def returns_its_argument(op: Any) -> Any:
        with mode():
            return op(t.ones(1))

    return with_an_operator(
        t, "same(Tensor x) -> Tensor", lambda x: x, lambda op: refusal(lambda: returns_its_argument(op))
    )


def registered_by_the_old_name(t: Any) -> Any:
    tree = within(t, "utils._pytree")

    class Pair:
        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

    tree._register_pytree_node(Pair, lambda pair: ([pair.a, pair.b], None), lambda values, _: Pair(*values))
    try:
        return tree.tree_leaves([Pair(1, [2]), 3])
    finally:
        tree._deregister_pytree_node(Pair)


def size_as_json(t: Any) -> Any:
    tree = within(t, "utils._pytree")
    return tree.treespec_dumps(tree.tree_structure(t.Size([1, 2])))


def by_key(t: Any) -> Any:
    _, library = defined(t, "f(Tensor x) -> Tensor", lambda x: x)
    kernels = t.library.Library("found_by_programs", "IMPL", "CUDA")
    try:
        return refusal(lambda: kernels.impl("f", lambda x: x, "Meta"))
    finally:
        kernels._destroy()
        library._destroy()


ARGUMENTS = "f(Tensor x, int n=1, bool b=False, Device? d=None) -> Tensor"


def called(t: Any, *args: Any) -> Any:
    got: list[Any] = []

    def kernel(x: Any, *rest: Any) -> Any:
        got.extend((type(value).__name__, str(value)) for value in rest)
        return x.clone()

    def use(op: Any) -> Any:
        answer = refusal(lambda: op(*args))
        return answer if isinstance(answer, tuple) else got

    return with_an_operator(t, ARGUMENTS, kernel, use)


def freed_by_a_refusal(t: Any) -> Any:
    """The refusals of a library of an unknown key, and of one of the same namespace afterwards."""
    refused = refusal(lambda: t.library.Library("found_after_a_refusal", "DEF", "NoKey"))
    library = t.library.Library("found_after_a_refusal", "DEF")
    library._destroy()
    return refused


def factory_in_a_kernel(t: Any) -> Any:
    """What a mode sees of a kernel that is composed of others and makes a tensor."""

    def use(op: Any) -> Any:
        return seen(t, lambda: op(t.zeros(1)))

    return with_an_operator(t, "f(Tensor x) -> Tensor", lambda x: x + t.ones(1), use, key="CompositeImplicitAutograd")


def set_of_keys(t: Any, requires_grad: bool) -> Any:
    """The keys that the kernels of a program's operator are given: only those that do not fall through."""
    found: list[Any] = []
    cpu = t._C.DispatchKeySet(t._C.DispatchKey.CPU)
    library = t.library.Library("found_by_programs", "FRAGMENT")

    def on_cpu(keys: Any, x: Any) -> Any:
        found.extend((str(keys), keys == cpu, keys != cpu, str(keys - cpu)))
        return x * 3

    def with_gradient(keys: Any, x: Any) -> Any:
        found.append(str(keys))
        return t.ops.found_by_programs.keys.default.redispatch(keys & t._C._after_autograd_keyset, x)

    try:
        library.define("keys(Tensor x) -> Tensor")
        library.impl("keys", on_cpu, "CPU", with_keyset=True)
        library.impl("keys", with_gradient, "Autograd", with_keyset=True)
        made = t.ops.found_by_programs.keys(t.ones(2, requires_grad=requires_grad))
        return found, made.tolist(), type(made.grad_fn).__name__  # what a kernel of a program calls is recorded
    finally:
        library._destroy()


def references_to_storages(t: Any) -> Any:
    """Whether a reference to a storage that is gone is taken for one to a new storage, maybe at the same address."""
    reference = within(t, "multiprocessing.reductions").StorageWeakRef
    gone = reference(t.ones(2).untyped_storage())
    others = [t.ones(2).untyped_storage() for _ in range(50)]
    one = others[0]
    same = reference(one), reference(one)
    return gone.expired(), [gone == reference(other) for other in others], same[0] == same[1], len({*same})


def asked_of_a_derived_class(t: Any) -> Any:
    """What a class and one that is derived from it are asked, both with tensors that are asked for their sizes."""
    asked: list[str] = []

    class Base(t.Tensor):  # type: ignore[misc,name-defined]
        @classmethod
        def __torch_dispatch__(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(f"{cls.__name__} {func}")
            return None

    derived = type("Derived", (Base,), {})
    for kind in (Base, derived):
        x = t.Tensor._make_wrapper_subclass(kind, (6, 2), dispatch_sizes_strides_policy="sizes")
        asked.append(str((x.size(), x.stride(), x.is_contiguous(memory_format=t.channels_last), x.numel())))
    return asked


def implemented_first(t: Any) -> Any:
    """What is known of kernels before their operator is declared, while it is, and after its declaration has gone."""
    queries, name = t._C, "found_before::f"
    kernels, declarations = t.library.Library("found_before", "IMPL"), []
    found: list[Any] = []

    def note() -> None:
        dumped = [line.partition(" at ")[0] for line in queries._dispatch_dump(name).splitlines()]
        found.append([line for line in dumped if not line.startswith("debug")])
        dangling = [text for text in queries._dispatch_find_dangling_impls() if name in text]
        found.append([len(dangling), queries._dispatch_has_kernel(name)])
        found.append([queries._dispatch_get_all_op_names().count(name), hasattr(t.ops.found_before, "f")])
        found.append(queries._dispatch_get_registrations_for_dispatch_key("CPU").count(name))
        if hasattr(t.ops.found_before, "f"):
            found.append([refusal(lambda: t.ops.found_before.f(t.ones(2)).tolist())[:1]])

    def declare() -> None:
        declarations.append(t.library.Library("found_before", "FRAGMENT"))
        declarations[-1].define("f(Tensor x) -> Tensor")

    note()
    kernels.impl("f", lambda x: x * 2, "CPU")
    t.library.register_fake(name, lambda x: x.new_empty(7), lib=kernels)
    note()
    found.append(refusal(lambda: queries._dispatch_find_schema_or_throw(name, "")))
    for _ in range(2):
        declare()
        note()
        found.append(list(t.ops.found_before.f(t.ones(2, device="meta")).shape))
        found.append(fake(t, lambda mode: list(t.ops.found_before.f(t.ones(2)).shape)))
        declarations[-1]._destroy()
        note()
    declare()
    kernels._destroy()
    note()
    declarations[-1]._destroy()
    note()
    return found


def composed_first(t: Any) -> Any:
    """A kernel for meta is refused of an operator that is composed of others, though no library has declared it."""
    library = t.library.Library("found_before", "IMPL")
    library.impl("composed", lambda x: x)
    try:
        return refusal(lambda: library.impl("composed", lambda x: x, "Meta"))
    finally:
        library._destroy()


FOUND: dict[str, Callable[[Any], Any]] = {
    "kernels before their operator": implemented_first,
    "a composed kernel before its operator": composed_first,
    "the namespace of a library that was refused": freed_by_a_refusal,
    "options of a factory in a kernel of a program": factory_in_a_kernel,
    "options of indices": lambda t: seen(t, lambda: (t.tril_indices(2, 2), t.triu_indices(2, 2, dtype=t.int32))),
    "the keys that a kernel is given": lambda t: set_of_keys(t, False),
    "the keys that a kernel is given, and a gradient": lambda t: set_of_keys(t, True),
    "references to storages": references_to_storages,
    "a derived class that answers for sizes": asked_of_a_derived_class,
    "a class that does not say how many dimensions": lambda t: asked_of_its_class(
        t, "sizes", {"aten.dim.default": None}, lambda x: x.dim()
    ),
    "a class that does not say its layout": lambda t: asked_of_its_class(
        t, "strides", {"prim.layout.default": None}, lambda x: x.layout, dispatch_layout=True
    ),
    "a class that does not say its device": lambda t: asked_of_its_class(
        t, "strides", {"prim.device.default": None}, lambda x: x.is_cpu, dispatch_device=True
    )[0],
    "a question with too many arguments": lambda t: refusal(lambda: t.ops.aten.size(t.ones(2, 3), 0, 1)),
    "a question with an argument of another type": lambda t: refusal(lambda: t.ops.aten.size(t.ones(2, 3), "a")),
    "options of a factory": lambda t: seen(t, lambda: (t.ones(2), t.zeros(2, dtype=t.int8), t.rand(1), t.arange(3))),
    "options of a window": lambda t: seen(t, lambda: (t.hann_window(4), t.eye(2), t.empty_strided((2,), (1,)))),
    "options of a factory like another": lambda t: seen(
        t, lambda: (t.zeros_like(t.ones(1)), t.ones(1).new_full((2,), 3))
    ),
    "an operator is told what it is given": lambda t: seen(
        t, lambda: (t.ops.aten.ones([2]), t.ops.aten.ones.default([2]), t.ops.aten.zeros_like(t.ones(1)))
    ),
    "a complex number for a tensor": lambda t: t.ops.aten.mul.Tensor(t.ones(1), 2j).tolist(),
    "tags of an operator": lambda t: [
        tag in t.ops.aten.add.Tensor.tags for tag in (t.Tag.core, t.Tag.pt2_compliant_tag, t.Tag.view_copy)
    ],
    "tags of a definition": lambda t: tags_of(t, "pt2_compliant_tag"),
    "tags of a definition, in its order": lambda t: tags_of(t, "pointwise", "needs_fixed_stride_order", "core"),
    "a tag as a number": lambda t: [int(t.Tag.core), int(t.Tag.view_copy), int(t.Tag.pointwise)],
    "a custom operator": a_custom_operator,
    "the key set of a call": in_place_of_mul,
    "a mode whose handler is of its class": lambda t: mode_as_a_classmethod(
        t, "utils._python_dispatch", "TorchDispatchMode", "__torch_dispatch__"
    ),
    "a mode of functions whose handler is of its class": lambda t: mode_as_a_classmethod(
        t, "overrides", "TorchFunctionMode", "__torch_function__"
    ),
    "a mode of functions that refuses": lambda t: mode_of_functions(t, NotImplemented),
    "a function that nobody answers": message_of_refused_function,
    "no mode of functions to take off": lambda t: refusal(lambda: within(t, "overrides")._pop_mode()),
    "a handler that returns no tensor": lambda t: refusal(
        lambda: with_an_operator(t, "f(Tensor x) -> Tensor", lambda x: x, lambda op: op("a"))
    ),
    "where functions can be overridden": lambda t: [
        function in within(t, "overrides").get_overridable_functions()[space]
        for space, function in ((t, t.add), (t.Tensor, t.Tensor.add), (t.nn.functional, t.nn.functional.linear))
    ],
    "functions of which nobody is asked": lambda t: [
        getattr(t, name) in within(t, "overrides").get_ignored_functions()
        for name in ("is_tensor", "save", "from_numpy", "rand_like", "add", "set_default_device")
    ],
    "instances of a class": lambda t: [
        type(one).__name__ for one in within(t, "_tensor")._convert((t.ones(1), 3), type("Kept", (t.Tensor,), {}))
    ],
    "no kernel for meta": lambda t: with_an_operator(
        t, "f(Tensor x) -> Tensor", lambda x: x, lambda op: refusal(lambda: op(t.ones(1, device="meta")))
    ),
    "a fallthrough that is called": lambda t: refusal(t.library.fallthrough_kernel)[0],
    "results as a struct sequence": lambda t: [
        within(t, "utils._pytree").is_structseq(t.ones(2).max(0)), type(t.ones(2).max(0)).n_fields,
        within(t, "utils._pytree").is_structseq_class(t.return_types.max),
    ],
    "a conversion to what answers": lambda t: t.ones(1).to(answering()),
    "storages": storages,
    "a class that answers for sizes": lambda t: asked_of_its_class(t, "sizes", OTHER_SIZES, everything_about),
    "a class that answers for strides": lambda t: asked_of_its_class(t, "strides", OTHER_SIZES, everything_about),
    "a class that refuses to say its sizes": lambda t: asked_of_its_class(t, "sizes", {}, lambda x: x.size())[0],
    "a class that answers for its device": lambda t: asked_of_its_class(
        t, "strides", {"prim.device.default": t.device("meta")},
        lambda x: [str(x.device), x.is_meta], dispatch_device=True
    ),
    "a class that answers for its layout": lambda t: asked_of_its_class(
        t, "strides", {"prim.layout.default": t.sparse_csr}, lambda x: str(x.layout), dispatch_layout=True
    ),
    "an unknown policy": lambda t: refusal(lambda: asked_of_its_class(t, "nonsense", {}, lambda x: x)),
    "questions called by name": lambda t: [
        getattr(t.ops.aten, name)(t.ones(2, 3)) for name in ("size", "sym_size", "stride", "dim", "numel", "sym_numel")
    ],
    "questions with a dimension": lambda t: [
        t.ops.aten.size(t.ones(2, 3), 1), t.ops.aten.sym_size.int(t.ones(2, 3), 0), t.ops.aten.stride.int(t.ones(2), 0),
        t.ops.aten.is_nonzero(t.ones(1)), str(t.ops.aten.sym_stride.default), str(t.ops.prim.device.default),
    ],
    "gradients inside a handler": records_inside_a_handler,
    "what a mode sees of training": trained_under_a_mode,
    "a class that is none of tensors": lambda t: refusal(lambda: t.ones(1).as_subclass(int)),
    "a copy of a wrapper": lambda t: repr(copy.deepcopy(wrapper(t)(t.ones(2)))),
    "a kernel for another key": by_key,
    "a library for an unknown key": lambda t: refusal(lambda: t.library.Library("aten", "IMPL", "NoKey")),
    "no arrow": lambda t: refusal(lambda: defined(t, "f(Tensor x)", lambda x: x)),
    "only a name": lambda t: refusal(lambda: defined(t, "f", lambda x: x)),
    "an unknown type": lambda t: refusal(lambda: defined(t, "f(Foo x) -> Tensor", lambda x: x)),
    "an argument without a name": lambda t: refusal(lambda: defined(t, "f(Tensor) -> Tensor", lambda x: x)),
    "a bool for an int": lambda t: called(t, t.ones(1), True),
    "an int for a bool": lambda t: called(t, t.ones(1), 2, 1),
    "a number for a device": lambda t: called(t, t.ones(1), 2, True, 3),
    "a number for a tensor": lambda t: called(t, 3),
    "a list for a tensor": lambda t: called(t, [t.ones(1)]),
    "an optimizer on fake tensors": lambda t: fake(t, lambda mode: trained_without_elements(t)),
    "what a fake tensor has": lambda t: fake(
        t, lambda mode: [getattr(t.ones(1), name) for name in ("constant", "item_memo", "nonzero_memo", "real_tensor")]
    ),
    "what a fake mode has": lambda t: fake(t, lambda mode: [mode.propagate_real_tensors, mode.in_kernel_invocation]),
    "a copy of a fake tensor": lambda t: fake(t, lambda mode: repr(copy.deepcopy(t.ones(2)))),
    "fake modes": fake_modes,
    "no results kept": lambda t: within(t, "_subclasses.fake_tensor").FakeTensorMode.cache_clear(),
    "schemas compared": schemas_compared,
    "a class of trees, by the old name": registered_by_the_old_name,
    "a leaf, by the old name": lambda t: [within(t, "utils._pytree")._is_leaf(one) for one in (3, [3], None)],
    "a size as JSON": size_as_json,
    "the form of JSON": lambda t: within(t, "utils._pytree").DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL,
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_a_program_sees_what_it_sees_in_pytorch(name: str, require: Callable[[str], Any]) -> None:
    def quietly(t: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return FOUND[name](t)

    assert_same(quietly, require("torch"))
