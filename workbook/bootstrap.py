"""How does `make` start on a machine that has nothing but a Python?

    python3 workbook/bootstrap.py study

This file only looks at the Python that runs it, and is written so that Python 3.6 can read it.
`targets.py` does the rest.
"""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
NEWER = ("python3.11", "python3.12", "python3.13", "python3.14")


def works(name: str) -> bool:
    """Whether a Python of this name exists and starts; version managers leave names that do not."""
    path = shutil.which(name)
    if path is None:
        return False
    return subprocess.call([path, "-c", ""], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def too_old(target: str) -> str:
    """The message for a Python that is too old: which one it is, and which one to use."""
    found = [name for name in NEWER if works(name)]
    windows = os.name == "nt"
    if found:
        command = f"{found[-1]} workbook\\bootstrap.py {target}" if windows else f"make {target} PYTHON={found[-1]}"
        remedy = f"This machine has a newer one; run: {command}"
    else:
        command = f"py -3.11 workbook\\bootstrap.py {target}" if windows else f"make {target} PYTHON=python3.11"
        remedy = f"Install a newer one (with your system's packages, or from python.org), then run: {command}"
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return f"Glass Torch needs Python 3.11 or newer; this is Python {version} ({sys.executable}).\n{remedy}"


if __name__ == "__main__":
    if sys.version_info[:2] < OLDEST:
        sys.exit(too_old(" ".join(sys.argv[1:]) or "study"))
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [os.path.dirname(here)] + [entry for entry in sys.path if os.path.abspath(entry) != here]
    from workbook.targets import main

    sys.exit(main(sys.argv[1:]))
