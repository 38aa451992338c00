"""The single door: applying an op converts inputs, runs the kernel or adds a node, and tells the tapes.

`apply` does it for whatever the inputs are. Most ops are applied to eager tensors, so each has a lane, a function
written for it that takes these the short way and leaves everything else to `apply`; see lanes.py.
"""

import re

import numpy as np

from headrace._src.core import device_use, dtypes, errors
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context, run_quietly
from headrace._src.core.lazy import LazyModule
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.attributes import checked
from headrace._src.op.convert import MAX_RANK, eager_number, int_vector, to_tensor
from headrace._src.op.lanes import MANY, write_lane
from headrace._src.op.signature import REQUIRED
from headrace._src.op.traits import MATRIX_PRODUCT

_accounts = LazyModule("headrace._src.core.accounts")  # for errors
_placement = LazyModule("headrace._src.op.placement")  # where there are accelerators

_ndarray, _asarray = np.ndarray, np.asarray


def lane_of(op):
    """The op's lane: what `Op.lane` is, written when the op is first applied."""
    device_use.in_use = True
    return write_lane(op, {
        "apply": apply, "complete": complete, "as_array": as_array, "check_dtype": check_dtype,
        "kernel_error": kernel_error, "ndarray": np.ndarray, "checked": checked,
    })  # fmt: skip


def apply(op, inputs, attrs, name=None):
    """Apply `op`, whatever the inputs are.

    Args:
        op: the op.
        inputs: one value per input of the signature; a list input is a list or tuple.
        attrs: attributes by name, in canonical form (dtypes as `DType`, shapes as tuples or None).
        name: a name for the node when tracing.

    Returns:
        A tensor, a list of tensors, a namedtuple of them, or None, by the op's outputs.
    """
    signature = op.signature
    if len(inputs) != len(signature.inputs):
        wanted = ", ".join(argument.name for argument in signature.inputs)
        raise TypeError(f"{op.name} takes {len(signature.inputs)} inputs ({wanted}), got {len(inputs)}.")
    if len(attrs) != len(op.attribute_names):
        attrs = complete(op, attrs)
    elif attrs and attrs is not op.defaults:
        attrs = checked(op, attrs)
    mode = context.mode
    try:
        tensors, types = convert_inputs(op, inputs)
        if mode is not None and mode.graph is not None:
            outputs = mode.graph.add_node(op, tensors, attrs, types, name)
        elif mode is not None and mode.elsewhere:
            outputs = _placement.run(op, tensors, attrs, types, mode.device)
        else:
            outputs = run_kernel(op, tensors, attrs, types)
    except Exception as error:
        _accounts.note(error, op, zip((argument.name for argument in signature.inputs), inputs))
        raise
    if mode is not None:
        finish(mode, op, tensors, outputs, attrs)
    if len(outputs) == 1:
        return outputs[0]
    if outputs:
        return op.result_type(*outputs)
    return None if mode is None or mode.graph is None else mode.graph.nodes[-1]


def complete(op, attrs):
    """Fill in defaults, and complain about what is missing or unknown."""
    if not attrs and len(op.defaults) == len(op.attribute_names):
        return op.defaults
    for name in attrs:
        if name not in op.attribute_names:
            raise TypeError(f"{op.name} has no attribute {name!r}; it has {sorted(op.attribute_names)}.")
    attrs = {**op.defaults, **attrs}
    for attribute in op.signature.attributes:
        if attribute.default is REQUIRED and attribute.name not in attrs:
            raise TypeError(f"{op.name}: the attribute {attribute.name!r} is missing.")
    return checked(op, attrs)


