"""How does a graph run as a module?

Mirrors: torch/fx/graph_module.py
Differs: how a module is saved is in _saving.py. Packages of torch.package are not written.

Every `GraphModule` has a class of its own, whose `forward` is compiled from the graph's code. The source is kept where
Python's `linecache` finds it, so that tracebacks and debuggers show it.
"""

from __future__ import annotations

import copy
import itertools
import linecache
import sys
import traceback
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, ClassVar, Final, Self

from glasstorch._tensor import Tensor
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.fx import _saving
from glasstorch.fx._codegen import PythonCode
from glasstorch.fx._names import at
from glasstorch.fx._pytree_codegen import _BoxedCodeGen, _PyTreeCodeGen
from glasstorch.fx._readable import readable
from glasstorch.fx._saving import CodeOnlyModule
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.module import __file__ as module_file
from glasstorch.nn.parameter import Parameter

__all__ = ["GraphModule", "reduce_graph_module"]

REMINDER: Final = "# To see more debug info, please use `graph_module.print_readable()`"
HOOKS: Final = ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")
CALLING_FILES: Final = (str(Path(module_file).parent), __file__)
LIBRARY_FILES: Final = str(Path(__file__).parents[1])
COPIED: Final = ("_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", *HOOKS)


class _SourceCache:
    """Generated sources by the names of their files, which do not exist: a loader, as `linecache` asks for one.

    A source is kept as long as its code: until neither a module nor a traceback has it any more.
    """

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self._numbers = itertools.count()

    def add(self, source: str, names: dict[str, Any], fields: dict[str, Any]) -> str:
        """Keep a source, and return the name of its file."""
        key = f"<eval_with_key>.{next(self._numbers)}"
        if len(fields) == 3:
            key += f" from {fields['co_filename']}:{fields['co_firstlineno']} in {fields['co_name']}"
        self.sources[key] = source
        linecache.lazycache(key, {**names, "__file__": key, "__name__": key, "__loader__": self})
        return key

    def keep_as_long_as(self, code: CodeType) -> None:
        """Let go of the source of some code together with it."""
        weakref.finalize(code, self._forget, code.co_filename).atexit = False

    def _forget(self, key: str) -> None:
        self.sources.pop(key, None)
        linecache.cache.pop(key, None)

    def get_source(self, module_name: str) -> str | None:
        """The source of a file."""
        return self.sources.get(module_name)


_loader = _SourceCache()


def _forward_from_src(source: str, names: dict[str, Any], fields: dict[str, Any] | None = None) -> Callable[..., Any]:
    """The function `forward` of a source that knows these names."""
    names = names.copy()
    exec(compile(source, _loader.add(source, names, fields or {}), "exec", dont_inherit=True), names)
    forward: FunctionType = names["forward"]
    _loader.keep_as_long_as(forward.__code__)
    return forward


