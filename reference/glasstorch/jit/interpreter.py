"""How is a graph run?

Mirrors: torch/csrc/jit/runtime/interpreter/code_impl.h (CodeImpl, emitNode), instruction.h, interpreter.cpp (runImpl),
    interpreter/preprocess_graph.cpp (insertLastUses), torch/csrc/jit/runtime/operator.h (RegisterOperators)
Differs: jump targets are absolute, not relative; lists of constants are built once, when the graph is compiled; a
    register is never reused for another value.

A graph is compiled to instructions for a stack machine. Each value has a register. A node becomes: push its inputs, run
it, pop its results. See Note [Last uses] for when a value is released.

# Note [Last uses]
A value belongs to the block that defines it, and dies with the last node of that block that uses it, directly or in one
of its own blocks. If that node takes the value as an input, the value is moved to the stack: the register is empty
while the node runs, so memory that an operator no longer needs is freed as soon as it returns. If the use is inside
the node's blocks, which may run many times or not at all, the register is cleared after the node.

# Note [Calls]
Nearly all instructions of a graph push the arguments of an operator, call it and store its result. Each such group is
combined into one step: (CALL, function, argument getter, result slot, slots to clear). Slots are the registers followed
by the constants. No jump targets the inside of a group, as all targets are the beginning of a node or the instruction
after a block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from operator import itemgetter
from typing import Any, NamedTuple

from glasstorch.core.device import device_from
from glasstorch.core.errors import ArgumentError, RegistrationError
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import Operator, keys_of
from glasstorch.dispatch.schema import Type
from glasstorch.jit.ir import Block, Graph, Node, Value
from glasstorch.jit.types import NUMBERED, as_argument

Stack = list[Any]
Step = tuple[int, Any, Any, int, tuple[int, ...]]


class OpCode(IntEnum):
    """What one instruction does; X and N are its operands."""

    LOAD = 0  # push register X
    MOVE = 1  # push register X, and clear it
    LOADC = 2  # push constant X
    STORE = 3  # pop into register X
    OP = 4  # replace the top N values by the results of operator X
    DROP = 5  # pop
    DROPR = 6  # clear register X
    JF = 7  # pop; where it is false, go to instruction X
    JMP = 8  # go to instruction X
    LOOP = 9  # begin another iteration with N values on top, or end the loop: go to instruction X
    LIST_CONSTRUCT = 10  # replace N values by a list of them
    TUPLE_CONSTRUCT = 11  # replace N values by a tuple of them
    LIST_UNPACK = 12  # replace a list by its N values
    TUPLE_UNPACK = 13  # replace a tuple by its N values
    RET = 14  # return: the stack holds the results


LOAD, MOVE, LOADC, STORE, OP, DROP, DROPR, JF, JMP, LOOP = (int(code) for code in list(OpCode)[:10])
LIST_CONSTRUCT, TUPLE_CONSTRUCT, LIST_UNPACK, TUPLE_UNPACK, RET = (int(code) for code in list(OpCode)[10:])
CALL, CALL_1 = len(OpCode), len(OpCode) + 1  # not instructions, but steps: Note [Calls]

GATHER = {"prim::ListConstruct": OpCode.LIST_CONSTRUCT, "prim::TupleConstruct": OpCode.TUPLE_CONSTRUCT}
SPREAD = {"prim::ListUnpack": OpCode.LIST_UNPACK, "prim::TupleUnpack": OpCode.TUPLE_UNPACK}


Operation = Callable[..., tuple[Any, ...]]
# The kind of a node without a schema -> converts the node to a function from its inputs to its outputs.
operations: dict[str, Callable[[Node], Operation]] = {}


def register_operation(kind: str, make: Callable[[Node], Operation]) -> None:
    """Define how nodes of a kind without an operator run: `make(node)` is called when a graph is compiled.

    Its result is a function that takes the node's inputs and returns a tuple of the node's outputs.
    """
    if kind in operations:
        raise RegistrationError(f"{kind} is run by {operations[kind]} already; refused {make}")
    operations[kind] = make


class Instruction(NamedTuple):
    """An opcode and its operands X and N, as in OpCode's comments; 0 for an unused one."""

    op: OpCode
    x: int = 0
    n: int = 0

    def __str__(self) -> str:
        return f"{self.op.name} {self.x} {self.n}"


