"""Is what a schema says of memory read as it is written?"""

from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.jit.alias_analysis import MemoryFacts
from workbook.exercises.asking import Ask, expect


def facts(ask: Ask, text: str, written: tuple[int, ...], sources: tuple[tuple[int, ...], ...], because: str) -> None:
    """Ask about a schema."""
    came = ask("memory_facts", FunctionSchema.parse(text))
    expect(came, MemoryFacts(written, sources), asked=f"what this schema says of memory: {text}", because=because)


def test_memory_of_its_own(ask: Ask) -> None:
    """what a schema without letters says of memory"""
    because = "an argument or result without a letter shares memory with nobody"
    facts(ask, "neg(Tensor self) -> Tensor", (), ((),), because)
    facts(ask, "mul(Tensor self, Tensor other) -> Tensor", (), ((),), because)
    facts(ask, "max(Tensor self, int dim) -> (Tensor values, Tensor indices)", (), ((), ()), because)


def test_views(ask: Ask) -> None:
    """what the schema of a view says of memory"""
    facts(ask, "t(Tensor(a) self) -> Tensor(a)", (), ((0,),), "the same letter is the same memory")
    because = "the letter of the result is that of the second argument only"
    facts(ask, "look(Tensor self, Tensor(b) other) -> Tensor(b)", (), ((1,),), because)
    because = "two arguments may have one letter: the result may have the memory of either"
    facts(ask, "pick(Tensor(a) one, int n, Tensor(a) other) -> Tensor(a)", (), ((0, 2),), because)
    because = "in a list it is the same memory still"
    facts(ask, "chunk(Tensor(a -> *) self, int chunks) -> Tensor(a)[]", (), ((0,),), because)


def test_writes(ask: Ask) -> None:
    """what a schema with marks says of memory"""
    because = "with or without the mark, the letter is the same"
    facts(ask, "relu_(Tensor(a!) self) -> Tensor(a!)", (0,), ((0,),), because)
    facts(ask, "fill(Tensor self, *, Tensor(a!) out) -> Tensor(a)", (1,), ((1,),), because)
    because = "each result has the letter of its own argument"
    text = "both.out(Tensor self, *, Tensor(a!) max, Tensor(b!) at) -> (Tensor(a!), Tensor(b!))"
    facts(ask, text, (1, 2), ((1,), (2,)), because)
    facts(ask, "swap_(Tensor(a!) x, Tensor(b!) y) -> ()", (0, 1), (), "it gives nothing, and writes all the same")


def test_what_is_not_declared(ask: Ask) -> None:
    """what is true of an operator that returns its argument and does not declare it"""
    because = "it is one of UNDECLARED_VIEWS, which says whose memory the result may have"
    facts(ask, "_unsafe_view(Tensor self, int[] size) -> Tensor", (), ((0,),), because)
