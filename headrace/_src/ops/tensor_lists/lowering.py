"""Lists of tensors in compiled programs: an array with room for all elements, and a length.

Only bounded lists whose elements have one shape can be lowered; `NotLowerable` is raised for all others, and what uses
them stays interpreted. What is known while compiling is given as NumPy arrays (the length of a reserved list, the
declared shape), so that it can be a static input of what follows.
"""

import functools

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import jax, jnp, lax
from headrace._src.op.lowering import NotLowerable
from headrace._src.ops.tensor_lists.values import fits, is_full, merged, shape_text

# The elements of a list that has none.
NOTHING = "nothing"
# How many numbers an element has at most that is told from others while compiling.
_FEW = 16


class LoweredList:
    """A list of at most `capacity` elements.

    Attributes:
        array: of shape [capacity, *element shape], zeros where nothing is set; None as long as nothing is set. Behind
            the length there may be anything.
        length: an int, or where it depends on data a jax scalar.
        bounded: whether `capacity` is the list's max_num_elements, so that pushing more is an error.
        written: whether the shape of unset elements is known, as it is once one is set: a bool or a jax scalar.
        change: (index, element) instead of an array when one single element is set. A gradient of such a list is
            added up without adding zeros to all other elements.
        same: what all elements are, where that is known while compiling: shapes that the gradient of a loop will need.
            `NOTHING` as long as there are none, None where they may differ.
        cleared: for each element whether it is zero, whatever the array has there; None: none is. So the backward loop
            of a list that a loop has written leaves the array as it is, which XLA would copy in each iteration.
    """

    __slots__ = ("array", "bounded", "capacity", "change", "cleared", "declared", "dtype", "length", "same", "written")

    def __init__(
        self, dtype, declared, capacity, length, array=None, written=False, change=None, bounded=False, same=None,
        cleared=None,
    ):  # fmt: skip
        _register()
        self.dtype = dtype
        self.declared = declared
        self.capacity = capacity
        self.length = length
        self.array = array
        self.written = written
        self.change = change
        self.bounded = bounded
        self.same = same
        self.cleared = cleared

    def replace(self, **fields):
        """A list with other parts. Of another array, nothing else is known."""
        if "array" in fields or "change" in fields:
            fields = {"same": None, "cleared": None} | fields
        return LoweredList(**({name: getattr(self, name) for name in self.__slots__} | fields))

    @property
    def element_shape(self):
        """The shape of the elements, as far as it is known."""
        if self.array is not None:
            return self.array.shape[1:]
        return self.declared if self.change is None else self.change[1].shape

    def full(self, shape=None):
        """The same list with an array; `shape` says what the elements' shape is when the list does not know it."""
        return self._with_array(shape).plain()

    def _with_array(self, shape):
        if self.array is not None:
            known = self
        elif self.change is not None:
            index, element = self.change
            zeros = jnp.zeros((self.capacity, *element.shape), self.dtype)
            known = self.replace(array=_updated(zeros, element, index), change=None)
        elif is_full(self.declared) or is_full(shape):
            own = self.declared if is_full(self.declared) else shape
            known = self.replace(array=jnp.zeros((self.capacity, *own), self.dtype), same=self.same)
        else:
            raise NotLowerable("a list of tensors whose shape is not known")
        if shape is not None and not fits(known.array.shape[1:], shape):
            raise NotLowerable(
                f"a list with elements of shape {known.array.shape[1:]} where {shape_text(shape)} is due"
            )
        return known

    def plain(self):
        """The same list with zeros in the array wherever elements are zero."""
        if self.cleared is None:
            return self
        cleared = jnp.reshape(self.cleared, (-1, *[1] * (self.array.ndim - 1)))
        return self.replace(array=jnp.where(cleared, jnp.zeros((), self.dtype), self.array), same=self.same)

    def __add__(self, other):
        if not isinstance(other, LoweredList):
            return NotImplemented
        self, other = self.plain(), other.plain()
        declared = merged(self.declared, other.declared)
        if declared is False or self.dtype != other.dtype or self.capacity != other.capacity:
            raise NotLowerable("the sum of lists of different shapes")
        if isinstance(self.length, int) and isinstance(other.length, int) and self.length != other.length:
            raise NotLowerable("the sum of lists of different lengths")
        length = self.length if isinstance(self.length, int) else other.length
        written = _either(self.written, other.written)
        # Each is an array, a single element, or nothing but zeros.
        few, many = (self, other) if self.array is None else (other, self)
        if few.array is None and few.change is None:
            return many.replace(declared=declared, length=length, written=written)
        if few.change is not None:
            index, element = few.change
            many = many.full(element.shape)
            array = many.array.at[index].add(element, mode="drop")
            return many.replace(array=array, declared=declared, length=length, written=written)
        if few.array.shape != many.array.shape:
            raise NotLowerable("the sum of lists of different shapes")
        return many.replace(array=few.array + many.array, declared=declared, length=length, written=written)

    def zeros_like(self):
        """Zeros for all elements."""
        if self.element_shape is None or not is_full(self.element_shape):
            return self
        zeros = jnp.zeros((self.capacity, *self.element_shape), self.dtype)
        return self.replace(array=zeros, change=None)