class Code:
    """A compiled graph: `code(*inputs)` returns the graph's outputs as a tuple.

    `print(code)` shows the instructions. The graph is read once; changing it later has no effect here.
    """

    def __init__(self, graph: Graph) -> None:
        self.input_count = len(graph.inputs)
        compiled = _Compiler(graph)
        self.instructions = compiled.instructions
        self.constants = compiled.constants
        self.register_count = len(compiled.register_of)
        self._functions = compiled.functions
        self._lines = compiled.lines
        self._steps, self._step_lines = _steps(self)
        self._slots = [None] * self.register_count + self.constants

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        if len(inputs) != self.input_count:
            raise ArgumentError(f"expected {self.input_count} inputs for this graph, got {len(inputs)}")
        stack = list(inputs)
        del inputs
        self.run(stack)
        return tuple(stack)

    def run(self, stack: Stack) -> None:  # hot path: benchmarks/jit.py
        """Replace the inputs on the stack by the outputs. `run_plainly` is the plain twin: see Note [Calls].

        An error in an operator gets a note that names the node of the graph.
        """
        steps = self._steps
        slots = self._slots.copy()
        push, pop = stack.append, stack.pop
        at = 0
        try:
            while True:
                op, x, n, out, dying = steps[at]
                at += 1
                if op == CALL:
                    arguments = n(slots)
                    for slot in dying:
                        slots[slot] = None
                    slots[out] = x(*arguments)
                elif op == CALL_1:
                    arguments = slots[n]
                    for slot in dying:
                        slots[slot] = None
                    slots[out] = x(arguments)
                elif op == STORE:
                    slots[x] = pop()
                elif op == LOAD:
                    push(slots[x])
                elif op == MOVE:
                    push(slots[x])
                    slots[x] = None
                elif op == RET:
                    return
                else:
                    at = self._step(op, x, n, at, stack, slots)
        except Exception as error:
            error.add_note(f"in this node of the graph: {self._step_lines[at - 1]}")
            raise

    def run_plainly(self, stack: Stack) -> None:
        """As `run`, one instruction at a time."""
        slots = self._slots.copy()
        at = 0
        while True:
            op, x, n = self.instructions[at]
            at += 1
            if op == RET:
                return
            at = self._step(op, x, n, at, stack, slots)

    def _step(self, op: int, x: int, n: int, at: int, stack: Stack, slots: list[Any]) -> int:
        """Execute one instruction. `at` is the index of the next one; returns the index to continue at."""
        if op == LOAD:
            stack.append(slots[x])
        elif op == MOVE:
            stack.append(slots[x])
            slots[x] = None
        elif op == LOADC:
            stack.append(self.constants[x])
        elif op == STORE:
            slots[x] = stack.pop()
        elif op == OP:
            first = len(stack) - n
            arguments = stack[first:]
            del stack[first:]
            stack.append(self._functions[x](*arguments))
        elif op == DROP:
            stack.pop()
        elif op == DROPR:
            slots[x] = None
        elif op == JF:
            return at if stack.pop() else x
        elif op == JMP:
            return x
        elif op == LOOP:
            return at if _begin_iteration(stack, n) else x
        elif op in (LIST_UNPACK, TUPLE_UNPACK):
            values = stack.pop()
            if len(values) != n:
                raise ArgumentError(f"Expected {n} elements in a list or tuple but found {len(values)}")
            stack.extend(values)
        else:
            first = len(stack) - n
            values = stack[first:]
            stack[first:] = [values if op == LIST_CONSTRUCT else tuple(values)]
        return at

    def __str__(self) -> str:
        return "\n".join(f"{at} {instruction}" for at, instruction in enumerate(self.instructions))


