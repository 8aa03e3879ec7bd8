"""Do all members of each row get the right result, in any order of threads, and with few stores?"""

import random

import glasstorch as torch
from glasstorch.cuda import _CudaKernel as CudaKernel
from workbook.exercises.answer_file import Refused
from workbook.exercises.asking import Ask, expect
from workbook.exercises.report import Refusal

KERNELS = r"""
constexpr int WARP = 32;
constexpr int MOST_THREADS = 256;

template <class State> __device__ State shuffled_down(State state, int distance, int width) {
  return __shfl_down_sync(0xffffffffu, state, distance, width);
}

template <class State> __device__ State shuffled_first(State state, int width) {
  return __shfl_sync(0xffffffffu, state, 0, width);
}

#line 1 "rows.cuh"
HEADER
#line 1 "the check"
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Larger {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

template <class Combine> __device__ float found(const float* x, int rows, int length, float nothing) {
  float state = nothing;
  if (Rows::line() < rows) {
    const float* row = x + Rows::line() * length;
    for (int i = Rows::member(); i < length; i += Rows::members()) state = Combine()(state, row[i]);
  }
  return state;
}

extern "C" __global__ void reduce(const float* x, float* sums, float* largest, int rows, int length) {
  __shared__ float shared[MOST_THREADS];
  float sum = Rows::together(found<Add>(x, rows, length, 0), Add(), shared);
  float most = Rows::together(found<Larger>(x, rows, length, -1e30f), Larger(), shared);
  if (Rows::line() < rows) {
    sums[Rows::line() * Rows::members() + Rows::member()] = sum;
    largest[Rows::line() * Rows::members() + Rows::member()] = most;
  }
}
"""
BLOCKS = ((32, 1), (1, 32), (8, 4), (64, 1), (256, 1), (64, 4), (128, 2))  # members of a row, rows in a block
ORDERS = ("forward", "reverse", "random")


def refused(ask: Ask, asked: str, came: str, accepted: str) -> Refused:
    """The refusal of the reader's header."""
    line = ask.last.line if ask.last is not None else None
    return Refused(Refusal(asked=asked, came=came, accepted=accepted, line=line))


def compiled(ask: Ask) -> CudaKernel:
    """The check's kernel around the reader's header."""
    text = ask("rows").value
    if not isinstance(text, str):
        raise refused(ask, "a header as text", f"`rows` returned {text!r}", "CUDA C++ in a str")
    try:
        return torch.cuda._compile_kernel(KERNELS.replace("HEADER", text), "reduce")
    except RuntimeError as error:
        raise refused(ask, "a header that compiles", str(error), "CUDA C++") from None


def numbers(rows: int, length: int) -> torch.Tensor:
    """Whole numbers, none of them twice: sums are exact in any order."""
    drawn = random.Random(f"{rows} {length}").sample(range(-4000, 4000), rows * length)
    return torch.tensor(drawn, dtype=torch.float32).view(rows, length)


def told(found: torch.Tensor, wanted: torch.Tensor) -> tuple[str, str]:
    """What the first member with a wrong value got and should have got; the same sentence twice if all are right."""
    for at, (one, right) in enumerate(zip(found.flatten().tolist(), wanted.flatten().tolist(), strict=True)):
        if one != right:
            row, member = divmod(at, found.shape[1])
            who = f"member {member} of row {row}"
            return f"{who} gets {one}", f"{who} gets {right}"
    return "all members get the right value", "all members get the right value"


def reduced(kernel: CudaKernel, block: tuple[int, int]) -> list[tuple[str, str]]:
    """What the members got and should have got, for the sum and for the maximum."""
    members, together = block
    rows, length = together + 1, members + 3
    x = numbers(rows, length)
    sums, largest = (torch.zeros(rows, members).cuda() for _ in range(2))
    kernel(grid=(2, 1, 1), block=(members, together, 1), args=(x.cuda(), sums, largest, rows, length))
    right = x.sum(1, keepdim=True).expand(rows, members), x.amax(1, keepdim=True).expand(rows, members)
    return [told(found, wanted) for found, wanted in zip((sums, largest), right, strict=True)]


def test_every_member_knows(ask: Ask) -> None:
    """the sum and the maximum of each row that its members get, in every order of threads"""
    for order in ORDERS:
        torch.cuda.use_simulator(order=order, seed=1)
        kernel = compiled(ask)
        for block in BLOCKS:
            asked = f"rows of {block[0]} members, {block[1]} in a block, threads in {order} order"
            for came, wanted in reduced(kernel, block):
                expect(came, wanted, asked=asked, because="each member has to combine the states of its whole row")


def test_every_access_is_ordered(ask: Ask) -> None:
    """accesses to shared memory in a fixed order, in two calls one after the other"""
    torch.cuda.use_simulator(check=True)
    kernel = compiled(ask)
    for block in BLOCKS[1:6]:
        try:
            reduced(kernel, block)
        except RuntimeError as error:
            accepted = "a barrier between a write and a read by another thread"
            raise refused(ask, "a fixed order of accesses", str(error), accepted) from None


def test_what_it_costs(ask: Ask) -> None:
    """at most one store to shared memory for each warp and call"""
    card = torch.cuda.use_simulator()
    kernel, x = compiled(ask), numbers(1, 1024).cuda()
    sums, largest = torch.zeros(1, 256).cuda(), torch.zeros(1, 256).cuda()
    with card.counting() as counts:
        kernel(block=(256, 1, 1), args=(x, sums, largest, 1, 1024))
    ((_, cost),) = counts
    because = f"there are 8 warps and 2 calls, but your header made {cost.shared_stores} stores"
    expect(cost.shared_stores <= 16, True, asked="at most 16 stores to shared memory", because=because)