@functools.cache
def _register():
    jax.tree_util.register_pytree_node(LoweredList, _flatten, _unflatten)


def _flatten(value):
    if value.array is None and (value.change is not None or is_full(value.declared)):
        value = value.full()
    leaves = {"array": value.array, "length": value.length, "written": value.written, "cleared": value.cleared}
    known = {name: leaf for name, leaf in leaves.items() if leaf is None or isinstance(leaf, (bool, int))}
    traced = {name: leaf for name, leaf in leaves.items() if name not in known}
    known["bounded"], known["same"] = value.bounded, value.same
    fixed = (value.dtype, value.declared, value.capacity, tuple(traced), tuple(known.items()))
    return tuple(traced.values()), fixed


def _unflatten(fixed, leaves):
    dtype, declared, capacity, names, known = fixed
    return LoweredList(dtype, declared, capacity, **dict(zip(names, leaves)), **dict(known))


def alike(*lists):
    """The lists with the same structure, as the branches of a conditional and the carried values of a loop must be.

    What one of them knows the others learn: an array where one has it, and a length that depends on data when not all
    have the same. A loop applies this to a list before and after its body, and traces the body again until nothing
    changes.

    Raises:
        NotLowerable: when they have different capacities, dtypes or element shapes.
    """
    first = lists[0]
    if any(x.dtype != first.dtype or x.capacity != first.capacity for x in lists):
        raise NotLowerable("lists of different capacities or dtypes where one is due")
    shapes = [x.element_shape for x in lists if is_full(x.element_shape)]
    declared = functools.reduce(_common, (x.declared for x in lists))
    if shapes:
        lists = [x._with_array(shapes[0]) for x in lists]
    if any(x.cleared is not None for x in lists):
        none = jnp.zeros(first.capacity, bool)
        lists = [x if x.cleared is not None else x.replace(cleared=none) for x in lists]
    if not all(isinstance(x.length, int) and x.length == first.length for x in lists):
        lists = [x.replace(length=concrete(x.length, jnp.int32)) for x in lists]
    if not all(isinstance(x.written, bool) and x.written == first.written for x in lists):
        lists = [x.replace(written=jnp.asarray(x.written, bool)) for x in lists]
    found = {x.same for x in lists} - {NOTHING}
    same = NOTHING if not found else found.pop() if len(found) == 1 else None
    return [x.replace(declared=declared, bounded=first.bounded, same=same) for x in lists]


