"""Does a device of the program behave as one that is written in C++ does in PyTorch?

What is expected was printed by PyTorch 2.13 with a backend for PrivateUse1 written against its headers: an allocator
over main memory, a guard for two devices, hooks, `empty`, `_copy_from`, `_copy_from_and_resize`, `mm` under autocast,
and at::native::cpu_fallback for the rest. Only the name is another one.
"""

from __future__ import annotations

import pytest

from tests.outside import DEVICE, evaluated

SETUP = (
    DEVICE
    + """
import copy, io, pickle, sys, types
a = torch.ones(2, 3).attic()
m = torch.attic

def loaded(**where):
    file = io.BytesIO()
    torch.save(a, file)
    file.seek(0)
    return torch.load(file, **where)

def gradient():
    w = torch.ones(3, 2, device=NAME, requires_grad=True)
    (a @ w).sum().backward()
    return w.grad

def under_autocast():
    with torch.autocast(NAME):
        return (a @ a.t()).dtype, torch.get_autocast_dtype(NAME), torch.is_autocast_enabled(NAME)

def forked():
    before = torch.get_rng_state(), m.get_rng_state(1)
    with torch.random.fork_rng(devices=[0, 1]):
        torch.manual_seed(5)
    return torch.equal(before[0], torch.get_rng_state()), torch.equal(before[1], m.get_rng_state(1))

def seeded():
    torch.manual_seed(3)
    first = torch.randn(4, device=NAME)
    torch.manual_seed(3)
    return torch.equal(first, torch.randn(4, device=NAME)), not torch.equal(first, torch.randn(4, device=NAME))
"""
)
EXPECTED = {
    # names
    "torch._C._get_privateuse1_backend_name()": "'attic'",
    "torch.utils.rename_privateuse1_backend('attic')": "None",
    "torch.utils.rename_privateuse1_backend('bar')": "RuntimeError: torch.register_privateuse1_backend() has already "
    "been set! Current backend: attic; refused the name bar",
    "torch.utils.rename_privateuse1_backend('cuda')": "RuntimeError: Cannot register privateuse1 backend with in-tree "
    "device name: cuda",
    "torch.device('attic', 1), torch.device('privateuseone'), torch.device(1)": "(device(type='attic', index=1), "
    "device(type='attic'), device(type='attic', index=1))",
    "torch.device('attic:1') is torch.device('privateuseone:1')": "True",
    # the module
    "torch.get_device_module('attic') is m, torch.get_device_module() is m, sys.modules['torch.attic'] is m": "(True, "
    "True, True)",
    "torch._register_device_module('attic', types.ModuleType('x'))": "RuntimeError: The runtime module of 'attic' has "
    "already been registered with '",
    "torch.accelerator.current_accelerator(), torch.accelerator.is_available(), torch.accelerator.device_count()": "("
    "device(type='attic'), True, 2)",
    "torch.accelerator.current_device_index(), torch.accelerator.synchronize()": "(0, None)",
    "torch.accelerator.current_stream()": "RuntimeError: Backend doesn't support acquiring a default stream.",
    "backend_registration.register_hooks(hooks)": "RuntimeError: PrivateUse1HooksInterface only could be registered "
    "once.",
    # methods
    "torch.utils.generate_methods_for_privateuse1_backend()": "RuntimeError: The custom device module of <class "
    "'torch.Tensor'> has already been registered with is_attic",
    "a, a.is_attic, a.device, a.cpu().is_attic, a.get_device()": "(tensor([[1., 1., 1.],\n        [1., 1., 1.]], "
    "device='attic:0'), True, device(type='attic', index=0), False, 0)",
    "torch.ones(2).attic(1).device, torch.ones(2).attic('attic:1').device": "(device(type='attic', index=1), "
    "device(type='attic', index=1))",
    "torch.ones(2).attic('cuda:1')": "RuntimeError: Invalid device, must be attic device",
    "torch.nn.Linear(2, 3).attic().weight.device": "device(type='attic', index=0)",
    "torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 1), [3, 2]).attic().is_attic": "True",
    "a.untyped_storage().is_attic, torch.ones(2).untyped_storage().attic().device": "(True, device(type='attic', "
    "index=0))",
    # tensors
    "torch._C._dispatch_keys(a)": "DispatchKeySet(PrivateUse1, ADInplaceOrView, AutogradPrivateUse1, "
    "AutocastPrivateUse1)",
    "torch.ones(2, device='attic:1')": "tensor([1., 1.], device='attic:1')",
    "a.type()": "'torch.attic.FloatTensor'",
    "a.numpy()": "TypeError: can't convert attic:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
    "host memory first.",
    "a.tolist(), a.sum().item()": "([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], 6.0)",
    "a + torch.ones(2, 3)": "RuntimeError: Expected all tensors to be on the same device, but found at least two "
    "devices, attic:0 and cpu!",
    "a + torch.ones(2, 3, device='attic:1')": "RuntimeError: Expected all tensors to be on the same device, but found "
    "at least two devices, attic:0 and attic:1!",
    "a.div(torch.ones(2, 3))": "RuntimeError: Expected all tensors to be on the same device, but found at least two "
    "devices, attic:0 and cpu!",
    "(torch.tensor(2.0) + a).tolist(), (a + torch.tensor(2.0)).tolist()": "([[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]], [[3.0, "
    "3.0, 3.0], [3.0, 3.0, 3.0]])",
    "torch.zeros(2, 3, device='attic:1').copy_(a)": "tensor([[1., 1., 1.],\n        [1., 1., 1.]], device='attic:1')",
    "torch.add(a, a, out=torch.empty(0, device=NAME))": "tensor([[2., 2., 2.],\n        [2., 2., 2.]], "
    "device='attic:0')",
    "torch.zeros_like(a).device, a.new_ones(2).device, torch.tensor([1, 2], device=NAME)": "(device(type='attic', "
    "index=0), device(type='attic', index=0), tensor([1, 2], device='attic:0'))",
    "copy.deepcopy(a).device, pickle.loads(pickle.dumps(a)).device": "(device(type='attic', index=0), "
    "device(type='attic', index=0))",
    "torch.set_default_device(NAME), torch.ones(2).device, torch.set_default_device(None)": "(None, "
    "device(type='attic', index=0), None)",
    "a.t()[1], a.unfold(1, 2, 1).shape, a.view(3, 2)._is_view()": "(tensor([1., 1.], device='attic:0'), torch.Size([2, "
    "2, 2]), True)",
    # files
    "loaded()": "tensor([[1., 1., 1.],\n        [1., 1., 1.]], device='attic:0')",
    "loaded(map_location='cpu').device, loaded(map_location='attic:1').device": "(device(type='cpu'), "
    "device(type='attic', index=1))",
    "loaded(map_location='attic:5')": "RuntimeError: Attempting to deserialize object on ATTIC device 5 but "
    "torch.attic.device_count() is 2. Please use torch.load with map_location to map your storages to an existing "
    "device.",
    # gradients, autocast, random numbers
    "gradient()": "tensor([[2., 2.],\n        [2., 2.],\n        [2., 2.]], device='attic:0')",
    "under_autocast()": "(torch.float16, torch.float16, True)",
    "torch.autocast(NAME, dtype=torch.float64)._enabled": "False",
    "torch.Generator(NAME).device, torch.Generator(NAME).manual_seed(4).initial_seed()": "(device(type='attic', "
    "index=0), 4)",
    "seeded()": "(True, True)",
    "forked()": "(True, True)",
    # pinned memory
    "torch.ones(2).is_pinned(), torch.ones(2).pin_memory().is_pinned()": "(False, True)",
    "next(iter(torch.utils.data.DataLoader([1.0], pin_memory=True))).is_pinned()": "True",
}


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    return evaluated({text: text for text in EXPECTED}, SETUP)


