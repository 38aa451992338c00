"""A short way through `Layer.__call__` of Keras, for a built layer and one eager tensor.

Keras finds out for each call how the layer's `call` is written, binds the arguments, opens two scopes and wraps `call`
in a function of its own that explains errors. What depends on the layer only is kept here from call to call, in a
`_Form`; what depends on the call is done as Keras does it, in the same order. All else (several tensors, masks as
arguments, other dtypes, mixed precision, graphs, quantized layers, layers that replace parts of Keras's call) takes
Keras's own way. `tests/compat/keras/test_keras_short_calls.py` compares the two.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any
from weakref import WeakKeyDictionary

from headrace._src.compat.keras.errors import explain
from headrace._src.compat.keras.former_backend import learning_phase_is_set
from headrace._src.core.context import context
from headrace._src.core.names import close_scope, open_scope
from headrace._src.core.tensor import EagerTensor
from headrace._src.core.tracebacks import hide_frames

# Arguments and defaults that Keras neither converts nor looks into.
_PLAIN = frozenset((type(None), bool, int, float, str))
# What `Layer.__call__` calls of the layer. One that has its own takes Keras's way.
_PARTS = (
    "_check_super_called _maybe_build _open_name_scope _get_call_context _resolve_and_populate_arg "
    "_maybe_reset_call_context _set_mask_metadata dtype_policy compute_dtype variable_dtype "
    "quantization_mode rematerialized_call built"
).split()
_METHODS = frozenset(_PARTS) - {"built"}
_FLOATS = ("float", "bfloat")


class _Form:
    """What is known of the calls of one layer."""

    __slots__ = ("layer", "scope", "scope_path", "signature", "takes_mask", "takes_training", "training", "type")

    def __init__(self, layer, keras_scope):
        self.layer, self.type = layer, type(layer)
        signature = self.signature = layer._call_signature
        parameters = signature.parameters
        self.takes_training = "training" in parameters
        self.training = parameters["training"].default if self.takes_training else None
        self.takes_mask = "mask" in parameters and parameters["mask"].default is None
        self.scope_path = layer._parent_path
        self.scope = keras_scope(layer.name, caller=layer)

    def fits(self, layer) -> bool:
        """Whether it is still as it was when this was found out."""
        return (
            self.layer is layer
            and self.type is type(layer)
            and self.signature is layer._call_signature
            and self.scope_path is layer._parent_path
            and self.scope.name is layer.name
        )


def _is_simple(signature: inspect.Signature) -> bool:
    """Whether `call` takes one tensor, and otherwise plain values that have defaults."""
    parameters = list(signature.parameters.values())
    if not parameters or parameters[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ):
        return False
    if parameters[0].name in ("training", "mask"):
        return False
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(p.kind in variadic or type(p.default) in _PLAIN for p in parameters[1:]) and not any(
        p.kind in variadic and p.name in ("training", "mask") for p in parameters
    )


def short_call(original):
    """`Layer.__call__`, which takes the short way where it can."""
    layers = importlib.import_module("keras.src.layers.layer")
    operations = importlib.import_module("keras.src.ops.operation")
    policies = importlib.import_module("keras.src.dtype_policies.dtype_policy")
    state = importlib.import_module("keras.src.backend.common.global_state")
    tracebacks = importlib.import_module("keras.src.utils.traceback_utils")
    specs = importlib.import_module("keras.src.layers.input_spec")
    keras_scope = importlib.import_module("keras.src.backend").name_scope
    Layer, CallContext, InputSpec = layers.Layer, layers.CallContext, specs.InputSpec
    plain_policies = frozenset((policies.DTypePolicy, policies.FloatDTypePolicy))
    parts = {name: inspect.getattr_static(Layer, name, None) for name in _PARTS}
    whole_call = operations.Operation.__call__
    own_check, own_mask = Layer._assert_input_compatibility, Layer.compute_mask
    own_input_dtype = Layer.input_dtype
    # Of classes: whether all that Keras does in a call of their layers is Keras's own.
    usual: WeakKeyDictionary = WeakKeyDictionary()

    def is_usual(kind):
        known = usual.get(kind)
        if known is None:
            known = usual[kind] = (
                all(inspect.getattr_static(kind, name, None) is part for name, part in parts.items())
                and _next_call(kind, Layer) is whole_call
            )
        return known

    def form_of(layer):
        """What is known of the layer's calls; False if they are not simple, None if that is not known yet."""
        attributes = vars(layer)
        if attributes.get("built") is not True or layer._parent_path is None:
            return None
        is_simple = is_usual(type(layer)) and _is_simple(layer._call_signature) and layer.name
        form = _Form(layer, keras_scope) if is_simple and attributes.keys().isdisjoint(_METHODS) else False
        attributes["_headrace_form"] = form
        return form

    def is_compatible(spec, shape, dtype):
        """Whether a tensor has what the spec demands, as far as this can be said quickly."""
        if type(spec) is not InputSpec or spec.shape is not None:
            return False
        rank = len(shape)
        if spec.dtype is not None and spec.dtype != dtype.name:
            return False
        if spec.ndim is not None and spec.ndim != rank:
            return False
        if (spec.max_ndim is not None and rank > spec.max_ndim) or (spec.min_ndim is not None and rank < spec.min_ndim):
            return False
        for axis, size in (spec.axes or {}).items():
            if not -rank <= axis < rank or (size is not None and shape[axis] != size):
                return False
        return True

    def fail(layer, error, x, options):
        """Raise the error of `layer.call` with the arguments in its text, as Keras does."""

        @functools.wraps(layer.call)
        def call(*args, **kwargs):
            raise error

        explained = tracebacks.inject_argument_info_in_traceback(call, object_name=f"{type(layer).__name__}.call()")
        explained(x, **options)

    @functools.wraps(original)
    def __call__(self, *args, **kwargs):
        try:
            mode = context.mode
            if len(args) != 1 or (mode is not None and (mode.elsewhere or mode.place is not None)):
                return original(self, *args, **kwargs)
            x = args[0]
            if type(x) is not EagerTensor:
                return original(self, *args, **kwargs)
            attributes = self.__dict__
            form = attributes.get("_headrace_form")
            if form is None or (form and not form.fits(self)):
                form = form_of(self)
            if not form:
                return original(self, *args, **kwargs)
            tracker = state.GLOBAL_STATE_TRACKER.__dict__
            policy = attributes["_dtype_policy"]
            names = attributes["_call_context_args"]
            mask = x.__dict__.get("_keras_mask")
            if (
                attributes["built"] is not True
                or type(policy) not in plain_policies
                or policy._compute_dtype != policy._variable_dtype
                or len(names) != 1
                or "training" not in names
                or (kwargs and (len(kwargs) != 1 or "training" not in kwargs or type(kwargs["training"]) not in _PLAIN))
                or tracker.get("autocast_scope") is not None
                or tracker.get("distribution") is not None
                or self._remat_mode
                or self.activity_regularizer is not None
                or (mask is not None and not self.supports_masking)
                or learning_phase_is_set()
            ):
                return original(self, *args, **kwargs)
            dtype = x.dtype
            if dtype.name.startswith(_FLOATS):
                own_dtype = policy._compute_dtype if form.type.input_dtype is own_input_dtype else self.input_dtype
                if dtype.name != own_dtype:
                    return original(self, *args, **kwargs)
            if attributes["_called"] is not True:
                self._called = True
            if form.type._assert_input_compatibility is own_check:
                spec = self.input_spec
                if spec and not is_compatible(spec, x._a.shape, dtype):
                    self._assert_input_compatibility(x)
            else:
                self._assert_input_compatibility(x)
            call_context = tracker.get("current_call_ctx")
            if call_context is None:
                call_context = tracker["current_call_ctx"] = CallContext(entry_layer=self)
                self._clear_losses()
            # Whether this is training: the argument, what the layer around says, the default.
            if kwargs:
                training = kwargs["training"]
                if not form.takes_training:
                    kwargs = {}
            else:
                training = call_context.get_value("training")
                if training is None:
                    training = form.training
                if training is not None and form.takes_training:
                    kwargs["training"] = training
            call_context.set_value("training", training)
            if form.takes_mask:
                kwargs["mask"] = mask
            try:
                scopes = tracker.get("name_scope_stack")
                if scopes is None:
                    scopes = tracker["name_scope_stack"] = []
                # A layer that calls itself through the one below, as a model does, is in one scope.
                is_new = not (scopes and scopes[-1].caller is self and scopes[-1].name == form.scope.name)
                if is_new:
                    scopes.append(form.scope)
                    before = open_scope(form.scope.name)
                try:
                    outputs = self.call(x, **kwargs)
                except Exception as error:
                    if not tracebacks.is_traceback_filtering_enabled():
                        raise
                    fail(self, error, x, kwargs)
                finally:
                    if is_new:
                        close_scope(before)
                        if scopes:
                            scopes.pop()
                # Otherwise the mask of the outputs is that of the inputs: none.
                has_mask = mask is not None or form.type.compute_mask is not own_mask or "compute_mask" in attributes
                if has_mask and self.supports_masking:
                    self._set_mask_metadata(x, outputs, mask)
                return outputs
            finally:
                current = tracker.get("current_call_ctx")
                if current is None or current.entry_layer is self:
                    tracker["current_call_ctx"] = None
        except BaseException as error:
            explain(error, original, (self, *args), kwargs)
            hide_frames(error)
            raise

    return __call__


def _next_call(kind, Layer) -> Any:
    """The `__call__` that `super().__call__` in `Layer` means for a class."""
    classes = kind.__mro__
    for cls in classes[classes.index(Layer) + 1 :]:
        if "__call__" in vars(cls):
            return vars(cls)["__call__"]
    return None
