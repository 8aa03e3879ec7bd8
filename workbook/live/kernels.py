"""Which kernels run the cells of a page?

Those of Jupyter's own server, without anything else of it: no file of settings is read, no extension is loaded, and
only the routes that `gate.py` names are reached. A kernel is this Python with the settings that the notebooks were
executed with, so that an unchanged cell gives the recorded output. Its working folder is that of the reader's copy of
the section, below `notebooks/`, where git ignores the files that it leaves. It is reached through sockets in a folder
that no other user can open; on Windows, which has none, through ports of this machine with signed messages.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_server.auth import IdentityProvider, User
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from tornado.web import HTTPError
from traitlets.config import Config

from workbook.book.project import CHAPTERS
from workbook.copies import FOLDER as COPIES
from workbook.live.gate import PREFIX

NAME = "python3"
PROTOCOL = "page"  # the WebSocket protocol: whatever is not Jupyter's binary one means messages of JSON
MOST = 4  # kernels at a time
FULL = "Four pages have a kernel already, and there may not be more. Close one of them, and run the cell again."
IDLE = 1800  # seconds without use after which a kernel is ended
LOOK = 60  # seconds between looks at the kernels
LOOKS = 2  # at the second look in a row at which a kernel is busy and no page is connected, it is interrupted
# As `workbook/book/notebooks.py` executes the sections.
OPTIONS = (
    "--InteractiveShell.xmode=Plain", "--InteractiveShell.colors=NoColor", "--HistoryManager.enabled=False",
    "--log-level=ERROR",
)  # fmt: skip


def folder_of_sockets() -> tempfile.TemporaryDirectory[str] | None:
    """A new folder that only this user can open, for the sockets of kernels; None where the system has no such sockets.

    It is outside of the clone, which may lie deep: the path of a socket has room for about a hundred characters.
    """
    if sys.platform == "win32":
        return None
    for place in (None, "/tmp"):  # the usual one, unless its own path is too long
        with suppress(OSError):
            folder = tempfile.TemporaryDirectory(prefix="glass-", dir=place, ignore_cleanup_errors=True)
            if len(os.fsencode(f"{folder.name}/01234567-5")) <= zmq.IPC_PATH_MAX_LEN:
                return folder
            folder.cleanup()
    return None


class OneKernel(KernelSpecManager):
    """Knows the kernel of this Python and no other: not even one of the same name that the reader has installed."""

    root = Path()

    def find_kernel_specs(self) -> dict[str, str]:
        """Its name, and no folder."""
        return {NAME: ""}

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """How it is started."""
        ours = [str(self.root / "reference"), str(self.root), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            "PYTHONPATH": os.pathsep.join(ours),
            "IPYTHONDIR": str(self.root / ".cache" / "live" / "ipython"),
            "PYTHONDONTWRITEBYTECODE": "",  # where it is set, large generated modules compile at each import
            "SOURCE_DATE_EPOCH": "0",
        }
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", *OPTIONS]
        return KernelSpec(argv=command, env=environment, display_name=NAME, language="python")


class QuietKernels(AsyncMappingKernelManager):
    """Starts kernels that write nothing into the terminal: what cells print reaches the page all the same.

    A page interrupts a cell that runs too long. Where the page was closed, this does.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.deserted: dict[str, int] = {}  # how often in a row a kernel was found at work without a page
        self.sockets = folder_of_sockets()
        self.starting: set[str] = set()  # also those that are not known yet
        self.leaving: set[str] = set()  # those that make room for another

    def pre_start_kernel(self, kernel_name: str | None, kwargs: Any) -> Any:
        """Make what manages a kernel, with its sockets in our folder."""
        manager, name, kernel_id = super().pre_start_kernel(kernel_name, kwargs)
        if self.sockets is not None:
            manager.transport, manager.ip = "ipc", f"{self.sockets.name}/{kernel_id[:8]}"
        return manager, name, kernel_id

    async def cull_kernel_if_idle(self, kernel_id: str) -> None:
        """Look at a kernel. At work without a page, it is interrupted at the second look and ended at the third."""
        kernel: Any = self.get_kernel(kernel_id)
        alone = kernel.execution_state == "busy" and not self._kernel_connections.get(kernel_id, 0)
        looks = self.deserted[kernel_id] = self.deserted.get(kernel_id, 0) + 1 if alone else 0
        if looks == LOOKS:
            await kernel.interrupt_kernel()
        elif looks > LOOKS:
            del self.deserted[kernel_id]
            await self.shutdown_kernel(kernel_id, now=True)
        else:
            await super().cull_kernel_if_idle(kernel_id)

    async def start_kernel(self, **options: Any) -> str:  # type: ignore[override]
        """Start one. Returns its id. Where there is no room for it, the page is told so.

        If there are as many as there may be, the one that has waited longest without a page is ended for it.
        """
        taken = len((set(self.list_kernel_ids()) | self.starting) - self.leaving)
        oldest = self.longest_without_page() if taken >= MOST else None
        if taken >= MOST and oldest is None:
            raise HTTPError(HTTPStatus.SERVICE_UNAVAILABLE, FULL)
        kernel_id = options["kernel_id"] = self.new_kernel_id()
        self.starting.add(kernel_id)
        try:
            if oldest is not None:
                await self.end_for_another(oldest)
            return str(await super().start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options))
        except OSError as error:
            why = f"No kernel could be started: {error.strerror}. What you typed is kept: mend this, and run it again."
            raise HTTPError(HTTPStatus.INSUFFICIENT_STORAGE, why) from error
        finally:
            self.starting.remove(kernel_id)

    def longest_without_page(self) -> str | None:
        """The kernel that no page has used for the longest time; None where pages use or will use them all."""
        known = []
        for kernel_id in set(self.list_kernel_ids()) - self.leaving - self.starting:  # one that starts has no facts yet
            with suppress(HTTPError, KeyError):  # it has ended by itself
                known.append(self.kernel_model(kernel_id))
        alone = [one for one in known if not one["connections"]]
        return str(min(alone, key=lambda one: str(one["last_activity"]))["id"]) if alone else None

    async def end_for_another(self, kernel_id: str) -> None:
        """End a kernel, whose place is given away from now on."""
        self.leaving.add(kernel_id)
        try:
            with suppress(HTTPError):  # it has ended by itself
                await self.shutdown_kernel(kernel_id)
        finally:
            self.leaving.remove(kernel_id)


