"""Random Python functions of two tensors, a number, a list, a dict and an object: source text, for a seed.

Each runs to its end or raises an error of its own. It may branch on numbers and sizes, loop, call functions inside,
write to its arguments, to views of them, to lists, dicts, sets, attributes, globals and variables of outer functions,
make objects of classes, raise and catch errors, open `with` blocks, run generators, and, now and then, branch on a
tensor. `PRELUDE` is the text of the module that it stands in.
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


PRELUDE = """
import contextlib, dataclasses, functools, itertools, operator

TOTAL = 0
SEEN = []


class Thing:
    shared = 2

    def __init__(self, count=0):
        self.count = count
        self.items = []

    def bump(self, by=1):
        self.count += by
        self.items.append(self.count)
        return self.count

    @property
    def twice(self):
        return self.count * 2

    @twice.setter
    def twice(self, value):
        self.count = value // 2

    def __len__(self):
        return len(self.items)

    def __repr__(self):
        return f"<{self.count}>"

    def __add__(self, other):
        return Thing(self.count + (other.count if isinstance(other, Thing) else other))

    def __eq__(self, other):
        return isinstance(other, Thing) and self.count == other.count

    def __iter__(self):
        return iter(self.items)


class Special(Thing):
    def bump(self, by=1):
        return super().bump(by * self.shared)


@dataclasses.dataclass
class Point:
    x: object
    y: int = 1


class Stop(ValueError):
    def __init__(self, code):
        super().__init__(f"stop {code}")
        self.code = code


class Manager:
    def __init__(self, log, swallow=False):
        self.log, self.swallow = log, swallow

    def __enter__(self):
        self.log.append("in")
        return len(self.log)

    def __exit__(self, kind, error, traceback):
        self.log.append(None if kind is None else kind.__name__)
        return self.swallow


@contextlib.contextmanager
def marked(log):
    log.append("begin")
    try:
        yield len(log)
    finally:
        log.append("end")


def countdown(n):
    try:
        while n > 0:
            yield n
            n -= 1
    finally:
        SEEN.append(n)
    return "done"


def chained(n):
    yield 0
    yield (yield from countdown(n))


def recurse(n, t):
    return t if n <= 0 else recurse(n - 1, t) + n


