"""Is the sum of each column right in any order of threads, is every access ordered, and is no barrier needless?"""

import random

import glasstorch as torch
from glasstorch.cuda import _CudaKernel as CudaKernel
from workbook.exercises.answer_file import Refused
from workbook.exercises.asking import Ask, expect
from workbook.exercises.report import Refusal

KERNELS = r"""
constexpr int MOST_THREADS = 256;

#line 1 "columns.cuh"
HEADER
#line 1 "the check"
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

extern "C" __global__ void reduce(const float* x, float* once, float* twice, int length, int columns) {
  __shared__ float shared[MOST_THREADS];
  float sum = 0;
  if (Columns::line() < columns) {
    for (int i = Columns::member(); i < length; i += Columns::members()) sum += x[i * columns + Columns::line()];
  }
  const float first = Columns::together(sum, Add(), shared);
  const float second = Columns::together(2 * sum, Add(), shared);
  if (Columns::line() < columns) {
    once[Columns::member() * columns + Columns::line()] = first;
    twice[Columns::member() * columns + Columns::line()] = second;
  }
}
"""
BLOCKS = ((32, 8), (32, 1), (32, 2), (4, 16), (1, 64))  # columns in a block, members of each
ORDERS = ("forward", "reverse", "random")


def refused(ask: Ask, asked: str, came: str, accepted: str) -> Refused:
    """The refusal of the reader's header."""
    line = ask.last.line if ask.last is not None else None
    return Refused(Refusal(asked=asked, came=came, accepted=accepted, line=line))


def compiled(ask: Ask) -> CudaKernel:
    """The check's kernel around the reader's header."""
    text = ask("columns").value
    if not isinstance(text, str):
        raise refused(ask, "a header as text", f"`columns` returned {text!r}", "CUDA C++ in a str")
    try:
        return torch.cuda._compile_kernel(KERNELS.replace("HEADER", text), "reduce")
    except RuntimeError as error:
        raise refused(ask, "a header that compiles", str(error), "CUDA C++") from None


def numbers(length: int, columns: int) -> torch.Tensor:
    """Whole numbers, none of them twice: sums are exact in any order."""
    drawn = random.Random(f"{length} {columns}").sample(range(-4000, 4000), length * columns)
    return torch.tensor(drawn, dtype=torch.float32).view(length, columns)


def told(found: torch.Tensor, wanted: torch.Tensor) -> tuple[str, str]:
    """What the first member with a wrong value got and should have got; the same sentence twice if all are right."""
    for at, (one, right) in enumerate(zip(found.flatten().tolist(), wanted.flatten().tolist(), strict=True)):
        if one != right:
            member, column = divmod(at, found.shape[1])
            who = f"member {member} of column {column}"
            return f"{who} gets {one}", f"{who} gets {right}"
    return "all members get the right value", "all members get the right value"


def reduced(ask: Ask, kernel: CudaKernel, block: tuple[int, int]) -> list[tuple[str, str]]:
    """What the members got and should have got from each of the two calls."""
    together, members = block
    length, columns = members + 3, together + 1
    x = numbers(length, columns)
    once, twice = (torch.zeros(members, columns).cuda() for _ in range(2))
    try:
        kernel(grid=(2, 1, 1), block=(together, members, 1), args=(x.cuda(), once, twice, length, columns))
        torch.cuda.synchronize()
    except RuntimeError as error:
        accepted = "all threads at each barrier, and a barrier between a write and a read by another thread"
        raise refused(ask, "a fixed order of accesses", str(error), accepted) from None
    wanted = x.sum(0, keepdim=True).expand(members, columns)
    return [told(once, wanted), told(twice, 2 * wanted)]


def test_any_order_of_threads(ask: Ask) -> None:
    """the sums of the columns from two calls with the same shared memory, in every order of threads"""
    for order in ORDERS:
        torch.cuda.use_simulator(order=order, seed=1)
        kernel = compiled(ask)
        for block in BLOCKS:
            asked = f"columns of {block[1]} members, {block[0]} in a block, threads in {order} order"
            for came, wanted in reduced(ask, kernel, block):
                expect(came, wanted, asked=asked, because="only a barrier fixes the order of accesses of two threads")


def test_every_access_is_ordered(ask: Ask) -> None:
    """accesses to shared memory in a fixed order"""
    torch.cuda.use_simulator(check=True)
    kernel = compiled(ask)
    for block in BLOCKS:
        reduced(ask, kernel, block)


def test_no_barrier_is_needless(ask: Ask) -> None:
    """at most log2(m) + 2 barriers for a call with m members"""
    card = torch.cuda.use_simulator()
    kernel, x = compiled(ask), numbers(64, 4).cuda()
    once, twice = torch.zeros(16, 4).cuda(), torch.zeros(16, 4).cuda()
    with card.counting() as counts:
        kernel(grid=(1, 1, 1), block=(4, 16, 1), args=(x, once, twice, 64, 4))
    ((_, cost),) = counts
    met = cost.barriers // 64  # each of 64 threads counts
    because = f"log2(16) + 2 is 6 for each call; there were {met} in two calls"
    expect(met <= 12, True, asked="at most 12 barriers in two calls with 16 members", because=because)