def convert_inputs(op, inputs):
    """The inputs as tensors (lists for list inputs) and the type attributes read off them."""
    arguments = op.signature.inputs
    types = {}
    tensors = []
    for argument, value in zip(arguments, inputs):
        # The short way, as long as everything is an eager tensor or a list of ints for an index.
        kind = type(value)
        if kind is not EagerTensor:
            if (kind is tuple or kind is list) and op.types.get(argument.type_attr) is dtypes.INDEX:
                value = int_vector(value)
            elif (kind is float or kind is int) and argument.type_attr in types:
                value = eager_number(value, types[argument.type_attr])
            elif getattr(kind, "reads_as_tensor", False):
                value = value.value()
            else:
                break
        if argument.is_list or type(value) is not EagerTensor:
            break
        attr = argument.type_attr
        if attr is None:
            if value.dtype is not argument.dtype:
                break
        elif attr not in types:
            if attr in op.types and value.dtype not in op.types[attr]:
                break
            types[attr] = value.dtype
        elif types[attr] is not value.dtype:
            break
        tensors.append(value)
    else:
        return tensors, types
    types = {}
    inputs = [x.value() if getattr(type(x), "reads_as_tensor", False) else x for x in inputs]
    for argument, value in zip(arguments, inputs):
        if argument.type_attr is not None and not argument.type_list and argument.type_attr not in types:
            dtype = _own_dtype(value, argument.is_list)
            if dtype is not None:
                types[argument.type_attr] = dtype
    tensors = []
    for argument, value in zip(arguments, inputs):
        if argument.type_list:
            tensors.append([_input_tensor(op, argument, item) for item in _sequence(op, argument, value)])
            types[argument.type_attr] = [tensor.dtype for tensor in tensors[-1]]
        elif argument.is_list:
            items = _sequence(op, argument, value)
            tensors.append([_convert(op, argument, item, types, inputs) for item in items])
            types[argument.number_attr] = len(items)
        else:
            tensors.append(_convert(op, argument, value, types, inputs))
    _check_types(op, tensors, types)
    return tensors, types


def _check_types(op, tensors, types):
    """Refuse what the type attributes may not be. After all conversions: what cannot become a tensor is said first."""
    for attr, dtype in types.items():
        allowed = op.types.get(attr)
        if allowed is None or not isinstance(dtype, dtypes.DType) or dtype in allowed:
            continue
        inputs = " and ".join(argument.name for argument in op.signature.inputs if argument.type_attr == attr)
        names = ", ".join(sorted(dtype.name for dtype in allowed))
        raise errors.DTypeMismatchError(
            None,
            None,
            f"{op.name}: {inputs} must be one of {names}, got {dtype.name}. "
            f"Cast it with tf.cast. [Op:{op.name}]",
        )


def _sequence(op, argument, value):
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{op.name}: {argument.name} must be a list of tensors, got {type(value).__name__}.")
    return value


def _own_dtype(value, is_list):
    if type(value) is EagerTensor:
        return value.dtype
    if is_list:
        if isinstance(value, (list, tuple)):
            for item in value:
                dtype = _own_dtype(item, False)
                if dtype is not None:
                    return dtype
        return None
    if isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__"):
        dtype = getattr(value, "dtype", None)
        return dtype if isinstance(dtype, dtypes.DType) else None
    if isinstance(value, CompositeTensor):
        return getattr(value, "dtype", None)
    return None


def _convert(op, argument, value, types, inputs):
    if argument.dtype is not None:
        wanted = argument.dtype
        if isinstance(value, Tensor):
            if value.dtype is wanted:
                return value
            raise _mismatch(op, argument, wanted, value.dtype, inputs)
        if wanted is dtypes.int32:
            _check_int32(op, argument, value)
        return _input_tensor(op, argument, value, dtype=wanted)
    attr = argument.type_attr
    wanted = types.get(attr)
    if type(value) is EagerTensor:
        tensor = value
    else:
        hint = wanted if wanted is not None else _integer_hint(op, attr, value)
        tensor = _input_tensor(op, argument, value, hint=hint)
    allowed = op.types.get(attr)
    if wanted is None:
        if allowed == dtypes.INDEX and isinstance(value, (list, tuple)) and tensor.dtype not in allowed:
            # TF: the scalar tensors in a list of sizes are cast, also floating ones.
            tensor = _input_tensor(op, argument, value, dtype=dtypes.int32) if value and _has_tensors(value) else tensor
        wanted = types[attr] = tensor.dtype
    elif tensor.dtype is not wanted:
        raise _mismatch(op, argument, wanted, tensor.dtype, inputs)
    return tensor


def _has_tensors(sequence):
    return any(isinstance(item, Tensor) for item in sequence)


def _check_int32(op, argument, value):
    """Refuse integers that do not fit into the dtype. (`tf.constant` drops their high bits instead.)"""
    for number in value if type(value) in (list, tuple) else (value,):
        if type(number) is int and not -(2**31) <= number < 2**31 and -(2**63) <= number < 2**64:
            raise errors.invalid_argument(
                f"{op.name}: {argument.name} must be int32, which cannot hold {number}. [Op:{op.name}]"
            )