def _begin_iteration(stack: Stack, count: int) -> bool:
    """Begin the next iteration of a loop; False at its end.

    The stack holds the iterations begun, the trip count, the condition and the loop-carried values. For an iteration
    the condition is replaced by the iteration's number; at the end of the loop only the carried values stay.
    """
    first = len(stack) - count - 1
    begun, most, go_on = stack[first : first + 3]
    if begun < most and go_on:
        stack[first], stack[first + 2] = begun + 1, begun
        return True
    del stack[first : first + 3]
    return False


def _steps(code: Code) -> tuple[list[Step], list[str]]:
    """The steps: the instructions, with those of each call combined into one; and the node that each step came from."""
    count = code.register_count
    steps: list[Step] = []
    lines: list[str] = []
    step_of: dict[int, int] = {}  # the first instruction of a step -> the step
    instructions = code.instructions
    at = 0
    while at < len(instructions):
        step_of[at] = len(steps)
        lines.append(code._lines[at])
        end = _end_of_call(instructions, at)
        if end is None:
            op, x, n = instructions[at]
            steps.append((int(op), x, n, 0, ()))
            at += 1
            continue
        *loads, call, store = instructions[at:end]
        slots = [load.x + (count if load.op == LOADC else 0) for load in loads]
        dying = tuple(load.x for load in loads if load.op == MOVE)
        function = code._functions[call.x]
        if len(slots) == 1:
            steps.append((CALL_1, function, slots[0], store.x, dying))
        else:
            steps.append((CALL, function, itemgetter(*slots), store.x, dying))
        at = end
    jumps = (JF, JMP, LOOP)
    return [(op, step_of[x] if op in jumps else x, *rest) for op, x, *rest in steps], lines


def _end_of_call(instructions: Sequence[Instruction], start: int) -> int | None:
    """The end of the instructions that push the arguments of one operator, call it and store its result; or None."""
    at = start
    while instructions[at].op in (LOAD, MOVE, LOADC):
        at += 1
    op, _, count = instructions[at]
    is_call = op == OP and at > start and count == at - start and instructions[at + 1].op == STORE
    return at + 2 if is_call else None


# Compiling --------------------------------------------------------------------------------------------------------


