"""What an op is: one frozen record of TensorFlow's op name, its signature and its rules."""

import collections
import functools
import sys
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from headrace._src import index
from headrace._src.core.lazy import LazyModule
from headrace._src.op import signature as signatures
from headrace._src.op.apply import lane_of
from headrace._src.op.batching import Rule, rule_of
from headrace._src.op.loading import Registry
from headrace._src.op.traits import CALLS_FUNCTIONS, ELEMENTWISE, NONE, Trait

large_arrays = LazyModule("headrace._src.core.large_arrays")  # many programs have none

# In the place of the shapes that zero gradients would have.
NOT_NEEDED: tuple = ()
REGISTRY: dict[str, "Op"] = Registry(lambda: index.OPS)


class Op:
    """An operation on tensors. Calling it applies it: `ADD(x, y)`, `MATMUL(a, b, transpose_a=True)`.

    Args:
        name: TensorFlow's op name.
        text: the signature; see `signature.py`.
        infer: `(x, y, ..., **attrs)` of `Spec`s to the shape of the output, or a tuple of shapes when
            there are several outputs (a list of shapes stands for an output that is a list).
        kernel: NumPy arrays and attributes to a NumPy array, or a tuple of arrays. A list input arrives as a
            list of arrays. It must not write into its inputs; what it returns may share their memory.
        lower: `(ctx, x, y, ..., **attrs)` on jax values; None for what only the host can do.
        grad: `(node, dy, ...)` to one gradient (or None) per input; calls only ops. None when the op has no
            gradient, which then counts as None; `unregistered` where asking for it is an error.
        static: the inputs that `lower` needs as NumPy constants.
        flexible: of the static inputs, those that `lower` also takes as jax values.
        saves: what `grad` reads from `node`: names of inputs and outputs, or `x_shape`, `x_dtype` when the
            shape or dtype of `x` is enough.
        vectorize: what the op becomes for all elements at once: a function `(batch, node, *inputs)`, a rule that many
            ops share (`along_axes`, `merging()` ...), or a `Rule` where there is more to say; see `batching.py`.
            None: the trait ELEMENTWISE implies a rule. Without that either, `tf.vectorized_map` runs the op element by
            element and warns, and a dataset's function that uses the op does not run on whole blocks.
        traits: what else is true of the op, for all that treats such ops alike; see `traits.py`.
        can_fail: `(step, constants)`: whether an operation may raise an error, as far as shapes and constants tell; see
            `graph_rules.py`. None: it may.
        partial: what is known of an output of integers while a graph is built; see `graph_rules.py`.
        neutral: the constants that leave the other input as it is; see `graph_rules.py`.
        handle_data: `(*specs, **attrs, **types)` to what the first variant output holds; see core/handle_data.py. None:
            what the inputs hold.
        ufunc: NumPy's function that the kernel is for floating numbers, where the kernel is more than that.
        node_name: what operations are called unless the user says a name. TF: such as "add".
        raw_names: inputs and attributes that `tf.raw_ops` calls otherwise than the op itself.
        stateful: the op reads or writes something outside its inputs: never folded, shared or dropped.
        grad_takes_none: True where `grad` of an op with several outputs gets None for those that nothing depends on,
            instead of zeros.
        quiet: False when the kernel calls the user's Python code, whose warnings and errors are its own.
        types: for each type attribute, the dtypes that it may be.
    """

    # With the trait WRITES_VARIABLE: how many of the first inputs are variables that it changes.
    writes = 1
    # While something times eager execution: `(op, kernel)` to what eager execution calls in the place of the kernel.
    eager_timing: ClassVar[Callable | None] = None

    def __init__(
        self,
        name,
        text,
        *,
        infer,
        kernel,
        lower,
        grad,
        static=(),
        flexible=(),
        saves=(),
        vectorize=None,
        traits=NONE,
        can_fail=None,
        partial=None,
        neutral=None,
        handle_data=None,
        ufunc=None,
        node_name=None,
        raw_names=None,
        stateful=False,
        grad_takes_none=False,
        quiet=True,
        **types,
    ):
        self.name = name
        self.text = text
        self.infer = infer
        self.ufunc = ufunc
        self.module = sys._getframe(1).f_globals["__name__"]  # the file to import for it
        self.replace_kernel(kernel)
        self.lower = lower
        self.grad = grad
        self.static = static
        self.flexible = flexible
        self.saves = saves
        self.traits: Trait = traits
        self.can_fail = can_fail
        self.partial = partial
        self.neutral = neutral
        self.handle_data = handle_data
        self.node_name = node_name or name
        self.raw_names = raw_names or {}
        self.vectorize: Rule = rule_of(vectorize, traits)
        self.stateful = stateful
        self.grad_takes_none = grad_takes_none
        self.quiet = quiet
        self.types = types
        if dict.__contains__(REGISTRY, name):
            raise ValueError(f"Op {name} is defined twice.")
        REGISTRY[name] = self

    def __call__(self, *args, name=None, **attrs):
        """Apply the op to inputs, in the signature's order, and attributes, by name."""
        return self.lane(args, attrs, name)

    @functools.cached_property
    def lane(self):
        """`lane(args, attrs, name)`: the same as calling the op, but faster, as it is a plain function."""
        return lane_of(self)

    @functools.cached_property
    def signature(self) -> signatures.Signature:
        return signatures.parse(self.text)

    @functools.cached_property
    def defaults(self) -> dict:
        """The attributes that callers may leave out."""
        return {
            attribute.name: attribute.default
            for attribute in self.signature.attributes
            if attribute.default is not signatures.REQUIRED
        }

    @functools.cached_property
    def attribute_names(self) -> frozenset:
        return frozenset(attribute.name for attribute in self.signature.attributes)

    @functools.cached_property
    def number_of_outputs(self) -> int:
        return len(self.signature.outputs)

    @functools.cached_property
    def single_output(self) -> bool:
        """One output that is not a list: the kernel returns an array, the op a tensor."""
        outputs = self.signature.outputs
        return len(outputs) == 1 and not outputs[0].is_list

    @functools.cached_property
    def type_attributes(self) -> tuple[str, ...]:
        """The type attributes that outputs have."""
        return tuple(output.type_attr for output in self.signature.outputs if output.type_attr is not None)

    @functools.cached_property
    def has_lists(self) -> bool:
        return any(argument.is_list for argument in self.signature.inputs)

    @functools.cached_property
    def result_type(self):
        """The namedtuple in which several outputs are returned."""
        return collections.namedtuple(self.name, [output.name for output in self.signature.outputs])

    @functools.cached_property
    def saved_reads(self):
        """For each entry of `saves`: how to read it, as (from_output, index, None or "shape" or "dtype")."""
        places = {x.name: (False, i) for i, x in enumerate(self.signature.inputs)}
        for i, y in enumerate(self.signature.outputs):
            places.setdefault(y.name, (True, i))
        reads = []
        for entry in self.saves:
            read, name = None, entry
            if entry not in places:
                if entry.endswith("_shape") and entry[:-6] in places:
                    read, name = "shape", entry[:-6]
                elif entry.endswith("_dtype") and entry[:-6] in places:
                    read, name = "dtype", entry[:-6]
                else:
                    raise ValueError(f"{self.name}: saves names {entry!r}, which is no input or output.")
            reads.append((*places[name], read))
        return tuple(reads)

    @functools.cached_property
    def is_plain(self) -> bool:
        """Single tensors in, one tensor out."""
        return self.single_output and not self.has_lists

    @functools.cached_property
    def elementwise_inputs(self) -> int:
        """How many inputs it treats element by element; 0 for ops that are not element-wise."""
        return len(self.signature.inputs) if ELEMENTWISE in self.traits else 0

    @functools.cached_property
    def calls_functions(self) -> bool:
        """Whether graphs are among its attributes: the trait CALLS_FUNCTIONS, which is asked for often."""
        return CALLS_FUNCTIONS in self.traits

    @functools.cached_property
    def draws(self) -> bool:
        """Whether it draws random numbers from a stream that goes on from call to call."""
        return self.stateful and "seed2" in self.attribute_names

    @functools.cached_property
    def make_node(self):
        """`make_node(inputs, outputs, attrs)`: what the gradient of an application will need.

        Written out for each op once, since this runs for every op under a tape: the node's class has one slot for
        each entry of `saves`, and filling them takes no loop.
        """
        names = {"shape": _read_shape, "specs": _output_specs}
        contents = {"__slots__": tuple(self.saves), "op": self}
        lines = ["def make(inputs, outputs, attrs):", "    node = Class()"]
        lines += ["    node.attrs = attrs", "    node.wanted = None"]
        if self.single_output:
            contents["output_specs"] = None
        elif self.grad_takes_none:
            contents["output_specs"] = NOT_NEEDED
        else:
            lines.append("    node.output_specs = specs(outputs)")
        names["Class"] = type(f"{self.name}Node", (Node,), contents)
        for entry, (from_output, position, read) in zip(self.saves, self.saved_reads):
            value = f"{'outputs' if from_output else 'inputs'}[{position}]"
            if read == "shape":
                lines += ["    try:", f"        node.{entry} = {value}._a.shape"]
                lines += ["    except AttributeError:", f"        node.{entry} = shape({value})"]
            else:
                lines.append(f"    node.{entry} = {value}{'.dtype' if read == 'dtype' else ''}")
        lines.append("    return node")
        exec("\n".join(lines), names)  # only names from our own signatures
        return names["make"]

    def replace_kernel(self, kernel):
        """Use another implementation for eager and interpreted execution; returns the former one."""
        before = self.__dict__.get("kernel")
        self.kernel = kernel
        self.time_eagerly()
        return before

    def time_eagerly(self):
        """Let eager execution call what `eager_timing` says, or the kernel itself. Graphs take `kernel`.

        Large arrays go through functions of NumPy's in several threads, by `large_kernel`.
        """
        timing = Op.eager_timing
        kernel = self.kernel
        large = _in_threads(kernel, self.ufunc_of_floats)
        self.eager_kernel = kernel if timing is None else timing(self, kernel)
        if large is None:
            self.large_kernel = self.eager_kernel
        else:
            self.large_kernel = large if timing is None else timing(self, large)

    @property
    def ufunc_of_floats(self) -> np.ufunc | None:
        """NumPy's function that the kernel is for floating numbers."""
        kernel = self.kernel
        if isinstance(kernel, np.ufunc):
            return kernel
        replaced = getattr(kernel, "__module__", None) != self.module
        return None if replaced else self.ufunc

    def __repr__(self):
        return f"<Op {self.name}({self.text})>"

    def __reduce__(self):
        return _op_named, (self.name,)


