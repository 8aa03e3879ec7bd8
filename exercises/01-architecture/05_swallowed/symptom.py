"""Is a sum along a dimension the same when the dimension is passed by name?"""

import glasstorch as torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
calls = {
    "x.sum(0)": lambda: x.sum(0),
    "x.sum(dim=0)": lambda: x.sum(dim=0),
    "x.sum(dim=0, keepdim=False)": lambda: x.sum(dim=0, keepdim=False),
}
for text, call in calls.items():
    print(f"{text:28} {call().tolist()}")
try:
    print(f"{'x.sum(dmi=0)':28} {x.sum(dmi=0).tolist()}")
    refused = False
except TypeError as error:
    print(f"{'x.sum(dmi=0)':28} {str(error).splitlines()[0]}")
    refused = True
if not refused or any(call().tolist() != [4.0, 6.0] for call in calls.values()):
    raise SystemExit("a named argument was ignored without an error")
