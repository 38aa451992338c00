"""The function of whatever a user calls a model, for those who write it in another form."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from headrace._src.saved_model.debugging_parts import lines_kept
from headrace._src.saved_model.loading import load
from headrace._src.saved_model.saving import save
from headrace._src.saved_model.signatures import concrete_signatures
from headrace._src.tracing.concrete_function import ConcreteFunction

_export_utils = LazyModule("keras.src.export.export_utils")
_headrace = LazyModule("headrace")
_KERAS_FILES = (".keras", ".h5", ".hdf5")


@contextlib.contextmanager
def concrete_function_of(model: Any, signature: str) -> Iterator[Any]:
    """The function of a model, for as long as the block runs.

    Raises:
        ValueError: there is no such signature.
    """
    if isinstance(model, ConcreteFunction):
        yield model
        return
    if isinstance(model, (str, os.PathLike)):
        name = files.path_string(model)
        if name.endswith(_KERAS_FILES):
            model = _headrace.keras.models.load_model(name)
        else:
            with lines_kept():
                found = _signature_of(load(name), signature, name)
            yield found
            return
    if signature == DEFAULT_SERVING_SIGNATURE_DEF_KEY and _can_be_traced(model):
        yield _traced(model, signature)  # its operations know the lines of the user's that made them
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with lines_kept():
            if hasattr(model, "export"):
                model.export(path, verbose=False)
            else:
                save(model, path)
            found = _signature_of(load(path), signature, type(model).__name__)
        yield found


def _can_be_traced(model):
    return hasattr(model, "export") and hasattr(_headrace.keras.export.ExportArchive, "add_endpoint")


def _traced(model, signature):
    """The function that `model.export` would write, for a model that is used, not trained."""
    inputs = _export_utils.get_input_signature(model)
    archive = _headrace.keras.export.ExportArchive()
    archive.track(model)
    function = archive.add_endpoint("serve", functools.partial(model.__call__, training=False), inputs)
    return concrete_signatures({signature: function})[signature]


def _signature_of(loaded, name, what):
    signatures = getattr(loaded, "signatures", None)
    if not isinstance(signatures, Mapping):  # a damaged SavedModel may have anything there
        signatures = {}
    if name not in signatures:
        raise ValueError(f"{what} has no signature {name!r}. There are: {', '.join(signatures) or 'none'}.")
    return signatures[name]