class GraphModule(Module):
    """A module whose `forward` is generated from a graph.

    `root` is a module, or a dict from paths to values: the parameters, buffers and submodules that the graph names are
    taken over from it, and shared with it. RuntimeError is raised if a dict lacks one. `class_name` is what it prints
    as.

    After changes to the graph, `recompile()` must be called; assigning to `graph` does so.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """A module of a new class, on which `forward` can be set without changing other modules."""
        base: Any = next(kind for kind in cls.__mro__ if kind.__qualname__.rpartition(".")[2] != "GraphModuleImpl")

        class GraphModuleImpl(base):  # type: ignore[misc]
            __module__ = GraphModule.__module__

        return super().__new__(GraphModuleImpl)

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        self.__class__.__name__ = class_name
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = getattr(root, "training", True)
            if isinstance(root, CodeOnlyModule):
                members = (root.named_children(), root.named_buffers(), root.named_parameters())
                targets = [name for names in members for name, _ in names] + targets
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in ``root``!"
                    )
            for target in sorted(targets, key=lambda path: path.count(".")):  # a parent before its children
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        tracer = graph._tracer_cls
        self._tracer_cls = tracer if tracer is not None and "<locals>" not in tracer.__qualname__ else None
        self._tracer_extras = graph._tracer_extras or {}
        self.meta: dict[str, Any] = {}
        for name in HOOKS:
            setattr(self, name, [])
        self.shape_env = None

    __jit_unused_properties__: ClassVar = ["graph", "_boxed_call"]

    # Graph and code ----------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The graph; assigning another one compiles it."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of `forward`, as of the last `recompile()`."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    @property
    def _boxed_call(self) -> bool:
        return isinstance(self._graph._codegen, _BoxedCodeGen)

    def recompile(self) -> PythonCode:
        """Generate `forward` again from the graph, and from those of submodules; returns the code."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            self._in_spec = self._graph._codegen.pytree_info.in_spec
            self._out_spec = self._graph._codegen.pytree_info.out_spec
        made = self._graph.python_code(root_module="self")
        self._code, self._lineno_map, self._prologue_start = made.src, made._lineno_map, made._prologue_start
        cls: Any = type(self)
        cls.forward = _forward_from_src(self._code, made.globals, self._graph._co_fields)
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, vars(cls).get("__call__"))
        self._recompile_submodules()

        def call_wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self._wrapped_call(self, *args, **kwargs)

        cls.__call__ = call_wrapped
        return made

    def _recompile_submodules(self) -> list[tuple[str, PythonCode]]:
        return [(name, child.recompile()) for name, child in self.named_children() if isinstance(child, GraphModule)]

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        *,
        fast_sympy_print: bool = False,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:
        """The code with dtypes and sizes, where they are known, and with the lines of the program that recorded it.

        Modules with graphs among the children follow, indented. It is printed, and returned.
        """
        text = readable(
            self,
            self._get_name(),
            include_stride=include_stride,
            include_device=include_device,
            colored=colored,
            expanded_def=expanded_def,
            additional_meta=additional_meta,
        )
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        return "\n".join([super().__str__(), self._code, REMINDER])

    # Submodules --------------------------------------------------------------------------------------------------

    def add_submodule(self, target: str, m: Module) -> bool:
        """Install a submodule at a dotted path, with empty modules on the way where there are none.

        False, and nothing is changed, if something on the way is not a module.
        """
        *way, name = target.split(".")
        module: Module = self
        for step in way:
            child = getattr(module, step, None)
            if child is None:
                child = Module()
                setattr(module, step, child)
            if not isinstance(child, Module):
                return False
            module = child
        module.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the submodule at a dotted path. False if there is none."""
        *way, name = target.split(".")
        module: Any = self
        for step in way:
            module = getattr(module, step, None)
            if not isinstance(module, Module):
                return False
        if not isinstance(getattr(module, name, None), Module):
            return False
        delattr(module, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the submodules that the graph neither calls nor fetches anything from, and that contain none such."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            used.update(itertools.accumulate(node.target.split("."), lambda path, name: f"{path}.{name}"))
            if node.op == "call_module":
                try:
                    called = self.get_submodule(node.target)
                except AttributeError:  # removed already
                    continue
                used.update(f"{node.target}.{name}" for name, _ in called.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

    # Copies ------------------------------------------------------------------------------------------------------

    def to_folder(self, folder: str | PathLike[str], module_name: str = "FxModule") -> None:
        """Write the module as a Python package: `from folder import FxModule` makes it again, without fx.

        The folder gets the code, the parameters and buffers, and a pickle of each child that is not a common layer.
        """
        _saving.to_folder(self, folder, module_name)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has the code instead of the graph: loading traces it again."""
        state = self.__dict__.copy()
        imports = _saving.import_block(self.recompile().globals)
        del state["_graph"]
        return reduce_graph_module, (state, imports)

    def _deepcopy_init(self) -> Callable[..., None]:
        return GraphModule.__init__

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        state = CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        self._deepcopy_init()(copied, state, state.__dict__["_graph"])
        for name in COPIED:
            if name in self.__dict__:
                setattr(copied, name, copy.deepcopy(self.__dict__[name], memo))
        copied.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        for hook in self.__dict__.get("_deepcopy_hooks", ()):
            hook(copied)
        return copied

    def __copy__(self) -> GraphModule:
        copied = GraphModule(self, self.graph)
        copied.meta = getattr(self, "meta", {})
        return copied

    def _replicate_for_data_parallel(self) -> GraphModule:
        copied = self.__copy__()
        copied._is_replica = True
        return copied

    # Hooks -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _set_replace_hook(self, f: Callable[[Node, str, Node], object]) -> Iterator[None]:
        """Call `f(old=node, new=name, user=node)` whenever a node takes the place of another, or changes its name."""
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _hooks(self, name: str, f: Any, kind: str = "create_node") -> list[Any]:
        if not callable(f):
            raise AssertionError(f"{kind} hook must be a callable.")
        return getattr(self, name)  # type: ignore[no-any-return]

    def _register_replace_node_hook(self, f: Callable[[Node, str, Node], object]) -> None:
        self._hooks("_replace_hooks", f).append(f)

    def _unregister_replace_node_hook(self, f: Callable[[Node, str, Node], object]) -> None:
        self._hooks("_replace_hooks", f).remove(f)

    def _register_create_node_hook(self, f: Callable[[Node], object]) -> None:
        self._hooks("_create_node_hooks", f).append(f)

    def _unregister_create_node_hook(self, f: Callable[[Node], object]) -> None:
        self._hooks("_create_node_hooks", f).remove(f)

    def _register_erase_node_hook(self, f: Callable[[Node], object]) -> None:
        self._hooks("_erase_node_hooks", f, "erase_node").append(f)

    def _unregister_erase_node_hook(self, f: Callable[[Node], object]) -> None:
        self._hooks("_erase_node_hooks", f, "erase_node").remove(f)

    def _register_deepcopy_hook(self, f: Callable[[GraphModule], object]) -> None:
        self._hooks("_deepcopy_hooks", f, "deepcopy").append(f)

    def _unregister_deepcopy_hook(self, f: Callable[[GraphModule], object]) -> None:
        self._hooks("_deepcopy_hooks", f, "deepcopy").remove(f)


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """The module that was pickled, made again from its attributes and its code."""
    tracer_cls: Any = body.get("_tracer_cls") or at("fx.Tracer")

    class KeepModules(tracer_cls):  # type: ignore[misc]
        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            return True

    class Body(CodeOnlyModule):
        forward = _forward_from_src(import_block + body["_code"], {})

    restored = Body(body)
    graph = KeepModules().trace(restored, **body.get("_tracer_extras", {}))
    graph._tracer_cls = tracer_cls
    module = GraphModule(restored, graph, class_name=body.get("_graphmodule_cls_name", "GraphModule"))
    for name, value in body.items():
        if not hasattr(module, name):
            setattr(module, name, value)
    return module


