"""Functions that use classes, errors, `with`, generators and Python's modules; each takes a library and a tensor."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import itertools
import operator
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NamedTuple, Self


class Kind(enum.Enum):
    SMALL = 1
    LARGE = 2

    def scale(self) -> int:
        return self.value * 10

    @property
    def half(self) -> float:
        return self.value / 2

    @classmethod
    def first(cls) -> Kind:
        return cls.SMALL


class Base:
    shared = 3

    def __init__(self, width: int) -> None:
        self.width = width

    def area(self) -> int:
        return self.width * self.shared

    @property
    def double(self) -> int:
        return self.width * 2

    @double.setter
    def double(self, value: int) -> None:
        self.width = value // 2

    @functools.cached_property
    def slow(self) -> int:
        self.asked = getattr(self, "asked", 0) + 1
        return self.width + 1

    @classmethod
    def make(cls, width: int) -> Base:
        return cls(width)

    @staticmethod
    def plus(a: int, b: int) -> int:
        return a + b


class Derived(Base):
    def __init__(self, width: int, height: int = 2) -> None:
        super().__init__(width)
        self.height = height

    def area(self) -> int:
        return super().area() + self.height


class Vector:
    def __init__(self, *items: Any) -> None:
        self.items = list(items)

    def __add__(self, other: Vector) -> Vector:
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(*[a + b for a, b in zip(self.items, other.items, strict=True)])

    def __radd__(self, other: Any) -> Vector:
        return Vector(*[other + a for a in self.items])

    def __iadd__(self, other: Any) -> Self:
        self.items.append(other)
        return self

    def __neg__(self) -> Vector:
        return Vector(*[-a for a in self.items])

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: Any) -> Any:
        return self.items[i]

    def __setitem__(self, i: Any, value: Any) -> None:
        self.items[i] = value

    def __delitem__(self, i: Any) -> None:
        del self.items[i]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __contains__(self, item: Any) -> bool:
        return any(item is other for other in self.items)

    def __call__(self, x: Any) -> Any:
        return x * len(self.items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and len(self) == len(other)

    def __lt__(self, other: Vector) -> bool:
        return len(self) < len(other)

    def __bool__(self) -> bool:
        return bool(self.items)

    def __str__(self) -> str:
        return f"<{len(self.items)}>"

    __hash__ = None  # type: ignore[assignment]


class Countdown:
    def __init__(self, start: int) -> None:
        self.left = start

    def __iter__(self) -> Countdown:
        return self

    def __next__(self) -> int:
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.left


class Fallback:
    def __init__(self) -> None:
        self.real = 1

    def __getattr__(self, name: str) -> Any:
        if name.startswith("made_"):
            return len(name)
        raise AttributeError(name)


class Logged:
    def __init__(self) -> None:
        object.__setattr__(self, "log", [])

    def __setattr__(self, name: str, value: Any) -> None:
        self.log.append(name)
        object.__setattr__(self, name, value)


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a: Any) -> None:
        self.a = a


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 2
    tags: list[Any] = dataclasses.field(default_factory=list)

    def total(self) -> Any:
        return self.x + self.y


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: int = 3


class Pair(NamedTuple):
    left: Any
    right: Any = 1

    def both(self) -> Any:
        return self.left + self.right


class MyError(ValueError):
    def __init__(self, code: int, text: str = "mine") -> None:
        super().__init__(text)
        self.code = code


class Doubling:
    """A context manager that notes what it saw."""

    def __init__(self, log: list[Any], swallow: type[BaseException] | None = None) -> None:
        self.log = log
        self.swallow = swallow

    def __enter__(self) -> int:
        self.log.append("enter")
        return 2

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self.log.append("exit" if kind is None else kind.__name__)
        return kind is not None and self.swallow is not None and issubclass(kind, self.swallow)


@contextlib.contextmanager
def scaled(log: list[Any], factor: int) -> Iterator[int]:
    log.append("begin")
    try:
        yield factor
    except ValueError:
        log.append("caught")
    finally:
        log.append("end")


def counting(n: int) -> Iterator[int]:
    for i in range(n):  # noqa: UP028  # a loop is what is tested
        yield i
    return n  # type: ignore[return-value]


def delegating(n: int) -> Any:
    got = yield from counting(n)
    yield got * 100


def averaging(log: list[Any]) -> Any:
    total = 0
    try:
        while True:
            sent = yield total
            total += sent
    except GeneratorExit:
        log.append("closed")
        raise


# Classes ---------------------------------------------------------------------------------------------------------


def classes(t: Any, x: Any) -> Any:
    one, two = Base(2), Derived(3)
    two.double = 10
    made = Derived.make(4)
    one.extra = x + 1
    return (
        one.area(), two.area(), made.area(), type(made).__name__, Base.plus(1, 2), one.extra * two.width,
        isinstance(two, Base), hasattr(one, "height"), getattr(one, "nope", 7), two.slow + two.slow, two.asked,
    )  # fmt: skip


def operators(t: Any, x: Any) -> Any:
    v, w = Vector(x, 1), Vector(x * 2, 5)
    total = v + w
    total += 9
    shifted = 1 + v
    v[1] = 4
    del w[0]
    found = [item for item in -v]  # noqa: C416  # a loop is what is tested
    return (
        total.items, shifted.items, len(v), v[1], w.items, v(x), v == w, v != w, w < v, x in v, bool(Vector()), found,
        f"{v}|{v!s}",
    )  # fmt: skip


def iterating(t: Any, x: Any) -> Any:
    total = x
    for i in Countdown(3):
        total = total + i
    return total, list(Countdown(2)), sum(Countdown(4)), next(iter(Countdown(5))), tuple(zip(Countdown(2), "ab"))  # noqa: B905


def fallbacks(t: Any, x: Any) -> Any:
    a = Fallback()
    try:
        missing = a.other
    except AttributeError as error:
        missing = str(error)
    return x + a.real + a.made_up, missing, hasattr(a, "made_x"), hasattr(a, "x")


def setting(t: Any, x: Any) -> Any:
    a = Logged()
    a.one = x + 1
    setattr(a, "two", 2)  # noqa: B010
    b = Slots(x)
    b.b = 5
    del b.a
    return a.one, a.log, a.two, hasattr(b, "a"), b.b


def dataclasses_(t: Any, x: Any) -> Any:
    p, q = Point(x), Point(1, y=3)
    p.tags.append(q.total())
    q.x += 4
    try:
        Frozen(1).a = 2  # type: ignore[misc]
        text = "set"
    except dataclasses.FrozenInstanceError as error:
        text = str(error)
    return p.total(), p.tags, q.tags, q.x, Frozen(2) == Frozen(2), Frozen(1).b, q == Point(5, 3), text


def tuples(t: Any, x: Any) -> Any:
    p = Pair(x)
    left, right = p
    return p, p.both(), p._replace(right=5), left + right, p._asdict(), p[0], len(p)


def enums(t: Any, x: Any) -> Any:
    kind = Kind.LARGE
    return (
        x * kind.value, kind.scale(), kind.half, Kind.first() is Kind.SMALL, Kind(2) is kind, kind == Kind.SMALL,
        kind.name, Kind["SMALL"], {Kind.SMALL: 1}[Kind.SMALL],
    )  # fmt: skip


def given_back(t: Any, x: Any) -> Any:
    p = Point(x + 1, [1])
    p.itself = p  # type: ignore[attr-defined]
    return p.x, p.y, vars(p)["y"], [p][0] is p, p.itself is p  # type: ignore[attr-defined]


# Errors ----------------------------------------------------------------------------------------------------------


def caught(t: Any, x: Any) -> Any:
    log: list[Any] = []
    try:
        log.append({}["missing"])
    except KeyError as error:
        log += [str(error), error.args]
    else:
        log.append("else")
    finally:
        log.append("finally")
    try:
        x = x + 1
    except ValueError:
        log.append("not here")
    else:
        log.append("else")
    items, numbers = [1], (1, 2)
    for action in (
        lambda: items[4],
        lambda: int("z"),
        lambda: 1 // 0,
        lambda: x.nope,
        lambda: None + 1,
        lambda: numbers[5],
    ):  # type: ignore[operator]
        try:
            action()
        except (IndexError, ValueError) as error:
            log.append(f"{type(error).__name__}: {error}")
        except Exception as error:  # noqa: BLE001
            log.append(type(error).__name__)
    return x * 2, log


def raised(t: Any, x: Any) -> Any:
    log = []
    for code in range(4):
        try:
            try:
                if code == 0:
                    raise MyError(5)
                if code == 1:
                    raise MyError(6, text="other")
                if code == 2:
                    raise KeyError("k") from ValueError("v")
                assert code != 3, "three"
            except MyError as error:
                log.append((error.code, str(error), error.args))
                if code == 1:
                    raise
            finally:
                log.append(code)
        except ValueError as error:
            log.append(f"again {error}")
        except KeyError as error:
            log.append(str(error.__cause__))
        except AssertionError as error:
            log.append(error.args[0])
    return x + len(log), log


def nested(t: Any, x: Any) -> Any:
    def thrower(n: int) -> int:
        if n == 0:
            raise IndexError("deep")
        try:
            return thrower(n - 1)
        finally:
            log.append(n)

    log: list[Any] = []
    try:
        thrower(3)
    except LookupError as error:
        log.append(str(error))
    return x * len(log), log


def leaving(t: Any, x: Any) -> Any:
    def early() -> Any:
        for i in range(5):
            try:
                if i == 1:
                    continue
                if i == 3:
                    break
                log.append(i)
            finally:
                log.append(-i)
        try:
            return "returned"
        finally:
            log.append("after")

    log: list[Any] = []
    return x + 1, early(), log


def unset(t: Any, x: Any) -> Any:
    try:
        print(later)  # noqa: F821
        later = 1  # noqa: F841
    except UnboundLocalError:
        x = x + 1
    try:
        nowhere  # type: ignore[name-defined]  # noqa: B018
    except NameError as error:
        return x, str(error)
    return None


def arguments(t: Any, x: Any) -> Any:
    def takes(a: int, *, b: int = 1) -> int:
        return a + b

    log = []
    for call in (lambda: takes(1, 2), lambda: takes(), lambda: takes(1, c=2), lambda: takes(1, a=2)):  # type: ignore[call-arg, misc]
        try:
            log.append(call())
        except TypeError:
            log.append(-1)
    return x + 1, log


# With ------------------------------------------------------------------------------------------------------------


def managers(t: Any, x: Any) -> Any:
    log: list[Any] = []
    with Doubling(log) as two:
        x = x * two
    with Doubling(log, KeyError), Doubling(log, ValueError):
        raise KeyError("gone")
    try:
        with Doubling(log):
            raise MyError(1)
    except ValueError:
        log.append("outside")
    return x, log


def generators_as_managers(t: Any, x: Any) -> Any:
    log: list[Any] = []
    with scaled(log, 3) as factor:
        x = x * factor
    with scaled(log, 2):
        raise ValueError("swallowed")
    try:
        with scaled(log, 2):
            raise KeyError("not swallowed")
    except KeyError:
        log.append("here")
    with contextlib.suppress(ZeroDivisionError):
        log.append(1 // 0)
    with contextlib.nullcontext(4) as four:
        x = x + four
    return x, log


def returned_from_within(t: Any, x: Any) -> Any:
    log: list[Any] = []

    def inner() -> Any:
        with Doubling(log) as two:
            for i in range(3):
                with scaled(log, i):
                    if i == 1:
                        return x * two
        return None

    return inner(), log


# Generators and Python's modules ---------------------------------------------------------------------------------


def generators(t: Any, x: Any) -> Any:
    log: list[Any] = []
    gen = averaging(log)
    sent = [next(gen), gen.send(3), gen.send(4)]
    gen.close()
    rows = (row * 2 for row in x)
    first = next(rows)
    some = counting(10)
    taken = [next(some), next(some), *itertools.islice(some, 2)]
    return (
        sent,
        log,
        first,
        list(rows),
        list(delegating(2)),
        taken,
        next(counting(0), "end"),
        sum(i for i in counting(4)),
    )


def iterators(t: Any, x: Any) -> Any:
    items = [3, 1, 2]
    return (
        list(map(lambda a, b: a * b, items, [x, x, 2])), list(filter(None, [0, 1, 2])),
        functools.reduce(operator.add, [x, x, 1]), sorted(items, key=lambda i: -i), max(items, key=lambda i: i % 3),
        min(2, 1), list(itertools.chain(items, (x,))), [*itertools.product([1, 2], "ab")], list(reversed(items)),
        [*itertools.accumulate(items)], any(i > 2 for i in items), all([]), sum([x, 1], start=2),
        dict(zip("ab", items)),  # noqa: B905
        [*itertools.takewhile(lambda i: i > 2, items)], list(enumerate(items, 1)), [*itertools.pairwise(items)],
        [*itertools.zip_longest([1], [2, x])], list(itertools.combinations(items, 2)), [*itertools.repeat(1, 2)],
        min([], default=4), list(range(5))[::2], [*zip(*[(1, x), (2, 4)])],  # noqa: B905
    )  # fmt: skip


def partials(t: Any, x: Any) -> Any:
    def scale(a: Any, b: Any, *, c: int = 1) -> Any:
        return a * b + c

    half = functools.partial(scale, x, c=3)
    more = functools.partial(half, 2)
    return half(2), more(), more(c=0), half.keywords, functools.partial(operator.mul, 2)(x)


def collections_(t: Any, x: Any) -> Any:
    table: Any = defaultdict(list)
    for i, row in enumerate(x):
        table[i % 2].append(row)
    counts: Any = defaultdict(int)
    for letter in "abca":
        counts[letter] += 1
    order = OrderedDict(b=1, a=x)
    order.move_to_end("b")
    group = {1, 2} | {3}
    group.add(7)
    return (
        table,
        counts,
        order,
        group,
        {1, 2} & {2, 3},
        7 in group,
        frozenset([1, 2]),
        {i % 2 for i in range(5)},
        counts["zz"],
    )


def texts(t: Any, x: Any) -> Any:
    n, f = 5, 2.5
    name = "Glass"
    return (
        x + 1, f"{n:03d} {f:.2f} {name!r:>10} {name.lower()[:2]}", ",".join(str(i) for i in range(3)),
        "%s-%d" % (name, n),  # noqa: UP031
        "{} {a}".format(1, a=2), name.replace("s", "z").split("a"), name.startswith("G"), str(None), repr([1, "a"]),  # noqa: UP032
        name[::-1], "x" * 3, len(name), "l" in name,
    )  # fmt: skip


def matching(t: Any, x: Any) -> Any:
    found = []
    for item in (1, "a", [1, 2, 3], {"k": 5}, Point(1, 2), (4,), None, Kind.SMALL):
        match item:
            case 1:
                found.append("one")
            case str() as text:
                found.append(text)
            case [first, *rest]:
                found.append((first, rest))
            case {"k": value}:
                found.append(value)
            case Point(x=a, y=b):
                found.append((a, b))
            case Kind.SMALL:
                found.append("small")
            case _:
                found.append("other")
    return x + 1, found


def stars(t: Any, x: Any) -> Any:
    def f(*args: Any, **kwargs: Any) -> Any:
        return len(args), sorted(kwargs)

    a, *b = (1, 2, 3)
    *c, d = [x, 4]
    return f(*b, *c, z=1, y=2), a, b, d, {"a": 1, "b": x}, [*b, *c], (*b,)


def assigned(t: Any, x: Any) -> Any:
    import math
    from math import sqrt

    if (n := x.shape[0]) > 1:
        x = x * n
    a = b = [n]
    a.append(2)
    return x * math.pi + sqrt(4), b, n


PROGRAMS = (
    classes, operators, iterating, fallbacks, setting, dataclasses_, tuples, enums, given_back, caught, raised, nested,
    leaving, unset, arguments, managers, generators_as_managers, returned_from_within, generators, iterators, partials,
    collections_, texts, matching, stars, assigned,
)  # fmt: skip