def _integer_hint(op, attr, value):
    """int32 if integers are expected and the value is an empty list (the shape of a scalar) or floating; else None."""
    for _ in range(MAX_RANK):  # a list may hold itself
        if not isinstance(value, (list, tuple)):
            # TF: sizes may be floating tensors in a list, or a floating array; a floating tensor is refused.
            dtype = getattr(value, "dtype", None)
            if dtype is not None and op.types.get(attr) == dtypes.INDEX and _is_floating(dtype):
                return dtypes.int32
            return None
        if not value:
            allowed = op.types.get(attr, dtypes.ANY)
            return dtypes.int32 if dtypes.int32 in allowed and dtypes.float32 not in allowed else None
        value = value[0]
    return None


def _is_floating(dtype):
    own = dtypes.FROM_NUMPY.get(dtype) if isinstance(dtype, np.dtype) else dtype
    return isinstance(own, dtypes.DType) and own._kind == "f"


def _input_tensor(op, argument, value, dtype=None, hint=None):
    try:
        tensor = to_tensor(value, dtype, hint)
    except (TypeError, ValueError) as error:
        # The same exception object, with its traceback; only its message is extended by where it happened.
        if error.args and isinstance(error.args[0], str) and not isinstance(error, errors.DTypeMismatchError):
            error.args = (f"{op.name}: {argument.name}: {error.args[0]}", *error.args[1:])
            if isinstance(error, errors.OpError):
                error._message = error.args[0]
        raise
    if isinstance(tensor, CompositeTensor):
        raise TypeError(f"{op.name}: {argument.name} must be a dense tensor, got {type(tensor).__name__}.")
    return tensor


def _mismatch(op, argument, wanted, got, inputs):
    alike = [(x, value) for x, value in zip(op.signature.inputs, inputs) if x.type_attr == argument.type_attr]
    # Which argument decided: the first that has a dtype of its own, or else the first.
    deciding = next((x.name for x, value in alike if _own_dtype(value, x.is_list) is wanted), alike[0][0].name)
    reason = "" if argument.dtype is not None or deciding == argument.name else f" ({deciding} is {wanted.name})"
    numpys = ""
    if {wanted, got} == {dtypes.float32, dtypes.float64}:
        numpys = " (NumPy's floating arrays are float64: tf.constant(array, tf.float32))"
    advice = f"Cast one of them with tf.cast{numpys}."
    if dtypes.string in (wanted, got):
        advice = "tf.strings.as_string makes texts of numbers, tf.strings.to_number numbers of texts."
    return errors.DTypeMismatchError(
        f"cannot compute {op.name}: {argument.name} was expected to be a {wanted.name} tensor but is a "
        f"{got.name} tensor{reason}. {advice} [Op:{op.name}]"
    )


def run_kernel(op, tensors, attrs, types):
    """Run the kernel on eager tensors; returns the tuple of outputs, a list for each output that is one."""
    try:
        arrays = [
            [item._a for item in tensor] if type(tensor) is list else tensor._a for tensor in tensors
        ] if op.has_lists else [tensor._a for tensor in tensors]
    except AttributeError:
        symbolic = next(tensor for tensor in _spread(tensors) if type(tensor) is not EagerTensor)
        raise symbolic._out_of_scope() from None
    try:
        if op.quiet:
            kernel = op.eager_kernel
            if op.large_kernel is not kernel and any(array.size > MANY for array in arrays):
                kernel = op.large_kernel
            results = run_quietly(kernel, *arrays, **attrs)
        else:
            results = op.eager_kernel(*arrays, **attrs)
    except Exception as error:
        raise kernel_error(op, tensors, error) from None
    if op.single_output:
        return (_wrap(op, results, output_types(op.signature.outputs[0], attrs, types)),)
    if op.number_of_outputs == 1:
        results = (list(results),)
    outputs = []
    for argument, result in zip(op.signature.outputs, results if results is not None else ()):
        if argument.type_list:
            outputs.append(
                [_wrap(op, item, dtype) for item, dtype in zip(result, output_types(argument, attrs, types))]
            )
        elif argument.is_list:
            dtype = output_types(argument, attrs, types)
            outputs.append([_wrap(op, item, dtype) for item in result])
        else:
            outputs.append(_wrap(op, result, output_types(argument, attrs, types)))
    return tuple(outputs)


def output_types(argument, attrs, types):
    """The dtype of an output (a list of dtypes for a type list)."""
    if argument.dtype is not None:
        return argument.dtype
    attr = argument.type_attr
    return types[attr] if attr in types else attrs[attr]


def _wrap(op, array, dtype):
    if type(array) is not _ndarray:
        array = as_array(array, dtype)
    elif array.dtype is not dtype._np:
        check_dtype(op, array, dtype)
    return EagerTensor(array, dtype)