"""


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
        nested = (
            self.branch, self.loop, self.function, self.comprehension, self.caught, self.unpack, self.effect,
            self.on_objects, self.with_block, self.raising, self.with_generator, self.on_views, self.sharing,
            self.with_closure, self.of_modules, self.on_text,
        )  # fmt: skip
        rare = (self.on_tensor, self.block_of_torch, self.leaving)
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
        effects = [
            "thing.count += 1", "y.add_(1)", "items[0] = 7", "thing.last = own", "thing.twice = 6", "TOTAL += 1",
            f"thing.x = {self.choose(self.tensors)}", "thing.bump()", "SEEN[:1] = [len(SEEN)]", "items.reverse()",
            "k = thing.twice", "y.mul_(0.5)", "thing.items, own = own, thing.items", "k = TOTAL", "items.sort()",
        ]  # fmt: skip
        if self.indent == 1:  # in a loop over what it changes, it might never end
            effects += [
                "items.append(n)", "table['new'] = n", "del table['a']", "items += [k]", "items.insert(0, 9)",
                "k = items.pop()", "table.update(z=n)", "k = table.pop('b', None)", "items.extend(items)",
                "table['x'] = y", "items.append(items)", "table |= {'a': k}", "table.setdefault('s', []).append(n)",
                "SEEN.append(n)", "items[:] = items[::2]", "thing.items.extend(items)", "del items[-1]",
                "del thing.count", "items.append(thing)", "table.clear()",
            ]  # fmt: skip
        self.add(self.choose(effects))

    def on_objects(self) -> None:
        tensor = self.choose(self.tensors)
        self.add(
            self.choose(
                [
                    "made = Special(n)",
                    "made = Thing(3)",
                    f"p = Point({tensor}, n)",
                    "k = (Special(1) + Thing(2)).count",
                    "named['p'] = Point(n)",
                    "made = Special(2); k = made.bump() + made.bump(2); own.extend(made)",
                    "k = sum(Special(n or 0)) + len(thing)",
                    "k = Thing(n) == thing",
                    f"p = Point({tensor}); p.x = p.x + 1",
                    "k = getattr(thing, 'nope', 4)",
                    "k = [type(thing).__name__, isinstance(thing, Thing)]",
                    "p = dataclasses.replace(Point(1), y=n)",
                    "thing.other = Special(5); thing.other.bump()",
                    f"made = Thing(); made.t = {tensor}; {tensor} = made.t * 2",
                    "k = Point(1, n) == Point(1, 2)",
                ]
            )
        )

    def with_block(self) -> None:
        self.add(
            self.choose(
                [
                    "with Manager(own) as k:",
                    "with Manager(own, True) as k:",
                    "with marked(own) as k:",
                    "with contextlib.suppress(ValueError, KeyError):",
                    "with Manager(SEEN, True), marked(SEEN):",
                    "with contextlib.nullcontext(n) as k:",
                ]
            )
        )
        self.block(1)
        if self.random.random() < 0.3:
            self.add("    " + self.choose(["raise Stop(n)", "raise KeyError('w')", "k = 1 // 0"]))

    def raising(self) -> None:
        error = self.choose(["Stop(n)", "KeyError(k)", "ValueError", "Stop(2) from KeyError(1)", "RuntimeError('r')"])
        self.add("try:")
        self.block(1)
        self.add(f"    if {self.choose(CONDITIONS)}:")
        self.add(f"        raise {error}")
        caught = self.choose(["Stop", "(KeyError, Stop)", "ValueError", "Exception", "LookupError"])
        self.add(f"except {caught} as error:")
        self.add("    own.append((type(error).__name__, str(error), getattr(error, 'code', None)))")
        if self.random.random() < 0.2:
            self.add("    raise")
        if self.random.random() < 0.4:
            self.add("else:")
            self.block(1)
        if self.random.random() < 0.5:
            self.add("finally:")
            self.block(1)

    def with_generator(self) -> None:
        tensor = self.choose(self.tensors)
        self.add(
            self.choose(
                [
                    "own += list(countdown(3))",
                    "k = [*chained(2)]",
                    f"{tensor} = sum(t * i for i, t in zip(countdown(2), [x, y]))",
                    "g = countdown(3); k = (next(g), next(g)); own.extend(g)",
                    "k = next((i for i in items if i == 2), None)",
                    "g = countdown(2); k = next(g); g.close()",
                    "k = dict(enumerate(countdown(2)))",
                    "for i in chained(1): own.append(i)",
                    f"{tensor} = recurse(2, {tensor})",
                ]
            )
        )

    def on_views(self) -> None:
        view = self.name()
        self.add(f"{view} = {self.choose(self.tensors)}.clone()")
        form = self.choose(
            ["{}[..., 0]", "{}.view(-1)", "{}.reshape(-1)[:1]", "{}.unsqueeze(0)", "{}.detach()", "{}.t()"]
        )
        self.add(f"w = {form.format(view)}")
        self.add(
            self.choose(
                ["w.add_(2)", "w *= 3", "w[...] = 1", "w.copy_(w * 2)", f"{view}.sub_(w)", f"{view}[0] = w.sum()"]
            )
        )
        if self.indent == 1:
            self.tensors.append(view)

    def sharing(self) -> None:
        self.add(
            self.choose(
                [
                    "also = items; also[0] = 4",
                    "also = own; own = own + [1]; also.append(2)",
                    "named['own'] = own; own.append(3)",
                    "pair = (own, own)",
                    "own.append(own[:])",
                    "thing.items = own; own.append(k)",
                    "k = items is table.get('items')",
                    "a = b = []; a.append(n); k = b",
                    "k = (thing.items is own, x is y, own is own)",
                    "named = table; named['q'] = 1",
                    "own = list(items); own.append(0)",
                    "table['items'] = items",
                ]
            )
        )

    def with_closure(self) -> None:
        name, tensor = self.name(), self.choose(self.tensors)
        self.add(f"state{name} = {self.number()}")
        self.add(f"def {name}(t):")
        self.add(
            f"    nonlocal n; n = 5; own.append(state{name}); return t + n"
            if self.random.random() < 0.3
            else "    return t + k"
        )
        self.add(f"k = {self.number()}")
        self.add(
            f"{tensor} = {name}({tensor})"
            if self.random.random() < 0.8
            else f"{tensor} = list(map({name}, [{tensor}]))[0]"
        )
        if self.random.random() < 0.2:
            self.add(f"named['f'] = {name}")

    def of_modules(self) -> None:
        tensor = self.choose(self.tensors)
        self.add(
            self.choose(
                [
                    f"{tensor} = functools.reduce(operator.add, [{tensor}, 1, n])",
                    "k = list(itertools.chain(items, own[:1]))",
                    "k = [*itertools.product((1, 2), repeat=2)]",
                    "k = max(items, key=lambda i: -i)",
                    "k = sorted(items, reverse=True)",
                    f"{tensor} = functools.partial(torch.add, {tensor})(1)",
                    "k = {i % 3 for i in items}",
                    "k = any(i > 3 for i in items)",
                    "k = list(itertools.islice(itertools.count(n), 3))",
                    "k = operator.itemgetter",
                    "k = [*itertools.accumulate(items)]",
                    "k = {*items, 4} - {1}",
                    "k = list(filter(None, items)), [*map(str, items)]",
                    "k = list(zip(items, itertools.repeat(n)))",
                ]
            )
        )

    def on_text(self) -> None:
        self.add(
            self.choose(
                [
                    "k = f'{n!r:>4}|{len(own)}'",
                    "k = '-'.join(map(str, items))",
                    "k = 'a,b'.split(',') + ['c'.upper()]",
                    "k = '%s' % (n,)",
                    "k = str(named.keys())",
                    "k = f'{items}'",
                    "k = 'x' in 'xyz' and 'y' * 2",
                ]
            )
        )

    def leaving(self) -> None:
        self.add(f"if {self.choose(CONDITIONS)}:")
        self.add("    " + self.choose(["return x, own", "raise Stop(k)", "assert n is None, 'n'", "return y"]))

    def on_tensor(self) -> None:
        self.add("if x.sum() > 0:" if self.random.random() < 0.5 else "if x.sum().item() > 0:")
        self.block(1)

    def block_of_torch(self) -> None:
        self.add("with torch.no_grad():")
        self.block(1)

    def text(self) -> str:
        """The function's source."""
        self.lines = []
        self.add("global TOTAL")
        self.add("own, named, k, pair, made, p = [], {}, 0, None, None, None")
        for _ in range(self.random.randint(2, 6)):
            self.statement()
        results = ", ".join(dict.fromkeys(["x", "y", *self.tensors[-2:]]))
        self.add(f"return {results}, n, k, own, named, pair, made, p")
        return "def function(x, y, n, items, table, thing):\n" + "\n".join(self.lines) + "\n"