def _common(a, b):
    """What is true of two declared shapes."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(m if m == n else None for m, n in zip(a, b))


def _either(a, b):
    if a is True or b is True:
        return True
    if a is False:
        return b
    return a if b is False else jnp.logical_or(a, b)


# Values that are known while compiling.


def concrete(value, dtype=None):
    """A value as a jax one; a number that is known while compiling stays known."""
    with jax.ensure_compile_time_eval():
        return jnp.asarray(value, dtype)


def known(value):
    """A NumPy array, when the value is known while compiling; None otherwise."""
    if isinstance(value, (np.ndarray, np.generic, int)):
        return np.asarray(value)
    if isinstance(value, jax.core.Tracer):
        return None
    return np.asarray(value)


def _shape(element_shape):
    """What an element_shape argument says; None also when that is not known while compiling."""
    value = known(element_shape)
    if value is None or value.ndim == 0:
        return None
    return tuple(None if n == -1 else n for n in value.ravel().tolist())


def _declared(element_shape, real):
    """What a list of elements of a `real` shape declares."""
    if element_shape.ndim == 0:
        return None
    return real if known(element_shape) is None else _shape(element_shape)


def _number(value, what):
    value = known(value)
    if value is None:
        raise NotLowerable(f"a list with {what} that is not known beforehand")
    return int(value)


def _updated(array, element, index):
    if not array.shape[0]:
        return array  # in a loop that never runs
    return lax.dynamic_update_index_in_dim(array, element, index, 0)


def _check_element(target, element):
    if element.dtype != target.dtype or not fits(element.shape, target.declared):
        # The interpreter raises the error.
        raise NotLowerable("an element of wrong dtype or shape")


def _check_dtype(target, element_dtype):
    if target.dtype != element_dtype._np:
        raise NotLowerable("elements of wrong dtype")


def _numeric(dtype):
    if dtype == object:
        raise NotLowerable("a list of strings or variants")
    return dtype


# The ops.


def empty(ctx, element_shape, max_num_elements, element_dtype):
    capacity = _number(max_num_elements, "a size")
    if capacity < 0:
        raise NotLowerable("a list without max_num_elements")
    shape = _shape(element_shape)
    return LoweredList(
        _numeric(element_dtype._np), shape, capacity, 0, written=is_full(shape), bounded=True, same=NOTHING
    )


def reserve(ctx, element_shape, num_elements, element_dtype):
    count = _number(num_elements, "a size")
    if count < 0:
        raise NotLowerable("a list of negative size")
    shape = _shape(element_shape)
    return LoweredList(_numeric(element_dtype._np), shape, count, count, written=is_full(shape))


def length(ctx, input_handle):
    count = input_handle.length
    return np.array(count, np.int32) if isinstance(count, int) else count


def element_shape(ctx, input_handle, shape_type):
    shape = input_handle.declared
    return np.array(-1 if shape is None else [-1 if n is None else n for n in shape], shape_type._np)


def push_back(ctx, input_handle, tensor):
    target = input_handle
    _check_element(target, tensor)
    at = target.length
    message = f"TensorListPushBack: Tried to push item into a full list. max_num_elements: {target.capacity}."
    target = target.full(tensor.shape)
    if isinstance(at, int):
        if at >= target.capacity:
            if target.bounded:
                raise NotLowerable("a push into a full list")
            room = jnp.zeros((at + 1 - target.capacity, *tensor.shape), target.dtype)
            target = target.replace(array=jnp.concatenate([target.array, room]), capacity=at + 1)
    elif target.bounded:
        ctx.check(at < target.capacity, errors.InvalidArgumentError, message)
    else:
        raise NotLowerable("a push onto a list without max_num_elements, whose length depends on data")
    same = _identity(tensor) if target.same in (NOTHING, _identity(tensor)) else None
    return target.replace(array=_updated(target.array, tensor, at), length=at + 1, written=True, same=same)


def _identity(element):
    """By what equal elements are known while compiling; None for others than a few known integers."""
    if not isinstance(element, np.ndarray) or element.dtype.kind not in "iub" or element.size > _FEW:
        return None
    return element.dtype.str, element.shape, element.tobytes()


def pop_back(ctx, input_handle, element_shape, element_dtype):
    target = input_handle
    _check_dtype(target, element_dtype)
    at = target.length
    empty = isinstance(at, int) and at < 1
    if empty or not isinstance(at, int):
        ctx.check(
            jnp.asarray(False) if empty else at > 0, errors.InvalidArgumentError,
            "TensorListPopBack: Trying to pop from an empty list: input_handle.",
        )  # fmt: skip
    target = _readable(ctx, "TensorListPopBack", target, _shape(element_shape))
    if empty:  # in the body of a loop that never runs
        return target, jnp.zeros(target.array.shape[1:], target.array.dtype)
    if isinstance(target.same, tuple):
        dtype, shape, data = target.same
        return target.replace(length=at - 1), np.frombuffer(data, dtype).reshape(shape)
    last = lax.dynamic_index_in_dim(target.array, at - 1, 0, keepdims=False)
    # The element stays in the array, behind the end of the list: a loop that pops then never changes the array, which
    # XLA would otherwise copy in each iteration.
    return target.replace(length=at - 1), last


def _readable(ctx, op, target, asked):
    """The list with an array, from which elements of the shape that is asked for can be read."""
    readable = target.full(asked)
    if target.written is not True and not is_full(asked):
        # Something might be set only on a path that was not taken.
        ctx.check(
            target.written,
            errors.InvalidArgumentError,
            f"{op}: Trying to read an uninitialized tensor but element_shape is not fully defined: "
            f"{shape_text(target.declared)} and no list element is set.",
        )
    return readable


def set_item(ctx, input_handle, index, item, resize_if_index_out_of_bounds):
    target = input_handle
    _check_element(target, item)
    place = known(index)
    if place is not None and isinstance(target.length, int):
        if not 0 <= int(place) < target.length:
            raise NotLowerable("a list that grows, or an index out of bounds")
    elif resize_if_index_out_of_bounds:
        raise NotLowerable("a list that may grow (a TensorArray with dynamic_size=True)")
    else:
        ctx.check(
            (index >= 0) & (index < target.length),
            errors.InvalidArgumentError,
            "TensorListSetItem: index: Trying to modify an element outside of the list.",
        )
    if target.array is None and target.change is None:
        return target.replace(change=(index, item), written=True)
    if target.array is not None and target.capacity and ctx.is_zero(item):
        cleared = jnp.zeros(target.capacity, bool) if target.cleared is None else target.cleared
        return target.replace(cleared=cleared.at[index].set(True), written=True, same=None)
    target = target.full(item.shape)
    return target.replace(array=_updated(target.array, item, index), written=True)


def get_item(ctx, input_handle, index, element_shape, element_dtype):
    target = input_handle
    _check_dtype(target, element_dtype)
    ctx.check(
        (index >= 0) & (index < target.length),
        errors.InvalidArgumentError,
        "TensorListGetItem: index: Trying to access an element outside of the list.",
    )
    cleared = target.cleared
    target = _readable(ctx, "TensorListGetItem", target.replace(cleared=None), _shape(element_shape))
    if not target.capacity:
        return jnp.zeros(target.element_shape, target.dtype)
    item = lax.dynamic_index_in_dim(target.array, index, 0, keepdims=False)
    return item if cleared is None else jnp.where(cleared[index], jnp.zeros((), item.dtype), item)


def resize(ctx, input_handle, size):
    target = input_handle
    count = _number(size, "a size")
    if not isinstance(target.length, int):
        raise NotLowerable("a new size for a list whose length depends on data")
    if count < 0:
        raise NotLowerable("a list of negative size")
    if count == target.length and target.length == target.capacity:
        return target
    target = target.plain() if target.change is None else target.full()
    array = target.array
    if array is not None:
        array = array[: min(count, target.length)]
        array = jnp.pad(array, [(0, count - array.shape[0])] + [(0, 0)] * (array.ndim - 1))
    return target.replace(array=array, capacity=count, length=count)


def concat_lists(ctx, input_a, input_b, element_dtype):
    a, b = input_a, input_b
    _check_dtype(a, element_dtype)
    _check_dtype(b, element_dtype)
    if a.declared != b.declared or not isinstance(a.length, int) or not isinstance(b.length, int):
        raise NotLowerable("the concatenation of lists of different shapes, or of unknown lengths")
    shape = a.element_shape if is_full(a.element_shape) else b.element_shape
    a, b = a.full(shape), b.full(shape)
    array = jnp.concatenate([a.array[: a.length], b.array[: b.length]])
    count = a.length + b.length
    return a.replace(array=array, capacity=count, length=count, written=_either(a.written, b.written))


def _all_rows(ctx, op, target, asked, count=-1):
    """The elements as an array of [length, ...]."""
    target = _readable(ctx, op, target, asked)
    if isinstance(target.length, int):
        if count not in (-1, target.length):
            raise NotLowerable("a list of unexpected length")
        return target.array[: target.length]
    if count == -1 or count > target.capacity:
        raise NotLowerable("all elements of a list whose length depends on data")
    ctx.check(
        target.length == count,
        errors.InvalidArgumentError,
        f"{op}: num_elements: Operation expected a list with {count} elements.",
    )
    return target.array[:count]


def stack(ctx, input_handle, element_shape, element_dtype, num_elements):
    _check_dtype(input_handle, element_dtype)
    return _all_rows(ctx, "TensorListStack", input_handle, _shape(element_shape), num_elements)


def from_tensor(ctx, tensor, element_shape):
    declared = _declared_rows(tensor, element_shape)
    _numeric(tensor.dtype)
    count = tensor.shape[0]
    return LoweredList(np.dtype(tensor.dtype), declared, count, count, jnp.asarray(tensor), written=True)


def _declared_rows(tensor, element_shape):
    """The declared shape of a list of the tensor's rows."""
    if not tensor.ndim:
        raise NotLowerable("a list made of a scalar")
    declared = _declared(element_shape, tensor.shape[1:])
    if not fits(tensor.shape[1:], declared):
        raise NotLowerable("elements of wrong shape")
    return declared