class _Compiler:
    """Emits the instructions of one graph."""

    def __init__(self, graph: Graph) -> None:
        self.instructions: list[Instruction] = []
        self.lines: list[str] = []  # the node that each instruction came from, as printed
        self.constants: list[Any] = []
        self.functions: list[Callable[..., Any]] = []
        self.register_of: dict[Value, int] = {}
        self._line = "return"
        self._block(graph.block)
        self._emit(OpCode.RET)

    def _emit(self, op: OpCode, x: int = 0, n: int = 0) -> int:
        self.instructions.append(Instruction(op, x, n))
        self.lines.append(self._line)
        return len(self.instructions) - 1

    def _point(self, jump: int, target: int) -> None:
        """Set the target of a jump that was emitted before it was known."""
        self.instructions[jump] = self.instructions[jump]._replace(x=target)

    def _block(self, block: Block) -> None:
        """Emit a block: its inputs are on the stack when it starts, and its outputs when it ends."""
        last_uses = _last_uses(block)
        self._store(block.inputs)
        for node in block.nodes:
            self._line = str(node).strip().partition("\n")[0]
            if node.kind != "prim::Constant" and not _is_list_of_constants(node):  # those are read at their uses
                self._node(node, last_uses[node])
        self._line = "return"
        self._load(block.outputs, last_uses[block.return_node])

    def _node(self, node: Node, dying: set[Value]) -> None:
        line = self._line
        used_inside = {value for value in dying if value in self.register_of and _is_used_inside(value, node)}
        if node.kind == "prim::Loop":
            self._loop(node, dying - used_inside)
        elif node.kind == "prim::If":
            self._load(node.inputs, dying - used_inside)
            self._if(*node.blocks)
        elif node.kind in GATHER or node.kind in SPREAD:
            self._load(node.inputs, dying)
            code = GATHER.get(node.kind) or SPREAD[node.kind]
            self._emit(code, 0, len(node.inputs if node.kind in GATHER else node.outputs))
        elif node.kind in operations:
            self._load(node.inputs, dying)
            run = operations[node.kind](node)
            self.functions.append(_only_result(run) if len(node.outputs) == 1 else run)
            self._emit(OpCode.OP, len(self.functions) - 1, len(node.inputs))
            if len(node.outputs) != 1:
                self._emit(OpCode.TUPLE_UNPACK, 0, len(node.outputs))
        elif node.kind.startswith("prim::"):
            known = ", ".join(["prim::Constant", "prim::If", "prim::Loop", *GATHER, *SPREAD, *operations])
            raise ArgumentError(f"no instruction runs {node.kind} (in {line}); expected an operator or one of {known}")
        else:
            self._operator(node, dying)
        self._line = line
        self._store(node.outputs)
        for value in used_inside:
            self._emit(OpCode.DROPR, self.register_of[value])

    def _operator(self, node: Node, dying: set[Value]) -> None:
        operator = node.operator()
        declared = [argument.type for argument in operator.schema.arguments]
        self._load(node.inputs, dying, declared)
        decoded = [
            i
            for i, value in enumerate(node.inputs)
            if declared[i].base in (*NUMBERED, "Device")
            and not (value.is_constant or _is_list_of_constants(value.node))
        ]
        call = _caller(operator)
        self.functions.append(_decoding(call, declared, decoded) if decoded else call)
        self._emit(OpCode.OP, len(self.functions) - 1, len(node.inputs))
        if len(operator.schema.returns) != 1:  # a tuple; None where there is nothing to return
            self._emit(OpCode.TUPLE_UNPACK if operator.schema.returns else OpCode.DROP, 0, len(node.outputs))

    def _if(self, then: Block, otherwise: Block) -> None:
        """Emit an If: JF goes to the second block; the first one ends with a jump over it."""
        to_otherwise = self._emit(OpCode.JF)
        self._block(then)
        to_end = self._emit(OpCode.JMP)
        self._point(to_otherwise, len(self.instructions))
        self._block(otherwise)
        self._point(to_end, len(self.instructions))

    def _loop(self, node: Node, moved: set[Value]) -> None:
        """Emit a Loop: the number of iterations begun lies below the loop's inputs; see `_begin_iteration`."""
        (body,) = node.blocks
        self._constant(0)
        self._load(node.inputs, moved)
        begin = self._emit(OpCode.LOOP, 0, len(node.inputs))
        self._block(body)
        self._emit(OpCode.JMP, begin)
        self._point(begin, len(self.instructions))

    def _constant(self, value: Any) -> None:
        self.constants.append(value)
        self._emit(OpCode.LOADC, len(self.constants) - 1)

    def _load(self, values: Sequence[Value], dying: set[Value], declared: Sequence[Type] | None = None) -> None:
        """Push values; the last push of a value that dies here moves it. `declared` are the types in a schema."""
        for i, value in enumerate(values):
            if _is_read_where_used(value):
                held = _held(value)
                self._constant(held if declared is None else _for_kernel(declared[i], held))
            else:
                moves = value in dying and value not in values[i + 1 :]
                self._emit(OpCode.MOVE if moves else OpCode.LOAD, self.register_of[value])

    def _store(self, values: Sequence[Value]) -> None:
        """Pop values into their registers; an unused one is dropped."""
        for value in reversed(values):
            if value.uses:
                self._emit(OpCode.STORE, self.register_of.setdefault(value, len(self.register_of)))
            else:
                self._emit(OpCode.DROP)


def _last_uses(block: Block) -> dict[Node, set[Value]]:
    """The values of a block that die with each of its nodes, the return node included: Note [Last uses]."""
    nodes = (*block.nodes, block.return_node)
    order = {node: i for i, node in enumerate(nodes)}
    dying: dict[Node, set[Value]] = {node: set() for node in nodes}
    for value in (*block.inputs, *(output for node in block.nodes for output in node.outputs)):
        if value.uses:
            dying[nodes[max(order[_in_block(use.user, block)] for use in value.uses)]].add(value)
    return dying


