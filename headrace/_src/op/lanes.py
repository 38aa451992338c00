"""Writes, for each op that makes one tensor of single tensors, the short way of applying it to eager tensors.

For `Sum` ("input: T, reduction_indices: Tidx, *, keep_dims: bool -> output: T") the way begins with

    def lane(args, attrs, name):
        mode = context.mode
        if mode is not None and mode.elsewhere: return apply(op, args, attrs, name)
        try: x0, x1, = args
        except ValueError: return apply(op, args, attrs, name)
        if type(x1) is not EagerTensor: x1 = index(x1)
        if type(x0) is not EagerTensor or (x0.dtype is not common0 and x0.dtype not in types0) or x1 is None or ...:
            return apply(op, args, attrs, name)
        given, args = args, (x0, x1, )
        if len(attrs) != 1: attrs = complete(op, attrs)
        elif type(attrs['keep_dims']) is not bool: attrs = checked(op, attrs)
        dtype = x0.dtype

and goes on as `_RUN`, `_RECORD` and `_END` below. This is the hottest code in the project: a loop over the inputs, or
a function for each part, would cost as much as all the rest.
"""

from headrace._src.core import dtypes
from headrace._src.core.context import context, quiet_runner, run_quietly
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.attributes import USUAL
from headrace._src.op.convert import eager_number, int_vector

_ELSE = "return apply(op, args, attrs, name)"

# From so many elements on, functions may take several threads: exp of so many takes 0.1 ms of one thread, and to wake
# another takes a third of that.
MANY = 1 << 18

_RUN = """
    try:
        out = run(KERNEL, ARRAYS)
    except Exception as error:
        if type(error) is not RuntimeError or not in_use(error):
            raise kernel_error(op, args, error, GIVEN) from None
        try:
            out = run_quietly(KERNEL, ARRAYS)
        except Exception as error:
            raise kernel_error(op, args, error, GIVEN) from None
    if type(out) is not ndarray:
        out = as_array(out, dtype)
    elif out.dtype is not dtype._np:
        check_dtype(op, out, dtype)
    tensor = new(EagerTensor)  # the call of a class takes longer
    tensor._a = out
    tensor._id = None
    tensor.dtype = dtype
    if mode is None:
        return tensor
"""
_RECORD = """
    ids = IDS
    for recorder in mode.recorders:
        if not recorder.ids.isdisjoint(ids):
            recorder.record_one(op.make_node(args, (tensor,), attrs), ids, tensor)
"""
_END = """
    if mode.device is not None:
        tensor._device = mode.device
    return tensor
"""


def write_lane(op, names):
    """`lane(args, attrs, name)`, which applies the op; `names` are the functions of apply.py that it calls."""
    apply = names["apply"]
    if not op.is_plain or not op.quiet:
        return lambda args, attrs, name: apply(op, args, attrs, name)
    inputs, output = op.signature.inputs, op.signature.outputs[0]
    names = names | {
        "op": op, "context": context, "EagerTensor": EagerTensor, "new": object.__new__, "index": _index,
        "run": quiet_runner(), "in_use": _in_use, "run_quietly": run_quietly,
        "fixed": output.dtype, "__name__": __name__, "DType": dtypes.DType,
        **{f"all_{kind.__name__}": frozenset({kind}).issuperset for kind in USUAL.values()},
    }  # fmt: skip

    def each(text):
        return "".join(text.format(i=i) for i in range(len(inputs)))

    lines = ["mode = context.mode", f"if mode is not None and mode.elsewhere: {_ELSE}"]
    lines += [f"try: {each('x{i}, ') or '[]'} = args", f"except ValueError: {_ELSE}"]
    refused, converted = [], []
    first = {}  # type attribute to the first input that has it
    for i, x in enumerate(inputs):
        allowed = frozenset({x.dtype}) if x.type_attr is None else op.types.get(x.type_attr, dtypes.ANY)
        if allowed is dtypes.INDEX:  # a list of ints will do
            lines.append(f"if type(x{i}) is not EagerTensor: x{i} = index(x{i})")
            converted = [f"given, args = args, ({each('x{i}, ')})"]
            refused.append(f"x{i} is None")
        else:
            refused.append(f"type(x{i}) is not EagerTensor")
        if x.type_attr in first:
            refused.append(f"x{i}.dtype is not x{first[x.type_attr]}.dtype")
        else:
            names[f"types{i}"], names[f"common{i}"] = allowed, dtypes.commonest(allowed)
            refused.append(f"(x{i}.dtype is not common{i} and x{i}.dtype not in types{i})")
            if x.type_attr is not None:
                first[x.type_attr] = i
    if refused:
        lines.append(f"if {' or '.join(refused)}: {_ELSE}")
    lines += converted
    incomplete = f"len(attrs) != {len(op.attribute_names)}" if op.attribute_names else "attrs"
    lines.append(f"if {incomplete}: attrs = complete(op, attrs)")
    unusual = [_unusual(op, attribute, names) for attribute in op.signature.attributes]
    if any(unusual):
        lines.append(f"elif {' or '.join(filter(None, unusual))}: attrs = checked(op, attrs)")
    if output.dtype is not None:
        lines.append("dtype = fixed")
    elif output.type_attr in first:
        lines.append(f"dtype = x{first[output.type_attr]}.dtype")
    else:
        lines.append(f"dtype = attrs[{output.type_attr!r}]")
    given = "".join(f"{name}=attrs[{name!r}], " for name in sorted(op.attribute_names))
    kernel, arrays = "op.eager_kernel", each("x{i}._a, ")
    if op.large_kernel is not op.eager_kernel:
        lines += [f"a{i} = x{i}._a" for i in range(len(inputs))]
        sizes = " or ".join(f"a{i}.size > {MANY}" for i in range(len(inputs)))
        lines.append(f"kernel = op.large_kernel if {sizes} else op.eager_kernel")
        kernel, arrays = "kernel", each("a{i}, ")
    run = _RUN.replace("KERNEL", kernel).replace("ARRAYS", arrays + given)
    run = run.replace("GIVEN", "given" if converted else "args")
    text = "\n    ".join(["def lane(args, attrs, name):", *lines]) + run
    if op.grad is not None:
        text += _RECORD.replace("IDS", f"({each('x{i}._id, ')})")
    # Only names from our own signatures; a file name by which tracebacks know it as ours.
    exec(compile(text + _END, f"{__file__}:{op.name}", "exec"), names)
    return names["lane"]


def _unusual(op, attribute, names):
    """The text of a test whether the attribute needs a closer look; None if it never does."""
    value, kind = f"attrs[{attribute.name!r}]", attribute.kind
    if kind == "type" and attribute.name in op.types:
        names[f"types_{attribute.name}"] = op.types[attribute.name]
        return f"type({value}) is not DType or {value} not in types_{attribute.name}"
    if kind in USUAL:
        return f"type({value}) is not {USUAL[kind].__name__}"
    if kind == "shape":
        return f"({value} is not None and type({value}) is not tuple)"
    if not kind.startswith("list("):
        return None
    no_list = f"type({value}) is not list and type({value}) is not tuple"
    usual = USUAL.get(kind[5:-1])
    return f"({no_list})" if usual is None else f"({no_list}) or not all_{usual.__name__}(map(type, {value}))"


def _in_use(error):
    """Whether the runner of a lane is taken, by another thread or by a call that this one interrupts."""
    return str(error).startswith("cannot enter context")


def _index(value):
    """A list or tuple of ints, or an int, as a tensor."""
    kind = type(value)
    if kind is tuple or kind is list:
        return int_vector(value)
    return eager_number(value, dtypes.int32) if kind is int else None
