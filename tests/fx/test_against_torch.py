"""Is a program recorded as PyTorch records it?"""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.fx.programs import TRACED, a_network, branch, summed

Require = Callable[[str], Any]
ADDRESS = re.compile(r"0x[0-9a-f]+")
FUNCTION = re.compile(r"<(function|built-in method) (\w+).*?>")


def told(run: Callable[[], object]) -> str:
    """What is printed, or the error's class and message; the library's name and addresses are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            text = str(run())
        except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
            text = f"{type(error).__name__}: {error}"
    text = FUNCTION.sub(r"<\2>", ADDRESS.sub("0x", text))
    return text.replace("glasstorch", "torch").replace("torch._tensor.Tensor", "torch.Tensor")


def same(require: Require, run: Callable[[Any], object]) -> None:
    """Both libraries print the same."""
    ours, theirs = (told(lambda t=t: run(t)) for t in (glasstorch, require("torch")))  # type: ignore[misc]
    assert ours == theirs


@pytest.mark.parametrize("make", TRACED.values(), ids=TRACED)
def test_a_program_is_recorded_as_pytorch_records_it(require: Require, make: Callable[[Any], Any]) -> None:
    def run(t: Any) -> object:
        module = t.fx.symbolic_trace(make(t))
        facts = [(node.op, node.name, node.users, node.all_input_nodes, list(node.meta)) for node in module.graph.nodes]
        return module.graph, module.code, facts, module.print_readable(print_output=False)

    same(require, run)


@pytest.mark.parametrize(
    ("program", "concrete"),
    [
        (branch, {"b": False}),
        (branch, {"b": None}),
        (branch, {"b": 3}),
        (branch, ("PH", 1.5)),
        (branch, (1, 2, 3)),
        (summed, {"x": {"a": "PH", "b": "PH"}}),
        (summed, {"x": {"a": "PH", "b": 2.0}}),
        (lambda t: lambda *args: args[0] * args[1], ("PH", "PH")),
        (lambda t: lambda x: x[0][0] + x[1], {"x": (["PH"], "PH")}),
    ],
)
def test_known_arguments_are_taken_apart_and_checked(require: Require, program: Any, concrete: Any) -> None:
    def run(t: Any) -> object:
        known = t.utils._pytree.tree_map(lambda value: t.fx.PH if value == "PH" else value, concrete)
        module = t.fx.symbolic_trace(program(t), concrete_args=known)
        return module.graph, module.code

    same(require, run)


QUESTIONS: dict[str, Callable[[Any, Any], object]] = {
    "how it prints": lambda t, g: g,
    "its code": lambda t, g: g.python_code("self").src,
    "its code for another root": lambda t, g: g.python_code("root").src,
    "its lines": lambda t, g: [node.format_node() for node in g.nodes],
    "lines with names": lambda t, g: [node.format_node(["x"], [""]) for node in g.nodes],
    "erasing what is used": lambda t, g: g.erase_node(named(g, "add")),
    "a node of another graph": lambda t, g: named(g, "x").prepend(t.fx.Graph().placeholder("q")),
    "insertion at another graph's": lambda t, g: g.inserting_before(t.fx.Graph().placeholder("w")),
    "insertion after another graph's": lambda t, g: g.inserting_after(t.fx.Graph().placeholder("w")),
    "erasing another graph's": lambda t, g: g.erase_node(t.fx.Graph().placeholder("w")),
    "a check": lambda t, g: g.lint(),
    "a use before its definition": lambda t, g: (setattr(named(g, "add"), "args", (named(g, "view"),)), g.lint()),
    "another graph's argument": lambda t, g: (
        setattr(named(g, "add"), "args", (t.fx.Graph().placeholder("w"),)), g.lint(),
    ),
    "calls of a function": lambda t, g: g.find_nodes(op="call_function", target=t.relu),
    "inputs": lambda t, g: g.find_nodes(op="placeholder"),
    "calls of no function": lambda t, g: g.find_nodes(op="call_function"),
    "calls of a method": lambda t, g: g.find_nodes(op="call_method", target="view"),
    "found again under another target": lambda t, g: (
        setattr(named(g, "add"), "target", t.sub), g.find_nodes(op="call_function", target=t.sub),
        g.find_nodes(op="call_function", target=t.add),
    ),
    "an unknown kind": lambda t, g: g.create_node("bad", "x"),
    "a text as a function": lambda t, g: g.call_function("x"),
    "a function as a method": lambda t, g: g.call_method(len),
    "arguments in a list": lambda t, g: g.create_node("call_function", len, [1]),
    "keywords in a list": lambda t, g: g.create_node("call_function", len, (1,), [1]),
    "sort keys": lambda t, g: [node._sort_key for node in g.nodes],
    "inserted arguments": lambda t, g: ([named(g, "add").insert_arg(i, i) for i in range(3)], named(g, "add").args),
    "an updated argument": lambda t, g: (named(g, "add").update_arg(1, 7), named(g, "add").args, named(g, "y").users),
    "an updated keyword": lambda t, g: (named(g, "add").update_kwarg("alpha", 2), named(g, "add").kwargs),
    "the last node": lambda t, g: g.output_node(),
    "which must stay": lambda t, g: [(node, node.is_impure()) for node in g.nodes],
    "arguments that cannot be changed": lambda t, g: named(g, "stack").args[0].append(1),
    "keywords that cannot be changed": lambda t, g: named(g, "view").kwargs.update(a=1),
    "mapped arguments": lambda t, g: t.fx.map_arg([named(g, "x"), {"a": named(g, "y")}, slice(1, None), (1,)], str),
    "a map without a function": lambda t, g: t.fx.map_arg([1], 2),
    "classes of mapped values": lambda t, g: type(t.fx.node.map_aggregate([1], lambda v: v)).__name__,
    "replaced uses": lambda t, g: (named(g, "add").replace_all_uses_with(named(g, "x")), g),
    "chosen uses": lambda t, g: (named(g, "x").replace_all_uses_with(named(g, "y"), lambda user: False), g),
    "dead code": lambda t, g: (g.eliminate_dead_code(), g),
    "dead code of one's own choice": lambda t, g: (g.eliminate_dead_code(lambda node: node.op == "placeholder"), g),
    "a copy": lambda t, g: copy.deepcopy(g),
    "nodes backwards": lambda t, g: (list(reversed(g.nodes)), len(g.nodes)),
    "neighbours": lambda t, g: (named(g, "add").next, named(g, "add").prev, named(g, "x").prev.op),
    "another order": lambda t, g: (named(g, "y").append(named(g, "x")), list(g.nodes), [n._sort_key for n in g.nodes]),
    "compared places": lambda t, g: (named(g, "x") < named(g, "y"), named(g, "y") >= named(g, "x")),
    "a name that is taken": lambda t, g: [
        g.placeholder(name) for name in ("x", "add", "add_1", "class", "len", "3a", "")
    ],
    "names of all kinds": lambda t, g: [
        g.call_function(t.relu, (), name=name) for name in ("my relu!", "reluX", "relu_2", "relu_02", "inf", "torch")
    ],
    "numbers that are taken": lambda t, g: [
        g.call_function(t.relu, (), name=name) for name in ("relu_5", "relu_4", "relu_4", "relu")
    ],
    "places of insertion": lambda t, g: (
        [inserted(g.inserting_before(named(g, name)), g, t) for name in ("view", "x", "view")],
        [inserted(g.inserting_after(named(g, name)), g, t) for name in ("x", "x")],
        inserted(g.inserting_before(), g, t), inserted(g.inserting_after(), g, t), list(g.nodes),
    ),
    "wrapping inside a function": lambda t, g: t.fx.wrap("abc"),
    "wrapping a number": lambda t, g: t.fx.wrap(3),
    "a module without what is fetched": lambda t, g: t.fx.GraphModule({}, t.fx.symbolic_trace(a_network(t)).graph),
    "a module of nothing": lambda t, g: t.fx.GraphModule(3, g),
    "code that is changed": lambda t, g: (
        g.on_generate_code(lambda _: lambda body: ["print('here')\n", *body]), g.python_code("self").src,
    ),
    "a boxed function": lambda t, g: (g.set_codegen(t.fx.graph._BoxedCodeGen()), g.python_code("self").src),
    "expanded code": lambda t, g: g.python_code("self", expanded_def=True, verbose=True).src,
    "colored code": lambda t, g: g.python_code("self", colored=True, verbose=True).src,
    "lines and nodes": lambda t, g: (g.python_code("self")._lineno_map, g.python_code("self")._prologue_start),
    "recorded code": lambda t, g: g.python_code("self", record_func=True).src,
}  # fmt: skip


def named(graph: Any, name: str) -> Any:
    return next(node for node in graph.nodes if node.name == name)


def inserted(place: Any, graph: Any, t: Any) -> Any:
    with place:
        return graph.call_function(t.relu, ())


def a_graph(t: Any) -> Any:
    """A graph with nodes of most kinds, some of which nothing uses."""
    graph = t.fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y", default_value=None)
    total = graph.call_function(t.add, (x, y))
    positive = graph.call_function(t.relu, (total,), name="positive part")
    view = graph.call_method("view", (positive, 2, -1))
    graph.call_method("neg", (view,))
    stack = graph.call_function(t.stack, ([view, view],), {"dim": 0})
    graph.output((stack, positive))
    return graph


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_a_graph_answers_as_pytorchs(require: Require, ask: Callable[[Any, Any], object]) -> None:
    same(require, lambda t: ask(t, a_graph(t)))


OF_A_MODULE: dict[str, Callable[[Any, Any], object]] = {
    "how it prints": lambda t, m: m,
    "its result": lambda t, m: [tuple(part.shape) for part in m(t.ones(3, 2))[1]["b"]],
    "a copy": lambda t, m: (copy.deepcopy(m).code, [name for name, _ in copy.deepcopy(m).named_parameters()]),
    "a shallow copy": lambda t, m: copy.copy(m).code,
    "its state": lambda t, m: list(m.state_dict()),
    "submodules added and deleted": lambda t, m: (
        m.add_submodule("a.b.c", t.nn.Linear(1, 1)), m.delete_submodule("a.b.zz"), m.delete_submodule("zz.a"),
        m.add_submodule("scale.x", t.nn.ReLU()), [name for name, _ in m.named_modules()],
        m.delete_all_unused_submodules(), [name for name, _ in m.named_modules()],
    ),
    "an attribute that is missing": lambda t, m: (m.graph.get_attr("nope"), m.graph.lint()),
    "a module that is missing": lambda t, m: m.graph.call_module("nope"),
    "hooks": lambda t, m: with_hooks(t, m),
    "another graph": lambda t, m: (setattr(m, "graph", a_graph(t)), m.code),
    "no graph": lambda t, m: setattr(m, "graph", 3),
    "an interpreter": lambda t, m: t.fx.Interpreter(m).run(t.zeros(1, 2))[0].shape,
    "an interpreter without its argument": lambda t, m: t.fx.Interpreter(m).run(),
    "a boxed run": lambda t, m: t.fx.Interpreter(m).boxed_run([1]),
    "an error in a node": lambda t, m: t.fx.Interpreter(t.fx.symbolic_trace(lambda x: t.relu(x).foo())).run(t.ones(2)),
    "a transformer": lambda t, m: swapped(t, m).transform().code,
    "arguments by name": lambda t, m: [node.normalized_arguments(m) for node in m.graph.find_nodes(op="call_module")],
}  # fmt: skip


def with_hooks(t: Any, module: Any) -> object:
    seen: list[object] = []
    module._register_create_node_hook(lambda node: seen.append(("made", node.name)))
    module._register_erase_node_hook(lambda node: seen.append(("erased", node.name)))
    with module._set_replace_hook(lambda old, new, user: seen.append((old.name, new, user.name))):
        relu = named(module.graph, "relu")
        with module.graph.inserting_after(relu):
            new = module.graph.call_function(t.sigmoid, relu.args)
        relu.replace_all_uses_with(new)
        new.name = "renamed"
        module.graph.erase_node(relu)
    module.recompile()
    return seen, module.code


def swapped(t: Any, module: Any) -> Any:
    class Swapped(t.fx.Transformer):  # type: ignore[misc,name-defined]
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(t.sigmoid if target is t.relu else target, args, kwargs)

        def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_method("mean" if target == "sum" else target, args, kwargs)

    return Swapped(module)


@pytest.mark.parametrize("ask", OF_A_MODULE.values(), ids=OF_A_MODULE)
def test_a_module_answers_as_pytorchs(require: Require, ask: Callable[[Any, Any], object]) -> None:
    same(require, lambda t: ask(t, t.fx.symbolic_trace(a_network(t))))


PROXIES: dict[str, Callable[[Any, Any], object]] = {
    "what is recorded": lambda t, p: (p + 1, p.foo, p.foo(1), p[0], p.node.graph),
    "its truth": lambda t, p: bool(p),
    "its items": lambda t, p: [*p],
    "its keys": lambda t, p: p.keys(),
    "its length": lambda t, p: len(p),
    "a call of it": lambda t, p: (p(1, a=2), p.node.graph),
    "a copy": lambda t, p: copy.deepcopy(p).node.name,
    "two graphs": lambda t, p: t.add(t.fx.Proxy(p.node, a_tracer(t)), t.fx.Proxy(p.node, a_tracer(t))),
    "an argument of a foreign class": lambda t, p: p + object(),
    "a key that is a proxy": lambda t, p: p + {p: 1},
    "a key that is a number": lambda t, p: (p + {1: p}, p.node.graph),
    "a range and a slice": lambda t, p: (p + range(3), p[1:p], p.node.graph),
}  # fmt: skip


def a_tracer(t: Any) -> Any:
    return t.fx.proxy.GraphAppendingTracer(t.fx.Graph())


@pytest.mark.parametrize("ask", PROXIES.values(), ids=PROXIES)
def test_a_proxy_answers_as_pytorchs(require: Require, ask: Callable[[Any, Any], object]) -> None:
    def run(t: Any) -> object:
        return str(ask(t, t.fx.Proxy(t.fx.Graph().placeholder("x"))))

    same(require, run)


def test_a_pickle_is_read_by_tracing_its_code_again() -> None:
    module = glasstorch.fx.symbolic_trace(glasstorch.nn.Sequential(glasstorch.nn.Linear(2, 3), glasstorch.nn.ReLU()))
    restored = pickle.loads(pickle.dumps(module))
    assert restored.code == module.code
    assert str(restored.graph) == str(module.graph)
    x = glasstorch.ones(4, 2)
    assert glasstorch.equal(restored(x), module(x))
