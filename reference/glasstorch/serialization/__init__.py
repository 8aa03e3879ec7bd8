"""How are objects saved to files and loaded from them?

Reading order: `saving` and `loading`, what a program calls; `files` (written whole or not at all) and `settings`. The
container: `zip_format`, `zip_writer`, `zip_reader`. The pickle in it: `pickler`, `names` (PyTorch's paths), `rebuild`
(what they make), `storages` (what ids stand for), `locations` (on which device). What protects from a pickle:
`weights_only` and its list, `allowed`. The format before PyTorch 1.6: `legacy_format`, `legacy_writer`,
`legacy_reader`; and `versions`.

Mirrors: torch/serialization.py
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.serialization.allowed import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from glasstorch.serialization.files import mkdtemp
from glasstorch.serialization.legacy_reader import SourceChangeWarning
from glasstorch.serialization.loading import get_unsafe_globals_in_checkpoint, load
from glasstorch.serialization.locations import (
    default_restore_location,
    location_tag,
    register_package,
    validate_cuda_device,
    validate_hpu_device,
)
from glasstorch.serialization.names import StorageType, normalize_storage_type, storage_to_tensor_type
from glasstorch.serialization.saving import save
from glasstorch.serialization.settings import (
    LoadEndianness,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from glasstorch.serialization.versions import check_module_version_greater_or_equal

__all__ = [
    "SourceChangeWarning",
    "mkdtemp",
    "register_package",
    "check_module_version_greater_or_equal",
    "validate_cuda_device",
    "validate_hpu_device",
    "location_tag",
    "default_restore_location",
    "normalize_storage_type",
    "storage_to_tensor_type",
    "save",
    "load",
    "StorageType",
    "LoadEndianness",
    "get_crc32_options",
    "set_crc32_options",
    "get_default_load_endianness",
    "set_default_load_endianness",
    "get_default_mmap_options",
    "set_default_mmap_options",
    "clear_safe_globals",
    "get_safe_globals",
    "add_safe_globals",
    "safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "skip_data",
]

__getattr__ = refuse_unknown_names(__name__)
