"""Is what chapter 07 says of modules, hooks, generators, convolutions and profiles what the library does?"""

from __future__ import annotations

import io
import math
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasstorch as torch
from glasstorch import nn
from glasstorch.backends.cpu.convolution import choices
from glasstorch.data.worker import seed_everything
from glasstorch.dispatch.fast import PLAIN
from glasstorch.kernels.cpu.convolution import ways
from glasstorch.kernels.cpu.fast.convolution import costs
from glasstorch.profiler import profile, schedule
from glasstorch.utils.flop_counter import FlopCounterMode
from tests.book.small_book import ROOT
from workbook.book.example_programs import example

CHAPTER = ROOT / "chapters" / "07-nn-and-training"


def words_of(section: str) -> str:
    """The text of a section, in one line."""
    return " ".join((CHAPTER / f"{section}.md").read_text(encoding="utf-8").split())


CONVOLUTION, CHOICE = words_of("how-a-convolution-is-computed"), words_of("choosing-a-convolution-algorithm")
MODULES, HOOKS = words_of("what-a-module-is"), words_of("hooks-and-their-order")
GENERATOR = words_of("from-a-layer-to-the-generator")
OPTIMIZERS, WORKERS = words_of("optimizers-as-tensor-programs"), words_of("workers-and-their-seeds")
SAVING, PRECISION = words_of("saving-and-loading"), words_of("mixed-precision")
PROFILER, COUNTS = words_of("the-loop-under-the-profiler"), words_of("what-a-profile-counts")
GPT = words_of("a-gpt-line-by-line")

plain = pytest.mark.skipif(PLAIN, reason="plain kernels alone")


# ---- modules ----------------------------------------------------------------------------------------------------


def test_a_state_dict_remembers_that_it_was_assigned() -> None:
    assert "The second call found the option that the first had recorded, and assigned as well." in MODULES
    state = nn.Linear(2, 2).state_dict()
    first, second, third = (nn.Linear(2, 2) for _ in range(3))
    third.load_state_dict(dict(state))
    first.load_state_dict(state, assign=True)
    second.load_state_dict(state)
    assert second.weight.data_ptr() == first.weight.data_ptr() != third.weight.data_ptr()


def test_a_state_dict_without_metadata_counts_as_old() -> None:
    assert "A plain `dict` has no metadata and is treated as old, so the layer keeps its own count" in MODULES
    state = nn.BatchNorm1d(2).state_dict()
    del state["num_batches_tracked"]
    assert not nn.BatchNorm1d(2).load_state_dict(dict(state)).missing_keys
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        nn.BatchNorm1d(2).load_state_dict(state)


# ---- hooks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("needed", "place"), [(False, 0), (True, -1)])
def test_the_hook_of_a_network_comes_first_where_its_input_is_data(needed: bool, place: int) -> None:
    assert "A whole network is usually called on data that requires no gradient, so its hook runs first." in HOOKS
    net, seen = nn.Sequential(nn.Linear(2, 3), nn.Tanh()), []
    for module in net.modules():
        module.register_full_backward_hook(lambda one, *_: seen.append(one))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net(torch.ones(1, 2, requires_grad=needed)).sum().backward()
    assert seen[place] is net


# ---- the generator ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "make", "taken"),
    [
        ("16: one for each of the twelve weights and the four biases", lambda: nn.Linear(3, 4), 16),
        ("The embedding has 40 numbers but took 56 words", lambda: nn.Embedding(10, 4), 56),
        ("so that 17 numbers take 33 words", lambda: torch.empty(17).normal_(), 33),
        ("every later draw is shifted by nine places", lambda: nn.Linear(8, 1), 9),
        ("Batch norm starts with ones and zeros", lambda: nn.BatchNorm1d(4), 0),
    ],
)
def test_what_is_made_takes_words(said: str, make: object, taken: int) -> None:
    assert said in GENERATOR
    assert callable(make)
    torch.manual_seed(0)
    make()
    came = torch.rand(3).tolist()
    torch.manual_seed(0)
    assert torch.rand(taken + 3).tolist()[taken:] == came


