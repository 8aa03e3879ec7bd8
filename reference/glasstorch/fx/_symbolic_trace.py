"""How is a Python program captured by running it with proxies?

Mirrors: torch/fx/_symbolic_trace.py
Differs: how names are patched is in _patching.py.

The function, or the module's `forward`, is called once with a proxy for each argument. Modules of torch.nn stay calls;
all others are run through. What the function returns becomes the graph's output.
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from types import FunctionType, ModuleType
from typing import Any, ClassVar, Final

from glasstorch._tensor import Tensor
from glasstorch.core.pytree import tree_flatten, tree_map, tree_unflatten
from glasstorch.core.pytree_spec import TreeSpec
from glasstorch.core.random.generator import Generator
from glasstorch.fx._names import LIBRARY, at
from glasstorch.fx._patching import Patcher, new_patcher, with_plain_parameters
from glasstorch.fx._patching import wrap as wrap
from glasstorch.fx._pytree_codegen import _PyTreeCodeGen, _PyTreeInfo
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Argument, map_aggregate
from glasstorch.fx.proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase, base_types
from glasstorch.nn.modules.container import Sequential
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter

HAS_VARSTUFF: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
OPERATORS: Final = f"{LIBRARY}.operators.generated.functions"
LEAF_MODULES: Final = ("glasstorch.nn.", "torch.nn.")

# Values that code cannot write down, with the beginning of the names of the attributes that keep them.
CONSTANTS: Final[dict[type, str]] = {
    Tensor: "_tensor_constant", TreeSpec: "_tree_spec_constant", Generator: "_opaque_obj",
}  # fmt: skip

_module_getattr = Module.__getattr__
_module_call = Module.__call__

_proxyable_classes: dict[type, None] = {}
_is_fx_tracing_flag = False


def is_fx_tracing() -> bool:
    """Whether a tracer is running a program at the moment."""
    return _is_fx_tracing_flag


def is_fx_symbolic_tracing() -> bool:
    """Whether a tracer is running a program at the moment."""
    return _is_fx_tracing_flag


class ProxyableClassMeta(type):
    """The metaclass of classes whose construction is recorded: with a proxy among its arguments, it is a node."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        found: list[Proxy] = []

        def note(value: Any) -> Any:
            if isinstance(value, Proxy):
                found.append(value)
            return value

        if is_fx_tracing():
            map_aggregate((args, kwargs), note)
        if found:
            return found[0].tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


class PHBase:
    """Marks a value in `concrete_args` that stays an input."""

    def __repr__(self) -> str:
        return "PH"


PH: Final = PHBase()


class PHWithMeta(PHBase):
    """A mark whose attributes are copied to the node of the input."""

    def __init__(self, ph_key: str | None = None) -> None:
        self.ph_key = ph_key


def _transfer_attrs(fr: object, to: object) -> None:
    for name in dir(fr):
        value = getattr(fr, name)
        if not callable(value) and not name.startswith("__") and not hasattr(to, name):
            setattr(to, name, value)