def gather(ctx, input_handle, indices, element_shape, element_dtype):
    target = input_handle
    _check_dtype(target, element_dtype)
    target = _readable(ctx, "TensorListGather", target, _shape(element_shape))
    indices = jnp.ravel(indices)
    ctx.check(
        jnp.all((indices >= 0) & (indices < target.length)),
        errors.InvalidArgumentError,
        "TensorListGather: indices: Trying to gather an element outside of the list.",
    )
    if not target.capacity:
        return jnp.zeros((indices.shape[0], *target.element_shape), target.dtype)
    return jnp.take(target.array, indices, axis=0, mode="clip")


def _set_rows(array, indices, rows):
    # One after the other: of rows with the same index, the last one stays.
    return lax.fori_loop(0, rows.shape[0], lambda i, a: _updated(a, rows[i], indices[i]), array) if rows.size else array


def _places(tensor, indices):
    """The indices, when they are known to be right while compiling."""
    places = known(indices)
    if places is not None and (places.size != tensor.shape[0] or (places < 0).any()):
        raise NotLowerable("indices that are wrong")
    return None if places is None else places.ravel()


def scatter(ctx, tensor, indices, element_shape, num_elements=-1):
    declared = _declared_rows(tensor, element_shape)
    count = _number(num_elements, "a size")
    places = _places(tensor, indices)
    indices = jnp.ravel(indices)
    if indices.shape[0] != tensor.shape[0]:
        raise NotLowerable("indices that are wrong")
    if count == -1:
        if places is None:
            raise NotLowerable("a list as long as the indices say")
        count = 1 + int(places.max(initial=-1))
    elif count < 0 or (places is not None and places.max(initial=-1) >= count):
        raise NotLowerable("indices that are wrong")
    if places is None:
        ctx.check(
            jnp.all((indices >= 0) & (indices < count)),
            errors.InvalidArgumentError,
            f"TensorListScatterV2: indices must be in [0, {count}).",
        )
    array = _set_rows(jnp.zeros((count, *tensor.shape[1:]), tensor.dtype), indices, jnp.asarray(tensor))
    return LoweredList(_numeric(np.dtype(tensor.dtype)), declared, count, count, array, written=count > 0)