@pytest.mark.parametrize("text", EXPECTED)
def test_it_prints_what_a_backend_in_cpp_prints(text: str, found: dict[str, list[str]]) -> None:
    assert (
        found[text][0].startswith(EXPECTED[text]) if "Error: " in EXPECTED[text] else found[text][0] == EXPECTED[text]
    )


def test_a_dtype_that_autocast_lacks_is_named(found: dict[str, list[str]]) -> None:
    assert found["torch.autocast(NAME, dtype=torch.float64)._enabled"][1] == (
        "In attic autocast, but the target dtype is not supported. Disabling autocast.\nattic Autocast only supports "
        "dtypes of torch.bfloat16, torch.float16 currently."
    )


def test_the_fallback_says_once_what_it_computes_on_the_cpu(found: dict[str, list[str]]) -> None:
    said = [warning for result in found.values() for warning in result[1:] if "fall back" in warning]
    assert len(said) == len(set(said)) >= 2
    assert (
        "The operator 'aten::add.out' is not currently supported on the ATTIC backend and will fall back to run on "
        "the CPU. This may have performance implications." in said
    )


WITHOUT = {
    # a device that has a name and nothing else
    "torch.get_device_module('foo')": "RuntimeError: Device 'foo' does not have a corresponding module registered as "
    "'torch.foo'.",
    "torch.get_device_module()": "RuntimeError: Please register PrivateUse1HooksInterface by "
    "`RegisterPrivateUse1HooksInterface` first.",
    "torch.empty(2, device='foo')": "ModuleNotFoundError: No module named 'torch.foo'",
    "torch.ones(2).to('foo')": "ModuleNotFoundError: No module named 'torch.foo'",
    "torch.Generator('foo')": "RuntimeError: Please register PrivateUse1HooksInterface by "
    "`RegisterPrivateUse1HooksInterface` first.",
    "torch.autocast('foo')": "AssertionError: Tried to use AMP with the `foo` backend, but the backend has not "
    "registered a module or  the module miss some necessary funcs.",
    "torch.ones(1).foo()": "AttributeError: 'Tensor' object has no attribute 'foo'",
    # what `_setup_privateuseone_for_python_backend` gives is enough for all but memory and kernels
    "backend_registration._setup_privateuseone_for_python_backend()": "None",
    "torch.accelerator.current_accelerator(), torch.accelerator.device_count()": "(device(type='foo'), 1)",
    "torch.empty(2, device='foo')  # now": "NotImplementedError: Could not run 'aten::empty.memory_format' with "
    "arguments from the 'PrivateUse1' backend.",
    "backend_registration.empty_tensor((2,))": "RuntimeError: Allocator for foo is not set",
    "torch.Generator('foo')  # now": "NotImplementedError: You should register `PrivateUse1HooksInterface`by "
    "`RegisterPrivateUse1HooksInterface` and implement `getNewGenerator` at the same time for PrivateUse1.",
    "torch.ones(2).pin_memory()": "NotImplementedError: You should register `PrivateUse1HooksInterface`by "
    "`RegisterPrivateUse1HooksInterface` and implement `getPinnedMemoryAllocator` at the same time for PrivateUse1.",
    "torch.autocast('foo')  # now": "AssertionError: Tried to use AMP with the `foo` backend",
    "backend_registration._get_custom_mod_func('fly')": "RuntimeError: Try to call torch.foo.fly. The backend must "
    "register a custom backend module",
    "backend_registration._get_custom_mod_func('device_count')()": "1",
}


def test_each_missing_part_is_named() -> None:
    setup = (
        "import glasstorch as torch\nfrom glasstorch.utils import backend_registration\n"
        "torch.utils.rename_privateuse1_backend('foo')\n"
        "backend_registration._setup_privateuseone_for_python_backend.__defaults__ = ('foo', None, None, None)\n"
    )
    found = evaluated({text: text for text in WITHOUT}, setup)
    for text, expected in WITHOUT.items():
        assert found[text][0].startswith(expected), text