@wrap
def _assert_is_none(value: object, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


class Tracer(TracerBase):
    """Captures a function or module as a graph. A subclass can say what stays a call, and what is an argument.

    `autowrap_modules` and `autowrap_functions` are recorded as calls wherever the program has a global name for them.
    With `param_shapes_constant`, the sizes of parameters are taken as known.
    """

    _qualname_counter: ClassVar[dict[str, int]] = defaultdict(int)

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        names = chain.from_iterable(vars(module).items() for module in autowrap_modules)
        self._autowrap_function_ids = {
            id(value) for name, value in names if not name.startswith("_") and callable(value)
        }
        self._autowrap_function_ids |= {id(function) for function in autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}

    # What a subclass may change ----------------------------------------------------------------------------------

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a call of a submodule stays one node: for those of torch.nn, but not for Sequential."""
        return m.__module__.startswith(LEAF_MODULES) and not isinstance(m, Sequential)

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call of a submodule gives: the proxy of a `call_module` node for a leaf, else what `forward` gives."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            calls = self.num_calls.get(path, 0)
            self.num_calls[path] = calls + 1
            key = f"{scope.module_path}@{calls}" if calls else scope.module_path
            self.module_stack[key] = (path, scope.module_type)
            try:
                if not self.is_leaf_module(m, path):
                    return forward(*args, **kwargs)
                return self.create_proxy("call_module", path, args, kwargs)
            finally:
                self.module_stack.popitem(last=True)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """What an attribute of a module gives: a proxy for a parameter, the same one whenever it is asked for."""
        if isinstance(attr_val, Parameter):
            found = self._proxy_of_member(attr_val, self.root.named_parameters(), parameter_proxy_cache)
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            found = self._proxy_of_member(attr_val, self.root.named_buffers(), parameter_proxy_cache)
        else:
            found = None
        return attr_val if found is None else found

    def _proxy_of_member(self, value: Any, members: Iterable[tuple[str, Any]], cache: dict[str, Proxy]) -> Proxy | None:
        for name, member in members:
            if member is not value:
                continue
            if name not in cache:
                options: dict[str, Any] = {}
                if self.param_shapes_constant:
                    options["proxy_factory_fn"] = lambda node, name=name: ParameterProxy(self, node, name, value)
                cache[name] = self.create_proxy("get_attr", name, (), {}, **options)
            return cache[name]
        return None

    def create_arg(self, a: Any) -> Argument:
        """A value as an argument of a node.

        Parameters, buffers and submodules of the root become `get_attr` nodes. Any other tensor is stored in a new
        attribute of the root, `_tensor_constant0` and so on, and fetched from there; so is a generator.
        """
        if isinstance(a, Parameter):
            if (name := _name_of(a, self.root.named_parameters())) is None:
                raise NameError("parameter is not a member of this module")
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, Tensor | Module):
            members = self.root.named_buffers() if isinstance(a, Tensor) else self.root.named_modules()
            if (name := _name_of(a, members)) is not None:
                return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", a.__class__, tuple(self.create_arg(item) for item in a), {})
        prefix = next((prefix for kind, prefix in CONSTANTS.items() if isinstance(a, kind)), None)
        if prefix is not None:
            name = self.tensor_attrs.get(a)
            if not name:
                name = self.get_fresh_qualname(prefix)
                self.tensor_attrs[a] = name
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{a.__class__.__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def path_of_module(self, mod: Module) -> str:
        """The dotted path of a submodule of the root; NameError if it is none."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
        else:
            path = _name_of(mod, self.root.named_modules())
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name that begins with `prefix`, ends in a number, and is no attribute of the root yet."""
        if not hasattr(self.root, f"{prefix}0"):
            self._qualname_counter[prefix] = 0
            return f"{prefix}0"
        number = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        self._qualname_counter[prefix] = number + 1
        return f"{prefix}{number}"

    # Tracing -----------------------------------------------------------------------------------------------------

    def trace(self, root: Module | Callable[..., Any], concrete_args: Any = None) -> Graph:
        """The graph of a module or a function.

        `concrete_args` gives values to parameters by name, which are then not inputs: branches on them are followed.
        In a container of values, `PH` stands for what is an input. The module whose attributes the graph names is
        `self.root`: `root` itself, or a new, empty one for a function.
        """
        global _is_fx_tracing_flag
        before, _is_fx_tracing_flag = _is_fx_tracing_flag, True
        try:
            fn = self._begin(root)
            traced, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
            proxies: dict[str, Proxy] = {}
            with new_patcher() as patcher:
                self._patch(patcher, fn, proxies)
                returned = _annotations_of(inspect.unwrap(traced)).get("return")
                result = self.create_arg(traced(*args))
                self.create_node("output", "output", (result,), {}, type_expr=returned)
            self.submodule_paths = None
        finally:
            _is_fx_tracing_flag = before
        return self.graph

    def _begin(self, root: Module | Callable[..., Any]) -> FunctionType:
        if isinstance(root, Module):
            self.root = root
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
            fn = getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root = Module()
            fn = root
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs: dict[Any, str] = dict(_constants_of(self.root, ""))
        if not isinstance(fn, FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(fn)}")
        if fn.__globals__.get("__name__") == OPERATORS:
            raise AssertionError(
                f"Expected FunctionType, got the operator {fn.__name__}, which is a builtin in PyTorch; trace a Python "
                "function that calls it"
            )
        code = fn.__code__
        self.graph._co_fields = {name: getattr(code, name) for name in ("co_name", "co_filename", "co_firstlineno")}
        return fn

    def _patch(self, patcher: Patcher, fn: FunctionType, proxies: dict[str, Proxy]) -> None:
        """Let attributes and calls of modules, wrapped functions and those of `math` come to this tracer."""

        @functools.wraps(_module_getattr)
        def attribute(mod: Module, attr: str) -> Any:
            return self.getattr(attr, _module_getattr(mod, attr), proxies)

        @functools.wraps(_module_call)
        def call(mod: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return _module_call(mod, *args, **kwargs)

            names = getattr(getattr(mod, "forward", mod), "__globals__", {})
            patcher.patch_functions_of(names, self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        patcher.patch_method(Module, "__getattr__", attribute, deduplicate=False)
        patcher.patch_method(Module, "__call__", call, deduplicate=False)
        patcher.patch_wrapped()
        patcher.patch_functions_of(fn.__globals__, self._autowrap_function_ids)
        for module in self._autowrap_search:
            patcher.patch_functions_of(vars(module), self._autowrap_function_ids)

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Any, list[Any]]:
        """Insert an input for each parameter, and return the function with the arguments to call it with."""
        described: Any = inspect.unwrap(root_fn)
        code = described.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        if is_module and total == 0:
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        names = list(code.co_varnames)
        args: list[Any] = [self.root] if is_module else []
        if isinstance(concrete_args, tuple) and concrete_args and code.co_flags & HAS_VARSTUFF and total == 1:
            for i, value in enumerate(concrete_args):
                made = self.create_proxy("placeholder", f"input_{i}", (), {})
                if isinstance(value, PHBase) and value is not PH:
                    _transfer_attrs(fr=value, to=made.node)
                args.append(made)
            return root_fn, args
        plain = names[len(args) : total]
        if isinstance(concrete_args, tuple):
            if len(plain) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(plain)} arguments but got {len(concrete_args)} concrete arguments"
                )
            concrete_args = dict(zip(plain, concrete_args, strict=True))
        signature = inspect.signature(described)
        args += [self._proxy_placeholder(name, concrete_args, signature, described) for name in plain]
        if code.co_kwonlyargcount > 0 or code.co_flags & HAS_VARSTUFF:
            rest = iter(names[total:])
            for flag, stars in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
                if code.co_flags & flag:
                    args.append(self._proxy_placeholder(stars + next(rest), concrete_args, signature, described))
            root_fn = with_plain_parameters(root_fn, len(args))  # type: ignore[arg-type]
        flat, spec = tree_flatten(tuple(args))
        if all(child.is_leaf() for child in spec.children()):
            return root_fn, args
        return self._with_flat_arguments(root_fn, names[:total], spec), flat

    def _with_flat_arguments(self, root_fn: Callable[..., Any], names: list[str], spec: TreeSpec) -> Any:
        """The function that takes the leaves of its arguments, and returns the leaves of its result."""
        codegen = _PyTreeCodeGen(_PyTreeInfo(names, spec, None))
        self.graph._codegen = codegen

        def flattened(*args: Any):  # type: ignore[no-untyped-def]  # an annotation would be that of the graph
            leaves, out_spec = tree_flatten(root_fn(*tree_unflatten(list(args), spec)))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return leaves

        return flattened

    def _proxy_placeholder(
        self, name: str, concrete_args: dict[str, Any] | None, sig: inspect.Signature, described: Callable[..., Any]
    ) -> Any:
        default = () if name[0] == "*" else _default_of(sig, name)
        if concrete_args is None or name not in concrete_args:
            annotation = _annotations_of(described).get(name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=annotation)
        count = 0

        def replaced(value: Any) -> Any:
            nonlocal count
            count += 1
            made = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(value, PHBase):
                if value is not PH:
                    _transfer_attrs(fr=value, to=made.node)
                return made
            self._expect(name, made, value)
            return value

        return tree_map(replaced, concrete_args[name])

    def _expect(self, name: str, given: Proxy, value: Any) -> None:
        """Let the graph check that an argument has the value that it was specialized to."""
        message = f"{name} has been specialized to have value {value} but got another value"
        if value is None:
            self.create_proxy("call_function", _assert_is_none, (given, message), {})
        elif type(value) in base_types and type(value) is not Tensor:
            at("_assert")(given == value, message)
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to "
                "the user to make sure that your inputs match the inputs you specialized the function with.",
                stacklevel=4,
            )

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        copied = Tracer.__new__(Tracer)
        for name, value in self.__dict__.items():  # modules cannot be copied
            copied.__dict__[name] = copy.copy(value) if name == "_autowrap_search" else copy.deepcopy(value, memo)
        return copied


def _annotations_of(function: Any) -> dict[str, Any]:
    """The annotations of a program's function as they are; those of this library, which are texts, as their values."""
    if not (function.__module__ or "").startswith(f"{LIBRARY}."):
        return inspect.get_annotations(function)
    try:
        found = inspect.get_annotations(function, eval_str=True)
        return {name: kind for name, kind in found.items() if kind is not Any}
    except NameError:  # a name that only a type checker imports
        return {}


def _default_of(sig: inspect.Signature, name: str) -> tuple[Any, ...]:
    default = sig.parameters[name].default
    return () if default is inspect.Parameter.empty else (default,)


def _name_of(value: Any, members: Iterable[tuple[str, Any]]) -> str | None:
    return next((name for name, member in members if member is value), None)


def _constants_of(module: Module, prefix: str) -> Iterable[tuple[Any, str]]:
    """The tensors that are plain attributes of a module and its children, with their paths."""
    for name, value in vars(module).items():
        if isinstance(value, Tensor | TreeSpec):
            yield value, prefix + name
    for name, child in module.named_children():
        yield from _constants_of(child, f"{prefix}{name}.")


def symbolic_trace(root: Module | Callable[..., Any], concrete_args: Any = None) -> GraphModule:
    """A module with the graph of `root`, a module or function, and with the parameters and submodules that it uses.

    Parameters and submodules are shared with `root`, not copied. See `Tracer.trace` for `concrete_args`. `TraceError`
    is raised where the program depends on values: a branch on a tensor, a loop over one.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = root.__class__.__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