def scatter_into(ctx, input_handle, tensor, indices):
    target = input_handle
    places = _places(tensor, indices)
    if places is None:
        raise NotLowerable("a list that grows when the indices say so")
    fitting = tensor.dtype == target.dtype and fits(tensor.shape[1:], target.declared)
    if not fitting or not isinstance(target.length, int):
        raise NotLowerable("rows that do not go into the list")
    count = max(target.length, 1 + int(places.max(initial=-1)))
    target = resize(ctx, target, np.int32(count))
    if not places.size:
        return target
    target = target.full(tensor.shape[1:])
    return target.replace(array=_set_rows(target.array, jnp.asarray(places), jnp.asarray(tensor)), written=True)


def concat(ctx, input_handle, element_dtype, element_shape):
    return _concat(ctx, "TensorListConcat", input_handle, element_shape, element_dtype)


def concat_v2(ctx, input_handle, element_shape, leading_dims, element_dtype):
    rows = _concat(ctx, "TensorListConcatV2", input_handle, _shape(element_shape), element_dtype, leading_dims)
    return rows


def _concat(ctx, op, target, asked, element_dtype, leading_dims=()):
    _check_dtype(target, element_dtype)
    leading_dims = [int(n) for n in leading_dims]
    if len(set(leading_dims)) > 1 or (leading_dims and len(leading_dims) < target.capacity):
        raise NotLowerable("elements of different lengths")
    if leading_dims and asked is not None:
        asked = (leading_dims[0], *asked[1:])
    rows = _all_rows(ctx, op, target, asked)
    if rows.ndim < 2 or (leading_dims and leading_dims[0] != rows.shape[1]):
        raise NotLowerable("elements of different lengths, or scalars")
    lengths = np.full(rows.shape[0], rows.shape[1], np.int64)
    return rows.reshape(rows.shape[0] * rows.shape[1], *rows.shape[2:]), lengths


def split(ctx, tensor, element_shape, lengths):
    lengths = known(lengths)
    if not tensor.ndim or lengths is None or lengths.ndim != 1 or len(set(lengths.tolist())) != 1:
        raise NotLowerable("elements of different lengths")
    count, each = len(lengths), int(lengths[0])
    if each < 0 or count * each != tensor.shape[0]:
        raise NotLowerable("lengths that are wrong")
    rows = jnp.reshape(tensor, (count, each, *tensor.shape[1:]))
    declared = _declared(element_shape, rows.shape[1:])
    if not fits(rows.shape[1:], declared):
        raise NotLowerable("elements of wrong shape")
    return LoweredList(_numeric(np.dtype(tensor.dtype)), declared, count, count, rows, written=True)
