"""Is the order of einsum's products chosen where torch's programs choose it?"""

from __future__ import annotations

from typing import Any


def test_the_module_shows_and_takes_the_choice(torch: Any) -> None:
    module = torch.backends.opt_einsum
    there = module.is_available()
    assert (module.get_opt_einsum() is not None) == there == module.enabled
    assert (module.strategy is not None) == there
    with module.flags(enabled=False):
        assert not module.enabled
    assert module.enabled == there
    module.enabled = False
    assert not module.enabled
    if there:
        module.enabled = True
    assert module.set_flags() == (there, module.strategy)