def unregistered(node, *dys):
    """The `grad` of an op for which TensorFlow registers nothing, neither a gradient nor that there is none."""
    name = node.op.name
    raise LookupError(
        f"{name}: no gradient is defined for this op. Where its input counts as a constant, say so with "
        f"tf.stop_gradient; otherwise give a gradient with tf.custom_gradient, or tf.RegisterGradient({name!r})."
    )


def _in_threads(kernel, ufunc):
    """A kernel of large arrays, which takes several threads; None where there is no other than the usual one."""
    if ufunc is None or ufunc.signature is not None:
        return None
    if ufunc is kernel:
        return lambda *arrays: large_arrays.divided(ufunc, *arrays)

    def divided(x, *others, **attrs):
        return large_arrays.divided(ufunc, x, *others) if x.dtype.kind == "f" else kernel(x, *others, **attrs)

    return divided


def _op_named(name):
    return REGISTRY[name]


def _read_shape(tensor):
    try:
        return tensor._a.shape
    except AttributeError:
        if isinstance(tensor, (list, tuple)):
            return [_read_shape(t) for t in tensor]
        return tensor._dynamic_shape()


def _output_specs(outputs):
    """(shape, dtype) of every output, for zero gradients."""
    specs = []
    for output in outputs:
        for tensor in output if type(output) is list else (output,):
            # A symbolic tensor stands for its shape, which may be known only when the graph runs.
            specs.append((tensor.shape if hasattr(tensor, "_a") else tensor, tensor.dtype))
    return specs


