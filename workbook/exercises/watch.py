"""How is an exercise checked again on each save, with single keys for the rest?

The check runs as a process of its own, so that a save or a key can end it. Whether the file was saved is told by
watchfiles on its folder (editors put a new file in the old one's place); where that is silent, a look each second finds
it out.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from workbook.book.project import shown
from workbook.exercises import desk, overview
from workbook.exercises import state as states
from workbook.exercises.catalogue import Exercise, ExerciseError
from workbook.exercises.keys import NoKeys, open_keys
from workbook.exercises.order import following
from workbook.exercises.process import OWN_GROUP, interrupt
from workbook.exercises.say import paint, say, together, width
from workbook.stopped import WATCHED

TICK = 0.1  # seconds that one look at the keyboard may take
LOOK = 1.0  # seconds between two looks at the file
PATIENCE = 3.0  # seconds in which a check that was stopped has to end
KEYS = " ".join(map(together, ("n next /", "h hint /", "l list /", "c check all /", "x reset /", "r run /", "q quit")))
KEYS_FROM_HERE = "Saving answer.py checks it again. Ctrl-C ends this."


class Check:
    """One run of `workbook check`, which can be stopped at any moment."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workbook", "check", *arguments],
            cwd=Path.cwd(),
            env={**os.environ, "COLUMNS": str(width()), WATCHED: "1"},
            stdin=subprocess.DEVNULL,
            start_new_session=sys.platform != "win32",  # Ctrl-C is for the watch, which hands it on
            creationflags=OWN_GROUP,
        )

    def running(self) -> bool:
        """Whether the check is still running."""
        return self.process.poll() is None

    def stop(self) -> None:
        """Stop the check, and wait until none of its processes runs."""
        if not self.running():
            return
        interrupt(self.process)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Folder:
    """Tells whether a file was saved since the last query."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known = signature(path)
        self.looked = time.monotonic()
        self.stirred = threading.Event()
        self.end = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Record each change that watchfiles reports; it may fail: polling each second finds the same, later."""
        with suppress(Exception):
            import watchfiles

            for _ in watchfiles.watch(
                self.path.parent,
                watch_filter=lambda change, name: Path(name).name == self.path.name,
                debounce=100,
                step=20,
                stop_event=self.end,
                rust_timeout=500,
                recursive=False,
                raise_interrupt=False,
            ):
                self.stirred.set()

    def saved(self) -> bool:
        """Whether the file has changed since the last query."""
        now = time.monotonic()
        if not self.stirred.is_set() and now - self.looked < LOOK:
            return False
        self.stirred.clear()
        self.looked = now
        before, self.known = self.known, signature(self.path)
        return self.known not in (None, before)

    def close(self) -> None:
        """Stop watching."""
        self.end.set()


