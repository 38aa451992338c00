"""SavedModels of 1.x, written: `Builder`, `simple_save` and the operations that a model begins with."""

import logging
import os
from typing import TYPE_CHECKING

import numpy as np

from headrace._src.compat.graph_keys import (
    GraphKeys,
    global_variables_initializer,
    grouped,
    local_variables_initializer,
    tables_initializer,
)
from headrace._src.compat.saving.meta_graphs import export_meta_graph
from headrace._src.compat.saving.saver import Saver, all_saveable_objects
from headrace._src.compat.saving.signature_messages import predict_signature_def
from headrace._src.compat.saving.tensor_infos import tensor_info
from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.formats import durable_files, files
from headrace._src.formats.model_messages import AssetFileDef, MetaGraphDef, SavedModel
from headrace._src.graph.building.operation import Operation
from headrace._src.op.api import api
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.saved_model import constants
from headrace._src.saved_model.model_files import LARGEST

if TYPE_CHECKING:
    from headrace._src.graph.building.operation import Operation as _Operation

_logger = logging.getLogger("tensorflow")
_PIECE = 1 << 20


@api("compat.v1.saved_model.Builder", "compat.v1.saved_model.builder.SavedModelBuilder")
class SavedModelBuilder:
    """Writes a graph, the values of its variables and the files that it reads to a folder, for servers to load.

    Args:
        export_dir: the folder, which must be empty or not be there.

    Raises:
        AssertionError: there is something in the folder.

    >>> import os, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "model")
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
    ...     v = tf.compat.v1.get_variable("v", initializer=2.0)
    ...     sess.run(v.initializer)
    ...     builder = tf.compat.v1.saved_model.Builder(folder)
    ...     builder.add_meta_graph_and_variables(sess, ["serve"])
    ...     path = builder.save()
    >>> sorted(os.listdir(folder))
    ['saved_model.pb', 'variables']
    """

    def __init__(self, export_dir) -> None:
        self._folder = files.path_string(export_dir)
        if files.exists(self._folder) and (not files.is_directory(self._folder) or files.names_in(self._folder)):
            raise AssertionError(
                f"Export directory {self._folder} already exists, and isn't empty. Please choose a different export "
                "directory, or delete all the contents of the specified directory."
            )
        durable_files.make_folders(self._folder)
        self._message = SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._has_variables = False

    def add_meta_graph_and_variables(
        self,
        sess,
        tags,
        signature_def_map=None,
        assets_collection=None,
        legacy_init_op=None,
        clear_devices=False,
        main_op=None,
        strip_default_attrs=False,
        saver=None,
    ) -> None:
        """Adds the graph of a session, and writes the values of its variables. The first graph must be added so.

        Args:
            sess: the session.
            tags: by which the graph is found.
            signature_def_map: keys to `SignatureDef` messages.
            assets_collection: tensors that are paths of files, which are copied into the folder.
            legacy_init_op: the older name of `main_op`.
            clear_devices: whether devices of operations are left out.
            main_op: an operation that is run when the model has been loaded, such as one that fills tables.
            strip_default_attrs: whether attributes that have their default values are left out.
            saver: saves and restores the variables; by default one for all of them.

        Raises:
            AssertionError: variables have been written already, or a signature lacks a dtype or name.
            TypeError: `main_op` is no operation.
        """
        if self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` "
                "instead."
            )
        self._check(signature_def_map, legacy_init_op, main_op)
        with sess.graph.as_default():
            self._add_collections(assets_collection, legacy_init_op, main_op, copies=True)
            saver = _saver(saver)
            prefix = files.join(self._folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
            if saver.as_saver_def() is not None:
                durable_files.make_folders(os.path.dirname(prefix))
            saver.save(sess, prefix, write_meta_graph=False, write_state=False)
            self._add_graph(saver, tags, signature_def_map, clear_devices, strip_default_attrs)
        self._has_variables = True

    def add_meta_graph(
        self,
        tags,
        signature_def_map=None,
        assets_collection=None,
        legacy_init_op=None,
        clear_devices=False,
        main_op=None,
        strip_default_attrs=False,
        saver=None,
    ) -> None:
        """Adds the current graph as another one that shares the variables. See `add_meta_graph_and_variables`.

        Raises:
            AssertionError: no variables have been written yet.
        """
        if not self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        self._check(signature_def_map, legacy_init_op, main_op)
        self._add_collections(assets_collection, legacy_init_op, main_op, copies=False)
        self._add_graph(_saver(saver), tags, signature_def_map, clear_devices, strip_default_attrs)

    def _check(self, signature_def_map, legacy_init_op, main_op):
        for signature in (signature_def_map or {}).values():
            for info in [*signature.inputs.values(), *signature.outputs.values()]:
                _check_info(info)
        if legacy_init_op is not None and main_op is not None:
            raise ValueError("legacy_init_op and main_op cannot both be given: they are the same.")
        operation = legacy_init_op if main_op is None else main_op
        if operation is not None and not isinstance(operation, Operation):
            raise TypeError(f"Expected {operation!r} to be an Operation but got type {type(operation)} instead.")

    def _add_collections(self, assets, legacy_init_op, main_op, copies):
        """What of a model is kept in collections of the graph: the operation to begin with, and its files."""
        graph = context.graph
        operation = legacy_init_op if main_op is None else main_op
        if operation is not None:
            graph.clear_collection(constants.MAIN_OP_KEY)
            graph.add_to_collection(constants.MAIN_OP_KEY, operation)
        if assets is None:
            return
        graph.clear_collection(constants.ASSETS_KEY)
        copied = _Assets(files.join(self._folder, constants.ASSETS_DIRECTORY), copies)
        for tensor in assets:
            name = copied.name_of(_asset_path(tensor))
            graph.add_to_collection(constants.ASSETS_KEY, _AssetMessage(tensor, name))

    def _add_graph(self, saver, tags, signature_def_map, clear_devices, strip_default_attrs):
        information = MetaGraphDef.MetaInfoDef(tags=list(tags))
        proto = export_meta_graph(
            meta_info_def=information, saver_def=saver.as_saver_def(), clear_devices=clear_devices,
            strip_default_attrs=strip_default_attrs,
            collection_list=[x for x in context.graph.get_all_collection_keys() if x != constants.ASSETS_KEY],
        )  # fmt: skip
        for item in context.graph.get_collection(constants.ASSETS_KEY):
            proto.collection_def[constants.ASSETS_KEY].any_list.value.add().Pack(item.message)
        for key, signature in (signature_def_map or {}).items():
            proto.signature_def[key].MergeFromString(signature.SerializeToString())
        self._message.meta_graphs.append(proto)

    def save(self, as_text=False) -> bytes:
        """Writes the message that makes the folder a SavedModel.

        Args:
            as_text: whether it is written as text.

        Returns:
            The path of the file.

        Raises:
            InvalidArgumentError: the graphs would take more than 2 GB.
        """
        if self._message.ByteSize() > LARGEST:
            raise errors.invalid_argument(
                f"{self._folder}: the graphs have more than the 2 GB that a protobuf message may have. Make large "
                "constants variables: their values are written to files of their own."
            )
        name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        path = files.join(self._folder, name)
        durable_files.replace(path, str(self._message).encode() if as_text else self._message.SerializeToString())
        _logger.info("SavedModel written to: %s", path)
        return path.encode()


def _saver(saver):
    # TF: one shard for each device, which are merged.
    return Saver(all_saveable_objects(), sharded=True, allow_empty=True) if saver is None else saver


def _check_info(info):
    encoding = info.WhichOneof("encoding")
    if encoding is None:
        raise AssertionError(
            f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs must have one of the "
            "'encoding' fields (e.g., name or coo_sparse) set."
        )
    if encoding == "composite_tensor":
        for component in info.composite_tensor.components:
            _check_info(component)
    elif not info.dtype:
        raise AssertionError(
            f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs must have the dtype field "
            "set."
        )


# Assets.


class _AssetMessage:
    """An element of the collection of assets."""

    def __init__(self, tensor, name):
        self.message = AssetFileDef(filename=name, tensor_info=tensor_info(tensor))


def _asset_path(tensor):
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Asset path tensor {tensor} must be a Tensor.")
    value = np.asarray(get_static_value(tensor), object)
    if value.size != 1 or value.item() is None:
        raise ValueError(f"The path of the asset {tensor.name!r} is no constant, and not known before a session runs.")
    return files.path_string(value.item())


class _Assets:
    """The files that a model brings along, each under a name of its own.

    Args:
        folder: where they are copied to.
        copies: whether they are copied at all; another graph of the model has done it otherwise.
    """

    def __init__(self, folder, copies):
        self._folder = folder
        self._copies = copies
        self._names: dict[str, str] = {}  # by path
        self._contents: dict[str, bytes] = {}  # by name

    def name_of(self, path):
        """The name of a file in the folder; files of the same name and contents are one."""
        if path not in self._names:
            contents = files.read(path)
            base = name = os.path.basename(path)
            number = 0
            while self._contents.get(name, contents) != contents:
                number += 1
                name = f"{base}_{number}"
            self._names[path] = name
            if name not in self._contents:
                self._contents[name] = contents
                if self._copies:
                    durable_files.make_folders(self._folder)
                    durable_files.replace(files.join(self._folder, name), contents)
        return self._names[path]


@api("compat.v1.saved_model.simple_save", dispatch=False)
def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None) -> None:
    """Writes the graph of a session as a SavedModel with one signature, for prediction.

    Args:
        session: the session.
        export_dir: the folder, which must be empty or not be there.
        inputs: names to tensors.
        outputs: the same.
        legacy_init_op: an operation that is run when the model has been loaded.

    >>> import os, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "model")
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
    ...     x = tf.compat.v1.placeholder(tf.float32, [None])
    ...     tf.compat.v1.saved_model.simple_save(sess, folder, {"x": x}, {"y": x * 2.0})
    >>> tf.saved_model.load(folder).signatures["serving_default"](tf.constant([1.0]))["y"].numpy()
    array([2.], dtype=float32)
    """
    signature = predict_signature_def(inputs, outputs)
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session, [constants.SERVING], {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature}, main_op=legacy_init_op,
        assets_collection=session.graph.get_collection(GraphKeys.ASSET_FILEPATHS), clear_devices=True,
    )  # fmt: skip
    builder.save()


# What a model begins with.


@api("compat.v1.saved_model.main_op.main_op", dispatch=False)
def main_op() -> "_Operation":
    """An operation that initialises all variables and tables of the default graph."""
    parts = [global_variables_initializer(), local_variables_initializer(), tables_initializer()]
    return grouped(parts, "group_deps")


@api("compat.v1.saved_model.main_op_with_restore", "compat.v1.saved_model.main_op.main_op_with_restore", dispatch=False)
def main_op_with_restore(restore_op_name) -> "_Operation":
    """An operation that initialises all, and then runs another one that restores variables.

    Args:
        restore_op_name: that operation, or its name.
    """
    graph = context.graph
    with graph.control_dependencies([main_op()]):
        restored = graph.as_graph_element(restore_op_name) if isinstance(restore_op_name, str) else restore_op_name
        return grouped([restored], "group_deps")