# ---- optimizers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "options", "nbytes"),
    [
        ("In float32, 16 bytes: the parameter, its gradient, and the two running means.", {}, 16),
        ("SGD with momentum takes 12 bytes", {"momentum": 0.9}, 12),
        ("SGD without momentum 8.", {"momentum": 0}, 8),
    ],
)
def test_what_training_keeps_for_each_number(said: str, options: dict[str, float], nbytes: int) -> None:
    assert said in OPTIMIZERS
    p = nn.Parameter(torch.zeros(1000))
    p.grad = torch.ones(1000)
    optimizer = torch.optim.SGD([p], lr=0.1, **options) if options else torch.optim.Adam([p])
    optimizer.step()
    kept = [value for name, value in optimizer.state[p].items() if name != "step"]
    assert sum(tensor.nbytes for tensor in (p, p.grad, *kept)) == 1000 * nbytes


def test_with_sgd_the_two_kinds_of_decay_come_to_the_same_without_momentum() -> None:
    assert "With SGD the two are equivalent, as long as it has no momentum." in OPTIMIZERS
    p, q = (nn.Parameter(torch.full((3,), 2.0)) for _ in range(2))
    p.grad, q.grad = torch.ones(3), torch.ones(3)
    torch.optim.SGD([p], lr=0.1, weight_decay=0.5).step()
    with torch.no_grad():
        q.mul_(1 - 0.1 * 0.5)
    torch.optim.SGD([q], lr=0.1).step()
    assert torch.allclose(p, q)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_adam_is_fused_by_default_on_a_cpu_with_the_bits_of_the_loop(dtype: torch.dtype) -> None:
    assert "in float32 and float64, Adam and AdamW use their fused kernel, which gives the same bits." in OPTIMIZERS
    steps = []
    for form in ({}, {"foreach": False}):
        torch.manual_seed(0)
        p = nn.Parameter(torch.randn(50, dtype=dtype))
        optimizer = torch.optim.Adam([p], lr=0.1, **form)
        for _ in range(3):
            p.grad = torch.randn(50, dtype=dtype)
            optimizer.step()
        steps.append(p.detach())
    assert torch.equal(*steps)


# ---- workers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_what_is_drawn_after_a_pass_does_not_depend_on_workers(workers: int) -> None:
    assert "so that what the program draws afterwards does not depend on their number" in WORKERS
    torch.manual_seed(0)
    list(torch.utils.data.DataLoader(range(4), 2, shuffle=True, num_workers=workers))  # type: ignore[arg-type]
    after = torch.rand(1).item()
    torch.manual_seed(0)
    list(torch.utils.data.DataLoader(range(4), 2, shuffle=True))  # type: ignore[arg-type]
    assert torch.rand(1).item() == after


def test_a_sum_of_seeds_repeats_from_one_worker_to_the_next() -> None:
    said = "Worker 1 of a pass with base seed 7 and worker 0 of a pass with base seed 8 draw the same numbers"
    assert f"{said} from Python and from the library." in WORKERS
    drawn, states = [], (random.getstate(), np.random.get_state(), torch.get_rng_state())  # noqa: NPY002
    for base_seed, number in ((7, 1), (8, 0)):
        seed_everything(base_seed, number)
        drawn.append((random.random(), torch.rand(1).item(), np.random.rand()))  # noqa: NPY002
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
    torch.set_rng_state(states[2])
    assert drawn[0][:2] == drawn[1][:2]
    assert drawn[0][2] != drawn[1][2]


# ---- convolutions -----------------------------------------------------------------------------------------------


