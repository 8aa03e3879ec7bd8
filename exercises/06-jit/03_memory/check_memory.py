"""Does the function read everything that a schema says about memory?"""

from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.jit.alias_analysis import MemoryFacts
from workbook.exercises.asking import Ask, expect


def facts(ask: Ask, text: str, written: tuple[int, ...], sources: tuple[tuple[int, ...], ...], because: str) -> None:
    """Ask about a schema."""
    came = ask("memory_facts", FunctionSchema.parse(text))
    expect(came, MemoryFacts(written, sources), asked=f"what this schema says about memory: {text}", because=because)


def test_memory_of_its_own(ask: Ask) -> None:
    """what a schema without letters says about memory"""
    because = "an argument or result without a letter shares no memory"
    facts(ask, "neg(Tensor self) -> Tensor", (), ((),), because)
    facts(ask, "mul(Tensor self, Tensor other) -> Tensor", (), ((),), because)
    facts(ask, "max(Tensor self, int dim) -> (Tensor values, Tensor indices)", (), ((), ()), because)


def test_views(ask: Ask) -> None:
    """what the schema of a view says about memory"""
    facts(ask, "t(Tensor(a) self) -> Tensor(a)", (), ((0,),), "the argument and the result have the same letter")
    because = "only the second argument has the letter of the result"
    facts(ask, "look(Tensor self, Tensor(b) other) -> Tensor(b)", (), ((1,),), because)
    because = "two arguments have the letter of the result, which may share the memory of either"
    facts(ask, "pick(Tensor(a) one, int n, Tensor(a) other) -> Tensor(a)", (), ((0, 2),), because)
    because = "`a -> *` has the letter a: the results in the list share the memory of the argument"
    facts(ask, "chunk(Tensor(a -> *) self, int chunks) -> Tensor(a)[]", (), ((0,),), because)


def test_writes(ask: Ask) -> None:
    """what a schema with marks says about memory"""
    because = "the letter is the same with the mark and without it"
    facts(ask, "relu_(Tensor(a!) self) -> Tensor(a!)", (0,), ((0,),), because)
    facts(ask, "fill(Tensor self, *, Tensor(a!) out) -> Tensor(a)", (1,), ((1,),), because)
    because = "each result has the letter of its own argument"
    text = "both.out(Tensor self, *, Tensor(a!) max, Tensor(b!) at) -> (Tensor(a!), Tensor(b!))"
    facts(ask, text, (1, 2), ((1,), (2,)), because)
    facts(ask, "swap_(Tensor(a!) x, Tensor(b!) y) -> ()", (0, 1), (), "it returns nothing, but it writes to both")


def test_what_is_not_declared(ask: Ask) -> None:
    """the facts about an operator that returns its argument without declaring it"""
    because = "it is one of UNDECLARED_VIEWS, which names the argument whose memory the result may share"
    facts(ask, "_unsafe_view(Tensor self, int[] size) -> Tensor", (), ((0,),), because)
