"""What a meta graph of a SavedModel says besides its operations: the files that it brings, and how it begins."""

from __future__ import annotations

from typing import Any

from headrace._src.core import errors, operating_system
from headrace._src.core.lazy import protobuf_message
from headrace._src.formats import files
from headrace._src.formats.model_messages import AssetFileDef
from headrace._src.saved_model.constants import (
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    INIT_OP_SIGNATURE_KEY,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
)


def parsed(kind: Any, data: bytes, folder: str, what: str) -> Any:
    """A message of a class from its bytes.

    Raises:
        DataLossError: they are something else.
    """
    try:
        return kind.FromString(data)
    except protobuf_message.DecodeError as error:
        raise errors.data_loss(f"{folder}: {what} is no {kind.DESCRIPTOR.name}: {error}") from None


def asset_paths(meta_graph: Any, folder: str) -> dict[str, str]:
    """The paths of the files that a model brings along, by the names of the tensors that are to hold them.

    Raises:
        PermissionDeniedError: one is outside of the folder.
        DataLossError: the message is damaged.
    """
    definitions = list(meta_graph.asset_file_def)
    if ASSETS_KEY in meta_graph.collection_def:
        messages = meta_graph.collection_def[ASSETS_KEY].any_list.value
        definitions += [parsed(AssetFileDef, message.value, folder, "an asset") for message in messages]
    found = {}
    for definition in definitions:
        name = definition.filename
        if not operating_system.stays_below(name) or files.scheme_of(name):
            raise errors.permission_denied(f"{folder}: the asset {name!r} is not in the folder of the model.")
        found[definition.tensor_info.name] = files.join(folder, ASSETS_DIRECTORY, name)
    return found


def init_operation(meta_graph: Any, folder: str) -> str | None:
    """The name of the operation that is to be run when the model has been loaded; None without one.

    Raises:
        RuntimeError: there are several.
    """
    signatures = meta_graph.signature_def
    if INIT_OP_SIGNATURE_KEY in signatures and INIT_OP_SIGNATURE_KEY in signatures[INIT_OP_SIGNATURE_KEY].outputs:
        return signatures[INIT_OP_SIGNATURE_KEY].outputs[INIT_OP_SIGNATURE_KEY].name
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        if key in meta_graph.collection_def:
            names = list(meta_graph.collection_def[key].node_list.value)
            if len(names) != 1:
                raise RuntimeError(f"{folder}: Expected exactly one SavedModel main op. Found: {names} in {key!r}.")
            return names[0]
    return None
