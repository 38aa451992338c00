"""Running a dataset program with any `tf`, and what came of it as plain data."""

import ast
import collections
import linecache
import warnings

import numpy as np

LONGEST = 30  # elements of a dataset that are looked at


def names(tf):
    """What programs may use."""
    dataset = tf.data.Dataset
    return {
        "tf": tf,
        "np": np,
        "D": dataset,
        "E": tf.data.experimental,
        "R": dataset.range,
        "S": dataset.from_tensor_slices,
        "T": dataset.from_tensors,
        "I": np.int64,
        "V": lambda n: dataset.range(n).map(lambda x: tf.fill([x], x)),  # vectors of lengths 0, 1, 2 ...
    }


def value_of(tf, code):
    """The value of the last expression of a program."""
    file = f"<dataset program {abs(hash(code))}>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)  # AutoGraph reads it
    tree = ast.parse(code, file)
    last = ast.Expression(tree.body.pop().value)
    space = names(tf)
    tf.random.set_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(tree, file, "exec"), space)
        return eval(compile(last, file, "eval"), space)


def result_of(tf, code):
    """What a program gives: its value as plain data, or the class of the exception."""
    try:
        value = value_of(tf, code)
    except Exception as error:
        return {"raises": class_name(error)}
    return plain(tf, value)


def class_name(error):
    """The public class of an exception."""
    kinds = [kind.__name__ for kind in type(error).__mro__ if not kind.__name__.startswith("_")]
    if kinds[0] == "GraphBuildError":  # InvalidArgumentError as well, but TensorFlow says ValueError
        return "ValueError"
    return next(kind for kind in kinds if kind not in ("DTypeMismatchError",))


def elements_of(tf, iterator, count=LONGEST):
    """Elements as plain data; an exception ends them."""
    found = []
    while len(found) < count:
        try:
            found.append(plain(tf, next(iterator)))
        except StopIteration:
            break
        except Exception as error:
            found.append({"raises": class_name(error)})
            break
    return found


def plain(tf, value):
    """A value as dicts, lists, strings and numbers."""
    if isinstance(value, tf.data.Dataset):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {
                "dataset": type(value).__name__ if hasattr(value, "_variant_tensor") else "",
                "spec": _printed(value.element_spec),
                "size": int(value.cardinality()),
                "elements": elements_of(tf, iter(value)),
                "again": elements_of(tf, iter(value)),
            }
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, tf.RaggedTensor):
        return {"ragged": plain(tf, value.to_list()), "type": value.dtype.name, "rank": value.ragged_rank}
    if isinstance(value, tf.SparseTensor):
        return {"sparse": [plain(tf, part) for part in (value.indices, value.values, value.dense_shape)]}
    if isinstance(value, tf.experimental.Optional):
        return {"optional": plain(tf, value.get_value()) if value.has_value() else None}
    if isinstance(value, dict):
        return {"dict": {str(key): plain(tf, part) for key, part in value.items()}}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [plain(tf, part) for part in value]}
    if type(value).__name__.endswith("NestedVariant"):  # datasets in a batch
        return {"datasets": str(value._type_spec)}
    if isinstance(value, tf.DType):
        return value.name
    if isinstance(value, tf.TypeSpec) or isinstance(value, tf.TensorShape) or isinstance(value, type):
        return str(value)
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype.kind == "S":
        array = array.astype(object)
    items = array.ravel().tolist()
    if array.dtype == object:
        items = [item.decode("latin-1") if isinstance(item, bytes) else item for item in items]
    return {"type": str(array.dtype), "shape": list(array.shape), "values": items}


def _printed(spec):
    """A spec as it prints; an OrderedDict as Python 3.11 prints it, on which results are recorded."""
    if type(spec) is collections.OrderedDict:
        return f"OrderedDict([{', '.join(f'({key!r}, {_printed(part)})' for key, part in spec.items())}])"
    return str(spec)


def same(a, b):
    """Whether two results are equal; floats need only be close."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-6 * max(abs(a), abs(b)) or (a != a and b != b)
    return type(a) is type(b) and a == b