class Passed(IdentityProvider):
    """Whoever has passed the gate is the reader; no cookie is read or set."""

    def get_user(self, handler: Any) -> User:
        """The reader."""
        handler._token_authenticated = True  # so that Jupyter asks for no cookie against forged forms
        return User(username="reader")


class KernelServer(ServerApp):
    """Jupyter's server without its settings, signals and sockets of its own."""

    def load_config_file(self, suppress_errors: bool = True) -> None:  # type: ignore[override]
        """Read no settings: those of the reader's JupyterLab are not meant for this."""

    def init_signal(self) -> None:
        """Leave Ctrl-C to the command."""


class Kernels:
    """The kernels of one clone, and the application that answers pages about them.

    Raises OSError where their folders cannot be made.
    """

    def __init__(self, root: Path) -> None:
        folder = root / ".cache" / "live"
        for place in (folder, root / COPIES, *(root / COPIES / one.name for one in (root / CHAPTERS).glob("[0-9]*"))):
            place.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # the addresses of the kernels lie there
        settings = Config()
        settings.MappingKernelManager.cull_idle_timeout = IDLE
        settings.MappingKernelManager.cull_interval = LOOK
        settings.MappingKernelManager.cull_connected = True
        settings.MappingKernelManager.cull_busy = True
        settings.ZMQChannelsWebsocketConnection.kernel_ws_protocol = PROTOCOL
        manager = type("Specs", (OneKernel,), {"root": root})
        self.server = KernelServer(
            config=settings, log_level="CRITICAL", base_url=PREFIX, root_dir=str(root / COPIES),
            runtime_dir=str(folder), config_dir=str(folder), data_dir=str(folder), allow_root=True,
            kernel_spec_manager_class=manager, identity_provider_class=Passed, kernel_manager_class=QuietKernels,
            jpserver_extensions={},
        )  # fmt: skip
        self.server.initialize(argv=[], find_extensions=False, new_httpserver=False)
        self.manager: Any = self.server.kernel_manager

    @property
    def application(self) -> Any:
        """The tornado application that answers under `gate.PREFIX`."""
        return self.server.web_app

    async def end(self) -> None:
        """End all kernels, also where one of them has ended or never started."""
        known = [self.manager.shutdown_kernel(kernel, now=True) for kernel in self.manager.list_kernel_ids()]
        await asyncio.gather(*known, return_exceptions=True)
        with suppress(HTTPError):
            await self.manager.shutdown_all(now=True)  # those that were about to start
        if self.manager.sockets is not None:
            self.manager.sockets.cleanup()