def cheapest(
    channels: int, made: int, kernel: int = 3, size: int = 64, batch: int = 1, stride: int = 1, product: str = "forward"
) -> str:
    """The way that is taken for square images with borders that keep their size, in steps of 1."""
    sizes = (batch, channels, size, size), (made, channels, kernel, kernel)
    return choices(*sizes, stride, kernel // 2, product=product)[0].way  # type: ignore[arg-type]


@plain
def test_three_convolutions_take_three_ways() -> None:
    assert "chooses a different one for each of the three" in CHOICE
    assert [cheapest(64, 64), cheapest(64, 3), cheapest(8, 8, 31)] == ["columns", "shifted", "transform"]


@plain
def test_steps_of_two_make_rows_cheaper() -> None:
    assert "Only in steps of 2, where columns have no runs to copy; in steps of 1, columns are cheaper." in CONVOLUTION
    assert [cheapest(256, 512, size=14, batch=4, stride=stride) for stride in (1, 2)] == ["columns", "rows"]


@plain
def test_a_gradient_of_the_input_takes_the_way_of_the_layer_with_the_channels_exchanged() -> None:
    assert "For the other layer the two ways change places." in CONVOLUTION
    assert [cheapest(64, 8, batch=4, product=product) for product in ("forward", "input")] == ["shifted", "columns"]
    assert [cheapest(8, 64, batch=4, product=product) for product in ("forward", "input")] == ["columns", "shifted"]


@plain
def test_transforms_are_taken_from_kernels_of_eleven_on() -> None:
    assert "11, according to these estimates." in CHOICE
    taken = {kernel: cheapest(1, 1, kernel, size=256) for kernel in (3, 7, 9, 11, 15, 31)}
    assert [kernel for kernel, way in taken.items() if way == "transform"] == [11, 15, 31]


@plain
def test_to_copy_is_cheaper_than_to_add() -> None:
    assert f"the library estimates {costs.COPY} nanoseconds for a copy and {costs.ADD} for an addition" in CONVOLUTION
    assert costs.COPY < costs.ADD


@plain
def test_a_slip_in_one_constant_changes_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Only the way that is taken. The results are still correct" in CHOICE
    assert cheapest(64, 32) == "columns"
    monkeypatch.setattr(costs, "ADD", costs.ADD / 10)
    ways.costs.cache_clear()
    try:
        assert cheapest(64, 32) == "shifted"
    finally:
        ways.costs.cache_clear()


# ---- the profiler -----------------------------------------------------------------------------------------------


def rows_of(program: Callable[[], object], **settings: Any) -> dict[str, Any]:
    with profile(**settings) as prof:
        program()
    return {row.key: row for row in prof.key_averages()}


def test_most_transpositions_of_a_step_are_in_its_backward_pass() -> None:
    assert "Seven of the nine calls of `t` are in the backward pass" in PROFILER
    net, x = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), torch.ones(5, 8)
    losses: list[torch.Tensor] = []
    assert rows_of(lambda: losses.append(net(x).sum()))["aten::t"].count == 2
    assert rows_of(losses[0].backward)["aten::t"].count == 7


def test_a_backward_pass_of_convolutions_is_most_of_what_with_flops_does_not_count() -> None:
    assert "For a deep network of convolutions its sum is too small by about two thirds." in COUNTS
    convolution, image = nn.Conv2d(3, 8, 3), torch.ones(2, 3, 10, 10, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        convolution(image).sum().backward()
    counted = rows_of(lambda: convolution(image).sum().backward(), with_flops=True)
    assert counter.get_total_flops() == 3 * sum(row.flops for row in counted.values())


def test_a_schedule_without_wait_and_warm_up_takes_all_steps_for_one() -> None:
    assert "With `wait=0, warmup=0` there would be rows, of all five steps in one." in PROFILER
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        at_once = schedule(wait=0, warmup=0, active=2)
    counted = rows_of(lambda: [torch.ones(1) for _ in range(5)], schedule=at_once)
    assert (counted["aten::ones"].count, counted["ProfilerStep*"].count) == (5, 1)


def test_what_is_kept_of_a_batch_are_the_results_that_its_graph_needs() -> None:
    assert "here 400 bytes: the results of the `ReLU` and of the last layer." in COUNTS
    net, x = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), torch.ones(5, 8)
    loss = nn.functional.mse_loss(net(x), torch.ones(5, 4))
    saved = loss.grad_fn._saved_self, net[:2](x)
    assert sum(tensor.nbytes for tensor in saved) == 80 + 320 == 400


def test_python_functions_are_recorded_where_stacks_are() -> None:
    assert "`with_stack=True` records its functions, too" in COUNTS
    assert any("test_chapter_07" in name for name in rows_of(lambda: torch.ones(1), with_stack=True))


# ---- saving and loading, mixed precision ------------------------------------------------------------------------


