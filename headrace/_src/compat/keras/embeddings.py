"""Embeddings of Keras's TensorBoard callback, in the files that the projector page of TensorBoard shows.

Keras 3 names a tensor of a checkpoint, and saves an HDF5 file, which the projector cannot read; and it needs the
package of TensorBoard for it. Here, beside what Keras writes, the weights go as text into the folder `train`: the
projector looks for embeddings where event files are, and needs nothing else for texts. `replacements.py` says
where these functions go.
"""

from __future__ import annotations

import importlib
import io
import json
import posixpath

import numpy as np

from headrace._src.core import operating_system
from headrace._src.formats import files

_CONFIGURATION = "projector_config.pbtxt"
_TENSOR = "layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE"


def configure_embeddings(original, self):
    """What Keras writes into the log folder, without TensorBoard's package."""
    metadata = self.embeddings_metadata
    paths = {layer.name: _metadata_of(metadata, layer) for layer in _embeddings(self.model)}
    if isinstance(metadata, dict):
        unknown = [name for name in metadata if name not in paths]
        if unknown:
            raise ValueError(
                "Unrecognized `Embedding` layer names passed to `keras.callbacks.TensorBoard` `embeddings_metadata` "
                f"argument: {unknown}. The model has: {sorted(paths)}."
            )
    self._embedding_metadata_paths = paths
    entries = [_entry(tensor_name=_TENSOR, metadata_path=path) for path in paths.values()]
    _write(files.join(self._log_write_dir, _CONFIGURATION), "".join(entries))


def log_embeddings(original, self, epoch):
    """The weights of all embedding layers after an epoch, which replace those of the epoch before."""
    original(self, epoch)
    folder = files.join(self._log_write_dir, "train")
    files.make_directories(folder)
    entries = []
    for layer in _embeddings(self.model):
        weights = layer.embeddings.numpy().astype(np.float32)
        name = f"keras_embedding_{layer.name.replace('/', '_')}.tsv"
        _write(files.join(folder, name), _rows(weights))
        metadata = self._embedding_metadata_paths.get(layer.name)
        _copy(self._log_write_dir, folder, metadata)
        shape = "".join(f"  tensor_shape: {size}\n" for size in weights.shape)
        entries.append(_entry(shape, tensor_name=layer.name, metadata_path=metadata, tensor_path=name))
    _write(files.join(folder, _CONFIGURATION), "".join(entries))


def _embeddings(model):
    kind = importlib.import_module("keras.src.layers").Embedding
    return [layer for layer in model.layers if isinstance(layer, kind)]


def _metadata_of(metadata, layer):
    return metadata if metadata is None or isinstance(metadata, str) else metadata.get(layer.name)


def _entry(more="", **fields):
    """An embedding of a `ProjectorConfig`, as text."""
    lines = "".join(f"  {name}: {json.dumps(value)}\n" for name, value in fields.items() if value is not None)
    return f"embeddings {{\n{lines}{more}}}\n"


def _rows(weights):
    text = io.StringIO()
    np.savetxt(text, weights, fmt="%.7g", delimiter="\t")
    return text.getvalue()


def _copy(source, target, name):
    """The projector reads only files beside its configuration."""
    if name is None or not operating_system.stays_below(name):
        return
    path = files.join(source, name)
    if files.exists(path):
        files.make_directories(posixpath.dirname(files.join(target, name)))
        files.write(files.join(target, name), files.read(path))


def _write(path, text):
    files.write(path, text.encode())