class Node:
    """One application of an op, as its gradient sees it: `node.x`, `node.y_shape`, `node.attrs`.

    `x_shape` is a tuple of ints, or in a graph with unknown dimensions an int32 tensor. Each op has a subclass with
    slots for what it saves; see `Op.make_node`.
    """

    # `op`: is in the subclass.
    # `output_specs`: (shape, dtype) of each output, for zero gradients; None when there is one, NOT_NEEDED where the
    # gradient wants None instead of zeros.
    # `wanted`: which inputs need a gradient, set before `grad` is called.
    # `scope`: where the operation is by its name, only where a graph is built.
    __slots__ = ("attrs", "output_specs", "scope", "wanted")

    def wants(self, index: int) -> bool:
        """Whether the gradient of the index-th input is needed (worth asking before heavy work)."""
        return self.wanted is None or self.wanted[index]


class Spec:
    """What `infer` knows of an input: shape and dtype, and the value when it is a constant.

    `partial`: for a vector or scalar of integers that is not a constant, the elements that are known; else None.
    `handle_data`: of a variant, what is known about the tensors inside; see core/handle_data.py.
    """

    __slots__ = ("dtype", "handle_data", "partial", "shape", "value")

    def __init__(self, shape, dtype, value=None, partial=None):
        self.shape = shape
        self.dtype = dtype
        self.value = value
        self.partial = partial
        self.handle_data = None