def as_array(value, dtype):
    """A kernel's scalar as an array."""
    if dtype._np.hasobject:
        array = np.empty((), object)
        array[()] = value
        return array
    array = _asarray(value)
    if array.dtype is not dtype._np and array.dtype != dtype._np:
        raise errors.InternalError(None, None, f"A kernel returned {array.dtype} where {dtype.name} is due.")
    return array


def check_dtype(op, array, dtype):
    """Refuse what a wrong kernel returns, rather than let a tensor lie about its dtype."""
    if array.dtype != dtype._np:
        raise errors.InternalError(
            None, None, f"The kernel of {op.name} returned {array.dtype} where {dtype.name} is due."
        )


def kernel_error(op, tensors, error, given=None):
    """The error to raise for what a kernel raised: of TensorFlow's class, naming the op and its arguments.

    Args:
        op: the op.
        tensors: its inputs.
        error: what the kernel raised.
        given: what the caller gave as inputs, if it is known here.
    """
    raised = _of_class(op, tensors, error)
    if given is not None:
        _accounts.note(raised, op, zip((argument.name for argument in op.signature.inputs), given))
    return raised


def _of_class(op, tensors, error):
    if isinstance(error, errors.OpError):
        error._message = _told(op, tensors, error.message)
        return error
    text = str(error)
    if errors.is_out_of_memory(error):
        return errors.ResourceExhaustedError(None, None, _told(op, tensors, f"out of memory: {text}"))
    if isinstance(error, (ValueError, LookupError, ArithmeticError)) and op.quiet:
        if "could not be broadcast" in text or "shape mismatch" in text:
            text = "Incompatible shapes: " + " vs. ".join(_given(op, tensors))
        return errors.InvalidArgumentError(None, None, _told(op, tensors, text))
    return error


def _told(op, tensors, text):
    """The text, with the op's name before it and the arguments and their shapes after it, unless it has them."""
    mark = f"[Op:{op.name}]"
    if text.endswith(mark):
        return text
    if not text.startswith(f"{op.name}:"):
        text = f"{op.name}: {text}"
    names = [x.name for x in (*op.signature.inputs, *op.signature.attributes)]
    if names and not re.search(rf"\b({'|'.join(names)})\b", text):
        shapes = _given(op, tensors)
        if not shapes:
            text = f"{text.rstrip('. ')}. Got attributes {', '.join(names)}."
        elif not all(told.endswith(" ()") for told in shapes):  # that everything is a scalar explains nothing
            text = f"{text.rstrip('. ')}. Got {', '.join(shapes)}."
    return f"{text} {mark}"


def _given(op, tensors):
    return [f"{argument.name} {_shape_text(value)}" for argument, value in zip(op.signature.inputs, tensors)]


def _shape_text(value):
    """The shape of a tensor, or of each tensor of a list."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_shape_text(x) for x in value[:6]) + (", ..." if len(value) > 6 else "") + "]"
    return str(value.shape)


def finish(mode, op, inputs, outputs, attrs):
    """What follows the kernel or node outside plain eager execution: tapes, and the device's name."""
    if mode.recorders and op.grad is not None:
        if op.is_plain:
            flat, flat_outputs = inputs, outputs
        else:
            flat, flat_outputs = _spread(inputs), _spread(outputs)
        if len(flat) == 2:
            ids = (flat[0]._id, flat[1]._id)
        else:
            ids = tuple([tensor._id for tensor in flat])
        node = None
        for recorder in mode.recorders:
            if not recorder.ids.isdisjoint(ids):
                if node is None:
                    node = op.make_node(inputs, outputs, attrs)
                    if mode.graph is not None:
                        node.scope = _scope_of(op, flat_outputs)
                recorder.record(node, flat, ids, flat_outputs)
    if mode.device is not None and not mode.elsewhere:
        for tensor in _spread(outputs):
            tensor._device = mode.device


def _scope_of(op, outputs):
    """The scope in which an operation was made. TF: one of a Python function, such as `tf.matmul`, has its own."""
    operation = getattr(outputs[0], "op", None) if outputs else None
    if operation is None:
        return None
    own = op.node_name != op.name or MATRIX_PRODUCT in op.traits
    return operation.name if own else operation.name.rpartition("/")[0]


def _spread(values):
    """Tensors and lists of tensors as one list."""
    flat = []
    for value in values:
        flat.extend(value) if type(value) is list else flat.append(value)
    return flat
