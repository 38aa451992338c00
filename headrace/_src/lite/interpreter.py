"""`tf.lite.Interpreter`: LiteRT's own, with errors that have types."""

from __future__ import annotations

import contextlib
import importlib.util
from typing import Any

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.lite.analyzer import BrokenModelError, checked_model
from headrace._src.lite.authoring import resolver_of_litert
from headrace._src.op.api import api

_litert = LazyModule("ai_edge_litert.interpreter")


class ModelRefusedError(errors.InvalidArgumentError, RuntimeError):
    """LiteRT cannot run a model, or not with these inputs. (TensorFlow raises `RuntimeError`.)"""


@contextlib.contextmanager
def _typed(method):
    try:
        yield
    except RuntimeError as error:
        raise ModelRefusedError(None, None, f"lite.Interpreter.{method}: {error}") from error


@api("lite.Interpreter", dispatch=False)
class Interpreter:
    """Runs a model of TensorFlow Lite, by LiteRT, which `pip install 'headrace[lite]'` brings.

    Args:
        model_path: the file of a model.
        model_content: or its bytes.
        experimental_delegates: what runs parts of it.
        num_threads: how many threads it takes.
        experimental_op_resolver_type: an `OpResolverType` of LiteRT.
        experimental_preserve_all_tensors: whether tensors between operators can be read.
        options: further ones of LiteRT.

    Raises:
        ModuleNotFoundError: LiteRT is not installed.
        ValueError: neither a path nor bytes are given, or both.
        NotFoundError: there is no such file.
        DataLossError: it is no model.
    """

    def __init__(
        self, model_path=None, model_content=None, experimental_delegates=None, num_threads=None,
        experimental_op_resolver_type=None, experimental_preserve_all_tensors=False, **options,
    ) -> None:  # fmt: skip
        if (model_path is None) == (model_content is None):
            raise ValueError("lite.Interpreter: one of model_path and model_content must be given.")
        if importlib.util.find_spec("ai_edge_litert") is None:
            raise ModuleNotFoundError("Running models of TensorFlow Lite needs LiteRT: pip install 'headrace[lite]'.")
        where = "model_content" if model_path is None else files.path_string(model_path)
        content = bytes(model_content) if model_path is None else files.read(model_path)
        checked_model(content, f"lite.Interpreter: {where}")  # LiteRT itself may crash on a broken one
        if experimental_op_resolver_type is not None:
            options["experimental_op_resolver_type"] = resolver_of_litert(experimental_op_resolver_type)
        try:
            self._runtime = _litert.Interpreter(
                model_content=content, experimental_delegates=experimental_delegates, num_threads=num_threads,
                experimental_preserve_all_tensors=experimental_preserve_all_tensors, **options,
            )  # fmt: skip
        except (ValueError, RuntimeError) as error:
            raise BrokenModelError(
                None, None, f"lite.Interpreter: {where} is no model that LiteRT can run: {error}"
            ) from error

    def allocate_tensors(self) -> None:
        """Take memory; before `invoke`, and after sizes of inputs have changed.

        Raises:
            InvalidArgumentError: operators do not fit the sizes of their inputs, or LiteRT does not have them.
        """
        with _typed("allocate_tensors"):
            self._runtime.allocate_tensors()

    def get_input_details(self) -> list[dict]:
        """For each input its name, index, shape, dtype and quantization."""
        return self._runtime.get_input_details()

    def get_output_details(self) -> list[dict]:
        """The same for outputs."""
        return self._runtime.get_output_details()

    def get_tensor_details(self, subgraph_index=0) -> list[dict]:
        """The same for all tensors of a graph."""
        return self._runtime.get_tensor_details(subgraph_index)

    def num_subgraphs(self) -> int:
        """How many graphs the model has: one for each signature, branch and loop."""
        return self._runtime.num_subgraphs()

    def get_signature_list(self) -> dict:
        """Keys of signatures to the names of their inputs and outputs."""
        return self._runtime.get_signature_list()

    def get_signature_runner(self, signature_key=None) -> Any:
        """A function that takes arrays by the names of inputs, and returns them by the names of outputs."""
        return self._runtime.get_signature_runner(signature_key)

    def resize_tensor_input(self, input_index, tensor_size, strict=False) -> None:
        """Give an input another shape."""
        self._runtime.resize_tensor_input(input_index, tensor_size, strict)

    def set_tensor(self, tensor_index, value) -> None:
        """Set the value of an input."""
        self._runtime.set_tensor(tensor_index, value)

    def get_tensor(self, tensor_index, subgraph_index=0) -> Any:
        """A copy of the value of a tensor."""
        return self._runtime.get_tensor(tensor_index, subgraph_index)

    def tensor(self, tensor_index) -> Any:
        """A function that returns the memory of a tensor as an array."""
        return self._runtime.tensor(tensor_index)

    def invoke(self) -> None:
        """Compute the outputs.

        Raises:
            InvalidArgumentError: the values do not fit the model, as an index that is too large.
        """
        with _typed("invoke"):
            self._runtime.invoke()

    def reset_all_variables(self) -> None:
        """Give variables of the model their first values."""
        self._runtime.reset_all_variables()

    def _get_ops_details(self):
        return self._runtime._get_ops_details()
