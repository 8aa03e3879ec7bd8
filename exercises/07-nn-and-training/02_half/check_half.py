"""Is every tensor that belongs to a module converted, and no other tensor changed?"""

from workbook.exercises.asking import Ask, expect

NET = """
nn = torch.nn
def part(persistent):
    module = nn.Module()
    module.weight = nn.Parameter(torch.ones(2))
    module.register_parameter("bias", None)
    module.register_buffer("shift", torch.zeros(2), persistent=persistent)
    module.register_buffer("count", torch.zeros(2, dtype=torch.int64), persistent=persistent)
    module.register_buffer("none", None, persistent=persistent)
    return module
net = part(PERSISTENT)
net.inner = nn.Sequential(part(PERSISTENT))
"""
CONVERSIONS = {
    "net.half()": "float16",
    "net.to(torch.bfloat16)": "bfloat16",
    "net.to(torch.ones(1, dtype=torch.float64))": "float64",
}
NAMES = ("shift", "inner.0.shift")


def test_dtypes_after_a_conversion(ask: Ask) -> None:
    """the dtypes of a module's buffers after a conversion"""
    for persistent in (True, False):
        for conversion, dtype in CONVERSIONS.items():
            program = f"{NET.replace('PERSISTENT', str(persistent))}\n{conversion}"
            came = ask.run(f"{program}\n[str(net.get_buffer(name).dtype) for name in {NAMES}]")
            because = "a buffer is converted with its module, whether or not it is saved"
            expect(came, [f"torch.{dtype}"] * 2, because=because)


def test_what_is_saved_after_a_conversion(ask: Ask) -> None:
    """the names in a module's state dict after a conversion"""
    for persistent in (True, False):
        program = f"{NET.replace('PERSISTENT', str(persistent))}\nbefore = list(net.state_dict())\nnet.double()"
        came = ask.run(f"{program}\nlist(net.state_dict()) == before")
        expect(came, True, because="a conversion does not change which tensors are saved")


def test_a_tensor_that_somebody_kept(ask: Ask) -> None:
    """the dtype of a tensor that was a module's buffer before it was converted"""
    came = ask.run(f"{NET.replace('PERSISTENT', 'False')}\nkept = net.shift\nnet.double()\nstr(kept.dtype)")
    expect(came, "torch.float32", because="the module gets a new tensor, and the old one is not changed")


def test_parameters_stay_the_same_objects(ask: Ask) -> None:
    """whether a parameter is the same object after a conversion, with another dtype"""
    program = f"{NET.replace('PERSISTENT', 'False')}\nkept = net.weight\nnet.double()"
    came = ask.run(f"{program}\n(kept is net.weight, str(kept.dtype))")
    expect(came, (True, "torch.float64"), because="an optimizer holds this object, too")
