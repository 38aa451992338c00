"""`tf.saved_model.experimental.read_fingerprint`: what tells one SavedModel from another."""

from __future__ import annotations

from typing import Any

from headrace._src.core import errors
from headrace._src.core.lazy import protobuf_message
from headrace._src.formats import files
from headrace._src.formats.model_messages import FingerprintDef
from headrace._src.op.api import api
from headrace._src.saved_model.constants import FINGERPRINT_FILENAME

_NUMBERS = (
    "saved_model_checksum", "graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash",
    "checkpoint_hash",
)  # fmt: skip


@api("saved_model.experimental.Fingerprint")
class Fingerprint:
    """The hashes of the parts of a SavedModel.

    Attributes:
        saved_model_checksum: of the file `saved_model.pb`.
        graph_def_program_hash: of its functions.
        signature_def_hash: of its signatures.
        saved_object_graph_hash: of its objects.
        checkpoint_hash: of the index of its variables.
        version: of the way in which these are computed, a `VersionDef` message.
    """

    def __init__(
        self,
        saved_model_checksum: int | None = None,
        graph_def_program_hash: int | None = None,
        signature_def_hash: int | None = None,
        saved_object_graph_hash: int | None = None,
        checkpoint_hash: int | None = None,
        version: Any = None,
    ) -> None:
        self.saved_model_checksum = saved_model_checksum
        self.graph_def_program_hash = graph_def_program_hash
        self.signature_def_hash = signature_def_hash
        self.saved_object_graph_hash = saved_object_graph_hash
        self.checkpoint_hash = checkpoint_hash
        self.version = version

    @classmethod
    def from_proto(cls, proto: Any) -> Fingerprint:
        """The fingerprint that a `FingerprintDef` message holds, or its bytes."""
        if isinstance(proto, bytes):
            proto = FingerprintDef.FromString(proto)
        return cls(*(getattr(proto, name) for name in _NUMBERS), proto.version)

    def __eq__(self, other: object) -> bool:
        # TF: the version does not count.
        return isinstance(other, Fingerprint | FingerprintDef) and all(
            getattr(self, name) == getattr(other, name) for name in _NUMBERS
        )

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in _NUMBERS))

    def __str__(self) -> str:
        lines = "\n".join(f"  {name}: {getattr(self, name)}" for name in _NUMBERS)
        return f"SavedModel Fingerprint\n{lines}"

    def __repr__(self) -> str:
        return f"Fingerprint({', '.join(str(getattr(self, name)) for name in _NUMBERS)})"

    def singleprint(self) -> str:
        """The parts that say what the model computes, as one text."""
        return "/".join(str(getattr(self, name)) for name in _NUMBERS[1:])


@api("saved_model.experimental.read_fingerprint", dispatch=False)
def read_fingerprint(export_dir) -> Fingerprint:
    """The fingerprint of the SavedModel in a folder.

    Raises:
        FileNotFoundError: it has none, as those that TensorFlow before 2.12 wrote.
        RuntimeError: its file is damaged.
    """
    path = files.join(files.path_string(export_dir), FINGERPRINT_FILENAME)
    try:
        return Fingerprint.from_proto(files.read(path))
    except errors.NotFoundError:
        raise FileNotFoundError(f"SavedModel Fingerprint Error: Could not find fingerprint: {path} not found") from None
    except protobuf_message.DecodeError as error:
        raise RuntimeError(f"SavedModel Fingerprint Error: {path} is no FingerprintDef: {error}") from None