def signature(path: Path) -> tuple[int, ...] | None:
    """The part of a file's status that changes when it is saved; None while the file does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


class Watch:
    """One session of `workbook watch`."""

    def __init__(self, root: Path, exercise: Exercise, keys: NoKeys) -> None:
        self.root = root
        self.exercise = exercise
        self.keys = keys
        self.folder = Folder(exercise.answer)
        self.check: Check | None = None
        self.asked: Callable[[], None] | None = None  # what `y` confirms
        self.running: tuple[str, ...] = ()  # what the last check was asked for
        self.broken_off: tuple[str, ...] = ()  # the same of a check that a key ended and that is still wanted
        self.actions: dict[str, Callable[[], None]] = {
            "n": self.go_on,
            "h": self.hint,
            "l": self.list,
            "c": self.check_all,
            "x": self.ask_reset,
            "r": self.run,
        }

    def loop(self) -> int:
        """Check, wait for saves and keys, until `q`."""
        self.run()
        while True:
            if self.check is not None and not self.check.running():
                code, self.check = self.check.process.returncode, None
                self.ended(code)
            if self.folder.saved():
                self.saved()
            key = self.keys.read(TICK)
            if key in ("q", "\x04"):
                return 0
            if key:
                self.pressed(key)

    def pressed(self, key: str) -> None:
        """Perform the action of a key."""
        asked, self.asked = self.asked, None
        if asked is not None:
            if key == "y":
                asked()
            else:
                say("Nothing was done.")
                self.prompt()
            return
        action = self.actions.get(key)
        if action is not None:
            self.broken_off = self.running if self.stop() else ()
            action()
        elif key.isprintable():
            say(f"There is no key {key!r} here.")
            self.prompt()

    def prompt(self) -> None:
        """Print the available keys; before that, restart a check that a key interrupted."""
        if self.broken_off:
            self.begin(*self.broken_off)
            return
        print()
        say(KEYS if self.keys.available else KEYS_FROM_HERE)
        sys.stdout.flush()

    def stop(self) -> bool:
        """Stop the running check. Returns whether there was one."""
        if self.check is None:
            return False
        self.check.stop()
        self.check = None
        print(flush=True)
        return True

    def close(self) -> None:
        """Stop everything that still runs."""
        self.stop()
        self.folder.close()

    # --- the keys ---

    def saved(self) -> None:
        """Check the saved file; an unanswered question is dropped."""
        if self.stop():
            say("Saved again.")
        self.asked = None
        self.run()

    def run(self) -> None:
        """Check the exercise, from the beginning."""
        self.begin(self.exercise.identity)

    def begin(self, *arguments: str) -> None:
        """Begin a check, after a line across the screen."""
        self.stop()
        self.broken_off, self.running = (), arguments
        print(paint("-" * min(width(), 60), "dim"), flush=True)
        self.check = Check(*arguments)

    def ended(self, code: int) -> None:
        """Print what can be done after a check."""
        if code == 0 and self.keys.available and states.load(self.root).of(self.exercise).passed:
            print()
            say("When you are done experimenting, press n for the next exercise.")
        self.prompt()

    def guarded(self, action: Callable[[], int]) -> None:
        """Run another command; its errors do not end the watch."""
        print()
        try:
            action()
        except ExerciseError as error:
            print(error)
        self.prompt()

    def hint(self) -> None:
        """Show the next hint."""
        self.guarded(lambda: desk.hint(self.root, self.exercise.identity, None, everything=False))

    def list(self) -> None:
        """Show all exercises."""
        self.guarded(lambda: overview.progress(self.root, None, as_json=False))

    def check_all(self) -> None:
        """Check all exercises that were started."""
        self.begin("--all")

    def ask_reset(self) -> None:
        """Ask before the answer is put aside."""
        say("Put answer.py back to how it was at the start? What you wrote is kept. y/n")
        sys.stdout.flush()
        self.asked = self.reset

    def reset(self) -> None:
        """Replace the answer by the stub; there is nothing to check then."""
        self.broken_off = ()
        self.guarded(lambda: desk.reset(self.root, self.exercise.identity, sheet=False))
        self.folder.known = signature(self.exercise.answer)

    def go_on(self) -> None:
        """Go to the next exercise; ask first if this one has not passed."""
        if states.load(self.root).of(self.exercise).passed:
            self.next()
            return
        say(f"{self.exercise.identity} has not passed yet. Go to the next one all the same? y/n")
        sys.stdout.flush()
        self.asked = self.next

    def next(self) -> None:
        """Start the next exercise and watch it."""
        state = states.load(self.root)
        all_of_them = desk.known(self.root, state)
        after = following(self.root, all_of_them, state, besides=self.exercise.identity)
        if after is None:
            self.guarded(lambda: desk.all_done(all_of_them))
            return
        self.broken_off = ()
        self.folder.close()
        self.exercise = after
        self.guarded(lambda: desk.start(self.root, after.identity, watched=True))
        self.folder = Folder(after.answer)


def watch(root: Path, name: str | None) -> int:
    """Check an exercise on each save, until `q` or Ctrl-C. One that is not started is started."""
    state = states.load(root)
    all_of_them = desk.known(root, state)
    exercise = desk.chosen(root, name, state) if name is not None else following(root, all_of_them, state)
    desk.tell(state)
    if exercise is None:
        return desk.all_done(all_of_them)
    if not exercise.answer.exists():
        desk.start(root, exercise.identity, watched=True)
    else:
        states.note(root, exercise, states.begun)
        say(f"Watching {shown(exercise.answer)}")
    with open_keys(sys.stdin) as keys, ended_politely(keys):
        session = Watch(root, exercise, keys)
        try:
            return session.loop()
        except EOFError:
            return 0  # the terminal was closed
        finally:
            session.close()


@contextmanager
def ended_politely(keys: NoKeys) -> Iterator[None]:
    """Exit normally when the terminal or the system asks for it; set up the keys again after a pause."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    def again(number: int, frame: FrameType | None) -> None:
        keys.again()

    wanted = {"SIGTERM": end, "SIGHUP": end, "SIGCONT": again}
    handlers = {signal.Signals[name]: handler for name, handler in wanted.items() if hasattr(signal, name)}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
