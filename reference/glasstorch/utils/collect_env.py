"""What does a report of a problem say about the computer?

    python -m glasstorch -m torch.utils.collect_env

Mirrors: torch/utils/collect_env.py
Differs: no program is run to find out.
"""

from __future__ import annotations

import importlib.metadata
import sys

from glasstorch import __config__

PACKAGES = ("numpy", "scipy", "ml_dtypes", "cupy-cuda12x", "cupy-cuda13x", "torch")

__all__ = ["get_pretty_env_info", "main"]


def get_pretty_env_info() -> str:
    """A description of the library, what it runs on, and the versions of the packages that it uses."""
    found = {package: _version(package) for package in PACKAGES}
    packages = "".join(f"  - {package} {version}\n" for package, version in found.items() if version)
    return f"{__config__.show()}Packages:\n{packages}{__config__.parallel_info()}"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def main() -> None:
    """Print the description."""
    sys.stdout.write(get_pretty_env_info())


if __name__ == "__main__":
    main()
