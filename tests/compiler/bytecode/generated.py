"""Random Python functions of two tensors, a number, a list and a dict: source text, for a seed.

Each runs to its end or raises an error of its own. It may branch on numbers and sizes, loop, call functions inside,
write to its arguments, to lists, dicts and attributes, catch errors, and, now and then, branch on a tensor.
"""

from __future__ import annotations

import random
from collections.abc import Callable

TENSOR_UNARY = (
    "torch.sin({})", "{}.relu()", "-{}", "{} * 2", "1 - {}", "{}.t()", "{}.abs()", "{}.sum(dim=0)", "{}[0]",
    "{}.reshape(-1)", "{}.view_as({})", "torch.cat([{}, {}])", "{}.max(0)[0]", "{}[..., :1]", "torch.zeros_like({})",
    "{}.clone().add_(1)", "{}.unsqueeze(0).squeeze(0)", "{}.to(torch.float64).float()", "{}.mean()", "abs({})",
)  # fmt: skip
TENSOR_BINARY = ("{} + {}", "{} * {}", "torch.where({} > 0.5, {}, 0.5)", "torch.maximum({}, {})", "{} - {}.sum()")
NUMBERS = (
    "n", "n + 1", "len(items)", "x.dim()", "x.shape[-1]", "2", "0", "-n", "n * 2 % 3", "max(n, 2)", "len(table)",
    "int(n > 1)", "sum([1, n])", "x.numel() // 2",
)  # fmt: skip
CONDITIONS = (
    "n > 1", "len(items) > 2", "x.shape[0] == 2", "n is None", "'a' in table", "not n", "n % 2 == 0",
    "isinstance(n, int)", "x.dim() < 2 or n", "hasattr(x, 'shape') and n != 3", "x.requires_grad", "1 < n < 4",
)  # fmt: skip


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.tensors = ["x", "y"]
        self.lines: list[str] = []
        self.indent = 1
        self.names = 0

    def add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def choose(self, options: tuple[str, ...] | list[str]) -> str:
        return self.random.choice(options)

    def number(self) -> str:
        return self.choose(NUMBERS)

    def tensor(self) -> str:
        form = self.choose(TENSOR_UNARY) if self.random.random() < 0.6 else self.choose(TENSOR_BINARY)
        return form.format(*(self.choose(self.tensors) for _ in range(form.count("{}"))))

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def assign(self) -> None:
        value = self.tensor()
        if self.random.random() < 0.5:
            target = self.choose(self.tensors)
        else:
            target = self.name()
        self.add(f"{target} = {value}")
        if self.indent == 1 and target not in self.tensors:
            self.tensors.append(target)

    def block(self, depth: int) -> None:
        self.indent += 1
        kept = list(self.tensors)
        for _ in range(self.random.randint(1, 2)):
            self.statement(depth + 1)
        self.tensors = kept
        self.indent -= 1

    def statement(self, depth: int = 0) -> None:
        """One statement; simple ones where blocks are deep."""
        simple = (self.assign, self.container, self.in_place, self.arithmetic)
        nested = (self.branch, self.loop, self.function, self.comprehension, self.caught, self.unpack)
        rare = (self.effect, self.on_tensor, self.block_of_torch)
        kinds: tuple[Callable[[], None], ...] = simple
        if depth <= 2:
            kinds = (*simple, *nested, *rare) if self.random.random() < 0.15 else (*simple, *nested)
        self.random.choice(kinds)()

    def arithmetic(self) -> None:
        self.add(f"n = {self.number()}" if self.random.random() < 0.3 else f"k = {self.number()}")
        self.add(f"{self.choose(self.tensors)} = {self.choose(self.tensors)} * ({self.number()})")

    def container(self) -> None:
        self.add(
            self.choose(
                [
                    f"own.append({self.choose(self.tensors)})", f"own = own + [{self.number()}]",
                    f"named['k{self.random.randint(0, 2)}'] = {self.choose(self.tensors)}",
                    f"own += [{self.number()}, {self.number()}]", "own = own[:2] + own[2:][::-1]",
                    "named = {**named, 'z': len(own)}", "own.insert(0, len(named))",
                    f"pair = ({self.choose(self.tensors)}, {self.number()})", "own.extend(items[:1])",
                ]
            )
        )  # fmt: skip

    def in_place(self) -> None:
        tensor = self.name()
        self.add(f"{tensor} = {self.choose(self.tensors)}.clone()")
        self.add(
            self.choose(
                [
                    f"{tensor}.mul_(2)", f"{tensor} += 1", f"{tensor}[..., 0] = {self.number()}",
                    f"{tensor}.view(-1)[0:1].fill_(3)", f"{tensor}.zero_()",
                ]
            )
        )  # fmt: skip
        if self.indent == 1:
            self.tensors.append(tensor)

    def branch(self) -> None:
        self.add(f"if {self.choose(CONDITIONS)}:")
        self.block(1)
        if self.random.random() < 0.5:
            self.add("else:")
            self.block(1)

    def loop(self) -> None:
        head = self.choose(
            [
                "for i in range(3):", "for i, item in enumerate(items):", "for key, item in table.items():",
                "for a, b in zip([1, 2], (3, 4)):", "for row in [x, y]:", "for i in reversed(range(2)):",
            ]
        )  # fmt: skip
        self.add(head)
        self.block(1)
        if self.random.random() < 0.3:
            self.indent += 1
            self.add(f"if {self.choose(CONDITIONS)}:")
            self.add("    " + self.choose(["break", "continue"]))
            self.indent -= 1

    def function(self) -> None:
        name, argument = self.name(), self.choose(self.tensors)
        self.add(f"def {name}(t, scale={self.number()}, *more, **named_more):")
        self.add(f"    return t * scale + {argument} + sum(more)")
        given = self.choose(["", ", 2", ", 2, 3", ", scale=3"])
        self.add(f"{argument} = {name}({argument}{given})")

    def comprehension(self) -> None:
        self.add(
            self.choose(
                [
                    f"own = [t * 2 for t in [{self.choose(self.tensors)}] if {self.choose(CONDITIONS)}]",
                    "named = {f'c{i}': t for i, t in enumerate(own)}",
                    f"own = [*own, *[i for i in range({self.number()})]]",
                    "k = sorted([3, 1, 2], reverse=bool(n))[0]",
                ]
            )
        )  # fmt: skip

    def caught(self) -> None:
        self.add("try:")
        self.block(1)
        if self.random.random() < 0.2:
            self.add("    k = table['missing']")
        self.add("except (KeyError, RuntimeError, IndexError):")
        self.block(1)

    def unpack(self) -> None:
        self.add("first, *others = [x, *items]" if self.random.random() < 0.5 else "(a, b), c = (n, 2), x")

    def effect(self) -> None:
        effects = ["thing.count += 1", "y.add_(1)", "items[0] = 7"]
        if self.indent == 1:  # in a loop over what it changes, it might never end
            effects += ["items.append(n)", "table['new'] = n", "del table['a']"]
        self.add(self.choose(effects))

    def on_tensor(self) -> None:
        self.add("if x.sum() > 0:" if self.random.random() < 0.5 else "if x.sum().item() > 0:")
        self.block(1)

    def block_of_torch(self) -> None:
        self.add("with torch.no_grad():")
        self.block(1)

    def text(self) -> str:
        """The function's source."""
        self.lines = []
        self.add("own, named, k, pair = [], {}, 0, None")
        for _ in range(self.random.randint(2, 6)):
            self.statement()
        results = ", ".join(dict.fromkeys(["x", "y", *self.tensors[-2:]]))
        self.add(f"return {results}, n, k, own, named, pair")
        return "def function(x, y, n, items, table, thing):\n" + "\n".join(self.lines) + "\n"
