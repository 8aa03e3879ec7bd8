"""What is a table of settings: values that a program can look up, change, and change for a while?

Mirrors: torch/utils/_config_module.py (ConfigModule)
Differs: a value that nothing here stands for is refused when it is set.
"""

from __future__ import annotations

from functools import wraps
from inspect import isclass
from types import ModuleType
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """A value to begin with, and the values that it may take; None for any. `why` says why others are refused."""

    value: Any
    only: tuple[Any, ...] | None = None
    why: str = ""


class Settings:
    """Settings by name, each an attribute. A name with a dot is an attribute of its first part.

    >>> table = Settings("torch.config", {"limit": Setting(8), "cpp.threads": Setting(-1)})
    >>> table.cpp.threads
    -1
    >>> with table.patch({"cpp.threads": 2}):
    ...     table.cpp.threads
    2
    """

    def __init__(self, path: str, table: dict[str, Setting], older: dict[str, str] | None = None) -> None:
        own = vars(self)
        own["_path"], own["_table"], own["_older"] = path, table, older or {}
        own.update({name: setting.value for name, setting in table.items()})
        groups = dict.fromkeys(name.partition(".")[0] for name in table if "." in name)
        own.update({name: Group(self, name) for name in groups})

    def __setattr__(self, name: str, value: Any) -> None:
        self.refuse(name, value)
        vars(self)[self._older.get(name, name)] = value

    def refuse(self, name: str, value: Any) -> None:
        """NotImplementedError for a value that nothing here stands for, AttributeError for a name that is none."""
        setting = self.setting(name)
        if setting.only is not None and not any(value is one or value == one for one in setting.only):
            allowed = " or ".join(map(repr, setting.only))
            raise NotImplementedError(
                f"{self._path}.{name} can only be {allowed} in glasstorch, not {value!r}: {setting.why}"
            )

    def __getattr__(self, name: str) -> Any:
        older = vars(self).get("_older", {})
        if name in older:
            return getattr(self, older[name])
        raise AttributeError(f"{vars(self).get('_path')}.{name} does not exist")

    def __delattr__(self, name: str) -> None:
        """Back to the value to begin with; a program that replaces a setting for a while deletes it in between."""
        setattr(self, name, self.setting(name).value)

    def setting(self, name: str) -> Setting:
        """What is known of a setting. AttributeError if there is none of this name."""
        found: Setting | None = self._table.get(self._older.get(name, name))
        if found is None:
            raise AttributeError(f"{self._path}.{name} does not exist")
        return found

    def value(self, name: str) -> Any:
        """A value, by a name that may have dots."""
        self.setting(name)
        return vars(self)[self._older.get(name, name)]

    def get_type(self, name: str) -> type:
        """The class of a setting's values."""
        return type(self.setting(name).value)

    def get_config_copy(self) -> dict[str, Any]:
        """All settings."""
        return {name: vars(self)[name] for name in self._table}

    shallow_copy_dict = to_dict = get_config_copy

    def load_config(self, values: dict[str, Any]) -> None:
        """Change several settings."""
        for name, value in values.items():
            setattr(self, name, value)

    def patch(self, names: str | dict[str, Any] | None = None, value: Any = None, **values: Any) -> Patch:
        """A context, or a decorator of functions and classes of tests, in which some settings have other values."""
        if isinstance(names, str):
            values = {names: value}
        elif names is not None:
            if not isinstance(names, dict):
                raise AssertionError(f"expected dict got {type(names)}")
            values = {**names, **values}
        for name in values:
            self.setting(name)
        return Patch(self, values)


class Group:
    """The settings whose names begin with one word and a dot."""

    def __init__(self, settings: Settings, name: str) -> None:
        vars(self)["_of"], vars(self)["_name"] = settings, name

    def __getattr__(self, name: str) -> Any:
        return self._of.value(f"{self._name}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._of, f"{self._name}.{name}", value)

    def __delattr__(self, name: str) -> None:
        delattr(self._of, f"{self._name}.{name}")


class Patch:
    """A context, or a decorator, in which settings have other values."""

    def __init__(self, changed: Settings, values: dict[str, Any]) -> None:
        self.changed = changed
        self.values = values
        self.before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        before = {name: self.changed.value(name) for name in self.values}
        try:
            self.changed.load_config(self.values)
        except BaseException:
            self.changed.load_config(before)
            raise
        self.before.append(before)

    def __exit__(self, *unused: object) -> None:
        self.changed.load_config(self.before.pop())

    def __call__(self, decorated: Any) -> Any:
        if isclass(decorated):
            return self._of_tests(decorated)

        @wraps(decorated)
        def within(*args: Any, **kwargs: Any) -> Any:
            with Patch(self.changed, self.values):
                return decorated(*args, **kwargs)

        return within

    def _of_tests(self, kind: Any) -> Any:
        """A class of tests that run with these values."""
        if not hasattr(kind, "setUpClass"):
            raise AssertionError(f"a class that is patched must be one of tests, and {kind.__name__} has no setUpClass")
        patch = self

        class Patched(kind):  # type: ignore[misc]
            @classmethod
            def setUpClass(cls) -> None:
                patch.__enter__()
                try:
                    super().setUpClass()
                except BaseException:
                    patch.__exit__()
                    raise

            @classmethod
            def tearDownClass(cls) -> None:
                try:
                    super().tearDownClass()
                finally:
                    patch.__exit__()

        Patched.__name__, Patched.__qualname__ = kind.__name__, kind.__qualname__
        Patched.__module__ = kind.__module__
        return Patched


def module_of(settings: Settings) -> type[ModuleType]:
    """The class of a module whose attributes are settings."""

    class Module(ModuleType):
        def __getattr__(self, name: str) -> Any:
            return getattr(settings, name)

        def __setattr__(self, name: str, value: Any) -> None:
            if name.startswith("__") or isinstance(value, ModuleType):  # what Python itself sets
                super().__setattr__(name, value)
            else:
                setattr(settings, name, value)

        def __delattr__(self, name: str) -> None:
            delattr(settings, name)

    return Module