def _is_an_operators(frame: traceback.FrameSummary) -> bool:
    """Whether a frame is the library's, below a call of an operator: in PyTorch such code is C++, and has no frame."""
    return frame.filename.startswith(LIBRARY_FILES) and not frame.filename.startswith(CALLING_FILES)


class _WrappedCall:
    """Calls a module; of an error in the generated code itself, the lines around it are printed."""

    def __init__(self, cls: Any, cls_call: Callable[..., Any] | None) -> None:
        self.cls = cls
        self.cls_call = cls_call

    def __call__(self, obj: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)  # type: ignore[misc]
        except Exception as error:
            frames = traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__))
            innermost = next(frame for frame in reversed(frames) if not _is_an_operators(frame))
            if "eval_with_key" not in innermost.filename:
                raise
            print(self._generate_error_message(innermost), file=sys.stderr)
            raise error.with_traceback(None)  # noqa: B904  # its own traceback has been printed

    @staticmethod
    def _generate_error_message(frame_summary: traceback.FrameSummary) -> str:
        number, line = frame_summary.lineno, frame_summary.line
        assert number is not None
        assert line is not None
        lines = linecache.getlines(frame_summary.filename)
        return "\n".join(
            [
                traceback.format_exc(),
                f"Call using an FX-traced Module, line {number} of the traced Module's generated forward function:",
                "".join(lines[number - 2 : number]),
                "~" * len(line) + "~~~ <--- HERE",
                "\n".join(lines[number : number + 2]),
            ]
        )


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Let a module have what another one has at a dotted path, with empty modules on the way."""
    *way, name = target.split(".")
    for step in way:
        theirs, ours = getattr(from_module, step), getattr(to_module, step, None)
        if theirs is ours:  # the whole submodule has been taken over already
            return
        if ours is None:
            ours = Module()
            setattr(to_module, step, ours)
        from_module, to_module = theirs, ours
    _set(to_module, name, getattr(from_module, name))


def _assign_attr(from_obj: object, to_module: Module, target: str) -> None:
    """Put a value at a dotted path below a module, with empty modules on the way."""
    *way, name = target.split(".")
    for step in way:
        child = getattr(to_module, step, None)
        if child is None:
            child = Module()
            setattr(to_module, step, child)
        to_module = child
    _set(to_module, name, from_obj)


def _set(module: Module, name: str, value: Any) -> None:
    """Set an attribute; a tensor that is no parameter becomes a buffer."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _get_attr(model: Module, attr_name: str) -> Any:
    """What is at a dotted path below a module."""
    found: Any = model
    for name in attr_name.split("."):
        found = getattr(found, name)
    return found


def _del_attr(model: Module, attr_name: str) -> None:
    path, _, name = attr_name.rpartition(".")
    delattr(_get_attr(model, path) if path else model, name)


def _has_attr(model: Module, attr_name: str) -> bool:
    try:
        _get_attr(model, attr_name)
    except AttributeError:
        return False
    return True


__getattr__ = refuse_unknown_names(__name__)