def _in_block(node: Node, block: Block) -> Node:
    """The node of this block that is the given one, or that contains it in its blocks."""
    while node.owning_block is not block:
        assert node.owning_block is not None, "a value is used outside its scope"
        assert node.owning_block.owning_node is not None, "a value is used outside its scope"
        node = node.owning_block.owning_node
    return node


def _is_used_inside(value: Value, node: Node) -> bool:
    """Whether one of the node's blocks, or a block inside them, uses the value."""
    assert node.owning_block is not None
    return any(use.user is not node and _in_block(use.user, node.owning_block) is node for use in value.uses)


def _is_list_of_constants(node: Node) -> bool:
    """Whether a node makes a list of constants that only operators use, as those do not mutate lists."""
    return (
        node.kind == "prim::ListConstruct"
        and all(value.is_constant for value in node.inputs)
        and all(not use.user.kind.startswith("prim::") for use in node.output.uses)
    )


def _is_read_where_used(value: Value) -> bool:
    """Whether a value needs no register, as it is a constant for the compiler."""
    return value.is_constant or _is_list_of_constants(value.node)


def _held(value: Value) -> Any:
    """The Python value of a constant, or of a list of constants."""
    return value.constant() if value.is_constant else [element.constant() for element in value.node.inputs]


def _for_kernel(declared: Type, value: Any) -> Any:
    """A value of a graph in the form that a kernel takes: a dtype for its number, a device for its name."""
    if declared.base == "Device" and isinstance(value, str):
        return device_from(value)
    return as_argument(declared, value)


def _decoding(call: Callable[..., Any], declared: Sequence[Type], positions: Sequence[int]) -> Callable[..., Any]:
    """The same call, but decoding the arguments at these positions first, as they are known only at run time."""

    def decoded(*arguments: Any) -> Any:
        ready = list(arguments)
        for i in positions:
            ready[i] = _for_kernel(declared[i], ready[i])
        return call(*ready)

    return decoded


def _only_result(run: Operation) -> Callable[..., Any]:
    """The same call, but returning the only result instead of a tuple, for a step of Note [Calls]."""

    def only(*arguments: Any) -> Any:
        (result,) = run(*arguments)
        return result

    return only


def _caller(operator: Operator) -> Callable[..., Any]:
    """A function that calls an operator with complete arguments; `Operator.__call__` is the plain twin.

    It reads the keys only from the arguments that the schema declares as tensors.
    """
    table = operator.table
    count = len(operator.schema.arguments)
    tensors = [i for i, argument in enumerate(operator.schema.arguments) if argument.type.is_tensor_like]
    plain = all(not operator.schema.arguments[i].type.suffixes for i in tensors)
    active = active_keys.get

    def on_one(a: Any, *rest: Any) -> Any:
        included, allowed = active()
        keys = (a.key_set | included) & allowed
        return table[keys](keys, a, *rest)

    def on_one_alone(a: Any) -> Any:
        included, allowed = active()
        keys = (a.key_set | included) & allowed
        return table[keys](keys, a)

    def on_two(a: Any, b: Any, *rest: Any) -> Any:
        included, allowed = active()
        keys = (a.key_set | b.key_set | included) & allowed
        return table[keys](keys, a, b, *rest)

    def on_two_alone(a: Any, b: Any) -> Any:
        included, allowed = active()
        keys = (a.key_set | b.key_set | included) & allowed
        return table[keys](keys, a, b)

    def on_any(*arguments: Any) -> Any:
        included, allowed = active()
        keys = (keys_of(arguments) | included) & allowed
        return table[keys](keys, *arguments)

    if plain and tensors == [0]:
        return on_one_alone if count == 1 else on_one
    if plain and tensors == [0, 1]:
        return on_two_alone if count == 2 else on_two
    return on_any
