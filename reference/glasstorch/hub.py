"""What does a program find at torch.hub?

Mirrors: torch/hub.py
Differs: nothing is downloaded: models from repositories (`load`, `list`, `help`) and files from addresses are refused.
    A model is loaded from a folder (`source="local"`), and a file that lies in the folder of checkpoints already is
    read.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, NoReturn
from urllib.parse import urlparse

from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]


class _Folder:
    """The folder that was set, if one was."""

    path: str | None = None


def get_dir() -> str:
    """The folder for models: the one set, else `$TORCH_HOME/hub`, else `torch/hub` in the user's cache."""
    if _Folder.path is not None:
        return _Folder.path
    return os.path.join(_get_torch_home(), "hub")


def _get_torch_home() -> str:
    """The folder for all that PyTorch caches."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder for models."""
    _Folder.path = os.path.expanduser(os.fspath(d))


def _refused(function: str, what: str) -> NoReturn:
    raise RuntimeError(
        f"torch.hub.{function}: glasstorch downloads nothing; get {what} yourself, and load it from disk"
    )


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: bool | str = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """What the function `model` of a folder's module `hubconf` returns for the other arguments; needs source="local".

    Repositories are refused: nothing is downloaded.
    """
    source = source.lower()
    if source == "github":
        raise RuntimeError(
            f"torch.hub.load: glasstorch downloads nothing; get the code of {repo_or_dir!r} yourself, and load it from "
            f'its folder with source="local"'
        )
    if source != "local":
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if not isinstance(model, str):
        raise ValueError(f"Invalid input: model should be a string of function name, got {model!r}")
    sys.path.insert(0, repo_or_dir)
    try:
        hubconf = _module_at(os.path.join(repo_or_dir, "hubconf.py"))
        needed = getattr(hubconf, "dependencies", None) or ()
        if missing := [name for name in needed if importlib.util.find_spec(name) is None]:
            raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
        function = getattr(hubconf, model, None)
        if not callable(function):
            raise RuntimeError(f"Cannot find callable {model} in hubconf")
        return function(*args, **kwargs)
    finally:
        sys.path.remove(repo_or_dir)


def _module_at(path: str) -> ModuleType:
    """The module that a file defines, which is run anew."""
    spec = importlib.util.spec_from_file_location("hubconf.py", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def list(github: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: it downloads a repository."""
    _refused("list", f"the code of {github!r}")


def help(github: str, model: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: it downloads a repository."""
    _refused("help", f"the code of {github!r}")


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> NoReturn:
    """Refused: it downloads a file."""
    _refused("download_url_to_file", url)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """The state dict of an address, from the folder of checkpoints, where the file must lie already."""
    import glasstorch

    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(model_dir or os.path.join(get_dir(), "checkpoints"), name)
    if not os.path.exists(path):
        raise RuntimeError(
            f"torch.hub.load_state_dict_from_url: glasstorch downloads nothing, and there is no {path}; "
            f"get {url} yourself, and save it there"
        )
    return glasstorch.load(path, map_location=map_location, weights_only=weights_only)


__getattr__ = refuse_unknown_names(__name__)