def test_tied_weights_stay_tied_in_a_file() -> None:
    assert "if the weights of an embedding and of the last layer are tied, they remain tied." in SAVING
    embedding, last = nn.Embedding(3, 2), nn.Linear(2, 3, bias=False)
    last.weight = embedding.weight
    file = io.BytesIO()
    torch.save(nn.ModuleList([embedding, last]).state_dict(), file)
    file.seek(0)
    first, second = torch.load(file).values()
    assert first.data_ptr() == second.data_ptr()


def test_the_state_of_a_shuffling_loader_is_that_of_the_generator() -> None:
    assert "A loader that shuffles also draws from the generator" in SAVING
    before = torch.get_rng_state()
    next(iter(torch.utils.data.DataLoader(range(4), shuffle=True)))
    assert not torch.equal(before, torch.get_rng_state())


def test_a_written_page_of_a_mapped_file_is_the_programs_own(tmp_path: Path) -> None:
    assert "The mapping is private: a page that is written to is copied for the program" in SAVING
    path = tmp_path / "state.pt"
    torch.save(torch.zeros(3), path)
    content = path.read_bytes()
    torch.load(path, mmap=True).fill_(1)
    assert path.read_bytes() == content


def test_a_256th_is_rounded_away_in_bfloat16() -> None:
    said = "In bfloat16, which has 8 bits of precision, a change of less than a 256th of the weight is rounded"
    assert said in PRECISION
    one = torch.ones(1, dtype=torch.bfloat16)
    assert (one + 0.0038).item() == 1 < (one + 0.0040).item()


def test_float16_ends_where_the_text_says() -> None:
    assert "numbers up to 2 to the power of -25 become 0" in PRECISION
    assert "The exponential of 12 is 162,755, and the largest number in float16 is 65,504." in PRECISION
    below, above = torch.tensor([2.0**-25, 2.0**-25 * 1.001]).half().tolist()
    assert below == 0 < above
    assert (round(math.exp(12)), torch.finfo(torch.float16).max) == (162755, 65504)


# ---- a GPT line by line -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "old", "new", "line"),
    [
        ("| 1 | seed, ", "torch.manual_seed(0)", "torch.manual_seed(1)", 1),
        ("initialisation, data, the forward pass |", "nn.GELU()", "nn.ReLU()", 1),
        ("| 2 | the backward pass, ", "loss.backward()", "(2 - loss).backward()", 2),
        ("the rate, weight decay, ", "weight_decay=0.1", "weight_decay=9.0", 2),
        ("which parameters the optimizer has |", "AdamW(model.", "AdamW(model.blocks.", 2),
        ("| 3 | what is kept from one step to the next: gradients, ", "optimizer.zero_grad()", "pass", 3),
        ("running means, their corrections |", "betas=(0.9, ", "betas=(0.5, ", 3),
    ],
)
def test_the_first_loss_that_differs_is_the_one_that_the_table_says(said: str, old: str, new: str, line: int) -> None:
    assert said in GPT
    runs = []
    for change in ({}, {"change": (old, new)}):
        program = example("zen_gpt", **change)
        runs.append(list(program.losses(program.made(), 3)))
    assert next(number for number, (a, b) in enumerate(zip(*runs, strict=True), 1) if abs(a - b) > 1e-6) == line


def test_a_nudged_weight_moves_the_first_loss_as_little_as_the_text_says() -> None:
    assert "one weight of 29,000 is changed by 2e-9" in GPT
    assert "The first losses differ by 2e-11." in GPT
    zen = example("zen_gpt")
    assert round(sum(p.numel() for p in zen.made().parameters()), -3) == 29_000
    first = []
    for nudge in (0.0, 2e-9):
        model = zen.made().double()
        with torch.no_grad():
            model.characters.weight[0, 0] += nudge
        first.append(next(zen.losses(model, 1)))
    assert f"{abs(first[0] - first[1]):.0e}" == "2e-11"


def test_a_text_of_the_zen_has_the_characters_that_the_section_counts() -> None:
    assert "a text of 856 characters" in GPT
    assert "over 45 characters" in GPT
    zen = example("zen_gpt")
    assert (len(zen.TEXT), len(zen.KNOWN), len(zen.NUMBERS) - zen.LENGTH) == (856, 45, 824)
    assert "torch.randint(824, (8, 1))" in GPT
