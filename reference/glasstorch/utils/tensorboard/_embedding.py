"""Which files does TensorBoard's projector read?

Mirrors: torch/utils/tensorboard/_embedding.py

The vectors, their labels and their small pictures lie in a folder of their own, and one file, at the top of the logs,
names all such folders.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from tensorboard.compat import tf
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo

from glasstorch.utils.tensorboard._convert_np import make_np
from glasstorch.utils.tensorboard._pictures import make_grid, png

CONFIGURATION = "projector_config.pbtxt"


def join(folder: str, name: str) -> str:
    """The path of a file in a folder, which may lie in a store such as `s3://`."""
    gfile = tf.io.gfile
    if hasattr(gfile, "join"):  # TensorFlow's own
        return str(gfile.join(folder, name))
    return str(gfile.get_filesystem(folder).join(folder, name))


def _write(folder: str, name: str, content: bytes) -> None:
    with tf.io.gfile.GFile(join(folder, name), "wb") as file:
        file.write(content)


def make_tsv(metadata: Sequence[Any], save_path: str, metadata_header: Sequence[str] | None = None) -> None:
    """Write one line for each label; with a header, each label is a row of values, separated by tabs."""
    if metadata_header:
        if len(metadata_header) != len(metadata[0]):
            raise AssertionError(
                f"len of header must be equal to the number of columns in metadata, got {len(metadata_header)} and "
                f"{len(metadata[0])}"
            )
        lines = ["\t".join(map(str, row)) for row in (metadata_header, *metadata)]
    else:
        lines = list(map(str, metadata))
    _write(save_path, "metadata.tsv", ("\n".join(lines) + "\n").encode("utf-8"))


def make_sprite(label_img: Any, save_path: str) -> None:
    """Write all pictures (n, channels, height, width) as one square PNG, ceil(sqrt(n)) to a row."""
    from PIL import Image

    images = make_np(label_img)
    grid = make_grid(images, ncols=math.ceil(len(images) ** 0.5)).transpose(1, 2, 0)  # (height, width, 3)
    side = grid.shape[1]
    square = np.zeros((side, side, 3))
    square[: grid.shape[0]] = grid
    _write(save_path, "sprite.png", png(Image.fromarray((square * 255).clip(0, 255).astype(np.uint8))))


def make_mat(matlist: Iterable[Iterable[Any]], save_path: str) -> None:
    """Write one line for each vector, its numbers separated by tabs."""
    lines = ["\t".join(str(number.item()) for number in vector) + "\n" for vector in matlist]
    _write(save_path, "tensors.tsv", "".join(lines).encode("utf-8"))


def write_pbtxt(save_path: str, contents: str) -> None:
    """Write the file that names all embeddings."""
    _write(save_path, CONFIGURATION, contents.encode("utf-8"))


def get_embedding_info(metadata: Any, label_img: Any, subdir: str, global_step: int, tag: str) -> Any:
    """The entry of one embedding, whose files lie in `subdir`."""
    info = EmbeddingInfo(tensor_name=f"{tag}:{str(global_step).zfill(5)}", tensor_path=join(subdir, "tensors.tsv"))
    if metadata is not None:
        info.metadata_path = join(subdir, "metadata.tsv")
    if label_img is not None:
        info.sprite.image_path = join(subdir, "sprite.png")
        info.sprite.single_image_dim.extend([label_img.shape[3], label_img.shape[2]])
    return info
