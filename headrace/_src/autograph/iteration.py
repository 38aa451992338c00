"""`while` and `for` at run time."""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
from typing import Any

from headrace._src.autograph.conditionals import as_leaf, described, lazy_and, staged_if, zeros_of
from headrace._src.autograph.exits import is_result
from headrace._src.autograph.loop_steps import Steps, register_loop, steps_of
from headrace._src.autograph.staging import condition, is_symbolic
from headrace._src.autograph.variables import UNDEFINED, variables_of
from headrace._src.core import dtypes, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec, TypeSpec
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.func_graph import FuncGraph, copy_handle_data
from headrace._src.graph.control.loops import while_loop
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.debugging.assertions import Assert
from headrace._src.ops.math.arithmetic import MINIMUM
from headrace._src.ops.math.comparison import LOGICAL_NOT

# What a `for` or `while` becomes: its errors name the user's variables, and not the arguments of `tf.while_loop`.
_while_loop = inspect.unwrap(while_loop)

_LIMITATION = (
    "break and return statements which depend on a TF condition are not supported in Python for loops over "
    "iterables without a length. Did you intend to make it a TF loop, such as `for i in tf.range(n)`?"
)


def _index_steps(length, item):
    """Steps that count from 0 to `length`, a number or a symbolic scalar."""
    known = length if isinstance(length, int) else None
    zero = to_tensor(0, dtypes.int32)
    return Steps((zero,), lambda i: i < length, item, lambda i: (i + 1,), known)


def length_of(tensor):
    """The length of the first axis, as a number if it is known.

    Raises:
        ValueError: The tensor is a scalar.
    """
    shape = tensor.shape
    if shape.rank == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {shape}")
    if shape.rank is not None and shape[0] is not None:
        return int(shape[0])
    return SHAPE(tensor, out_type=dtypes.int32)[0]


def _tensor_steps(tensor):
    if context.graph is None:
        return None
    operation = getattr(tensor, "op", None) if is_symbolic(tensor) else None
    if operation is not None and operation.type == "Range":
        return _range_steps(tensor, *operation.inputs)
    return _index_steps(length_of(tensor), lambda i: tensor[i])


def _range_steps(tensor, start, limit, delta):
    """Steps that count, without making the range first."""
    known = delta._known
    if known is None:
        zero = to_tensor(0, delta.dtype)
        has_item = lambda i: ((delta > zero) & (i < limit)) | ((delta < zero) & (i > limit))
    else:
        has_item = (lambda i: i < limit) if known > 0 else (lambda i: i > limit)
    length = tensor.shape[0] if tensor.shape.rank == 1 else None
    return Steps((start,), has_item, lambda i: i, lambda i: (i + delta,), length)


def _rows_steps(composite):
    """Steps over the rows of a composite that has such: a ragged tensor."""
    if context.graph is None or not hasattr(composite, "nrows"):
        return None
    return _index_steps(CAST(composite.nrows(), DstT=dtypes.int32), lambda i: composite[i])


register_loop(Tensor, _tensor_steps)
register_loop(CompositeTensor, _rows_steps)


class Enumerated:
    """`enumerate` of something that is looped over in a graph."""

    def __init__(self, iterable, start):
        self.iterable = iterable
        self.start = start

    def __iter__(self):
        return enumerate(self.iterable, self.start)  # the iterable says that it cannot be

    def steps(self):
        steps = steps_of(self.iterable)
        first = (to_tensor(self.start), *steps.first)
        return Steps(
            first,
            lambda n, *rest: steps.has_item(*rest),
            lambda n, *rest: (n, steps.item(*rest)),
            lambda n, *rest: (n + 1, *steps.following(*rest)),
            steps.length,
            steps.has_scope,
        )


class Zipped:
    """`zip` of things that are looped over in a graph."""

    def __init__(self, tensors):
        self.tensors = tensors

    def __iter__(self):
        return zip(*self.tensors)  # the tensors say that they cannot be

    def steps(self):
        lengths = [length_of(t) for t in self.tensors]
        if all(isinstance(n, int) for n in lengths):
            length = min(lengths)
        else:
            length = lengths[0]
            for n in lengths[1:]:
                length = MINIMUM(to_tensor(length), to_tensor(n))
        return _index_steps(length, lambda i: tuple(t[i] for t in self.tensors))


register_loop(Enumerated, Enumerated.steps)
register_loop(Zipped, Zipped.steps)


def loops_in_graph(iterable) -> bool:
    """Whether a `for` over this becomes a graph loop."""
    return steps_of(iterable) is not None


# Options.


@api("autograph.experimental.set_loop_options", dispatch=False)
def set_loop_options(
    parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None
) -> None:
    """Options of the graph loop that AutoGraph makes of a `for` or `while`; the first statement of the loop.

    It has no effect where the loop stays Python's.

    Args:
        parallel_iterations, swap_memory: Accepted, as by `tf.while_loop`.
        maximum_iterations: Stop after so many iterations.
        shape_invariants: Pairs of a variable of the loop and the shape that it has in all iterations.
    """


def loop_options(function, *args, **kwargs):
    """The arguments of a `set_loop_options` statement, by name."""
    if function is not set_loop_options:
        return {}
    names = ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants")
    return {**dict(zip(names, args)), **kwargs}


# While.


def while_stmt(test, body, stop, names, options, test_binds=False):
    """Run `body` as long as `test()` is true; as a graph loop from the moment that the condition is symbolic.

    Args:
        test, body: Functions without arguments that share variables.
        stop: A function that says, after an iteration, whether it ended in `break` or `return`; or None.
        names: The variables that are used in later iterations or after the loop.
        options: A function that gives the loop's options; or None.
        test_binds: Whether the test gives variables values.
    """
    graph = context.graph
    first = True
    while True:
        count = 0 if graph is None else len(graph.nodes)
        go_on = test() if first or stop is None else _unless(stop(), test)
        first = False
        if go_on is True:
            body()
        elif go_on is False:
            return
        elif is_symbolic(go_on):
            effects = test_binds or any(node.is_stateful for node in graph.nodes[count:])
            _staged_while(condition(go_on, "while loop"), test, body, stop, names, options, effects)
            return
        elif go_on:
            body()
        else:
            return


def _unless(stop, test):
    """`not stop and test()`."""
    if stop is False:
        return test()
    if is_symbolic(stop):
        return lazy_and(LOGICAL_NOT(to_tensor(stop)), lambda: _as_bool(test()))
    return False if stop else test()


def _as_bool(value):
    return condition(value, "while loop") if is_symbolic(value) else bool(value)


def _staged_while(go_on, test, body, stop, names, options, effects):
    """A `while` whose condition is symbolic.

    A condition with effects is evaluated exactly as often as in Python: once before the loop, then at the end of the
    body, and handed on. Others become the loop's own condition.
    """
    variables = variables_of(names, test, body, stop)
    proceed = test if stop is None else lambda: _unless(stop(), test)
    if effects:
        loop = _Loop(
            variables, lambda flag: flag, lambda flag: body(), lambda flag: (to_tensor(_as_bool(proceed())),), options
        )
        loop.run((go_on,), lambda: go_on)
    else:
        loop = _Loop(variables, lambda: condition(proceed(), "while loop"), body, lambda: (), options)
        loop.run((), lambda: go_on)


# For.


def for_stmt(iterable, body, stop, names, options, targets):
    """Call `body(item)` for the items; as a graph loop when the iterable is symbolic.

    Args:
        iterable: What is looped over.
        body: A function of one argument, which assigns it to the loop's targets.
        stop: A function that says, after an iteration, whether it ended in `break` or `return`; or None.
        names: The variables that are used in later iterations or after the loop.
        options: A function that gives the loop's options; or None.
        targets: The names of the loop's targets.
    """
    steps = steps_of(iterable)
    if steps is not None:
        _staged_for(steps, body, stop, names, options, targets)
    elif stop is None:
        for item in iterable:
            body(item)
    else:
        items = iter(iterable)
        for item in items:
            body(item)
            stopped = stop()
            if is_symbolic(stopped):
                _unrolled(iterable, items, stopped, body, stop, names)
                break
            if stopped:
                break


def _unrolled(iterable, items, stopped, body, stop, names):
    """The rest of a Python loop after a `break` that depends on a tensor: one conditional per item."""
    if not isinstance(iterable, collections.abc.Sized):
        raise NotImplementedError(_LIMITATION)
    variables = variables_of(names, body, stop)
    for item in items:
        staged_if(condition(stopped, "for loop"), None, lambda item=item: body(item), variables)
        stopped = stop()
        if not is_symbolic(stopped) and stopped:
            break


def _staged_for(steps, body, stop, names, options, targets):
    variables = variables_of(names, body, stop)

    def go_on(*state):
        there = steps.has_item(*state)
        if stop is None:
            return there
        stopped = stop()
        if is_symbolic(stopped):
            return lazy_and(LOGICAL_NOT(to_tensor(stopped)), lambda: there)
        return False if stopped else there

    def step(*state):
        if not steps.has_scope:
            context.graph.body_scope = ""
        body(steps.item(*state))

    loop = _Loop(variables, go_on, step, steps.following, options, targets)
    first = nest.map_structure(lambda x: as_leaf(x, "the iterable"), tuple(steps.first))
    loop.run(first, lambda: to_tensor(steps.has_item(*first)), steps.length)


# Graph loops.


@dataclasses.dataclass
class _Fixed:
    """A value that is no tensor, and so stays outside of the graph loop."""

    value: Any


def _is_whole(value):
    return isinstance(value, CompositeTensor) or (hasattr(value, "_type_spec") and not isinstance(value, Tensor))


def _shape(value):
    """The shape invariant of a leaf that does not change its shape."""
    return value._type_spec if _is_whole(value) else value.shape


def _as_invariant(shape):
    return shape if isinstance(shape, TypeSpec) and not isinstance(shape, TensorSpec) else TensorShape(
        shape.shape if isinstance(shape, TensorSpec) else shape
    )


def _placeholder(value):
    """A tensor of the current graph with the dtype and shape of `value`, and no known value."""
    if _is_whole(value):
        return nest.map_structure(_placeholder, value, expand_composites=True)
    value = to_tensor(value)
    placeholder = context.graph.placeholder(value.shape, value.dtype, "loop_var")
    copy_handle_data(value, placeholder)
    return placeholder


class _Loop:
    """A graph loop over the variables of a user's function.

    Args:
        variables: The user's variables.
        go_on: From the loop's own values, whether there is another iteration.
        body: From the loop's own values; runs an iteration.
        following: From the loop's own values, those for the next iteration.
        options: A function that gives the loop's options; or None.
        targets: Variables that get a value of zero when there is no iteration. TF: others are an error then.
    """

    def __init__(self, variables, go_on, body, following, options, targets=()):
        self.variables = variables
        self.names = variables.names
        self.go_on = go_on
        self.body = body
        self.following = following
        self.options = options() if options is not None else {}
        self.targets = targets

    def run(self, own: tuple, enters, length=None):
        """Add the loop to the graph, and give the variables their last values.

        Args:
            own: The loop's own values at first.
            enters: A function that says whether there is a first iteration.
            length: The number of iterations, if it is known.
        """
        before = self.variables.get()
        try:
            self.variables.set(self._final(own, before, enters, length))
        except BaseException:
            self.variables.set(before)
            raise

    def _final(self, own, before, enters, length):
        self.invariants = self._given_invariants(before)
        values = [self._initial(name, value) for name, value in zip(self.names, before)]
        missing = [i for i, v in enumerate(values) if v is UNDEFINED or v is None]
        unset = []
        if missing:
            for i, value in self._probe(own, values, missing):
                values[i] = value
                if self.names[i] not in self.targets and not is_result(self.names[i]):
                    unset.append(self.names[i])
        # What is no tensor stays outside, and must not change.
        inside = [i for i, v in enumerate(values) if v is not UNDEFINED and v is not None and type(v) is not _Fixed]
        fixed = {i: v.value if type(v) is _Fixed else v for i, v in enumerate(values) if i not in inside}
        if not inside and not own:
            own = (to_tensor(0, dtypes.int32),)  # a loop has at least one variable
            test, step = self.go_on, self.body
            self.go_on, self.body, self.following = lambda n: test(), lambda n: step(), lambda n: (n,)

        def assign(tensors):
            found = iter(tensors)
            self.variables.set([fixed[i] if i in fixed else next(found) for i in range(len(values))])

        def go_on(own, *tensors):
            assign(tensors)
            return self.go_on(*own)

        def body(own, *tensors):
            assign(tensors)
            self.body(*own)
            following = nest.map_structure(lambda x: as_leaf(x, "the iterable"), tuple(self.following(*own)))
            after = self.variables.get()
            for i, value in fixed.items():
                self._check_fixed(self.names[i], value, after[i])
            return (following, *(self._checked(self.names[i], t, after[i]) for i, t in zip(inside, tensors)))

        loop_vars = (own, *(values[i] for i in inside))
        invariants = None
        if any(i in self.invariants for i in inside):
            invariants = (
                nest.map_structure(_shape, own),
                *(self.invariants.get(i, nest.map_structure(_shape, values[i])) for i in inside),
            )
        last = _while_loop(
            go_on, body, loop_vars, shape_invariants=invariants,
            parallel_iterations=self.options.get("parallel_iterations") or 10,
            swap_memory=bool(self.options.get("swap_memory")),
            maximum_iterations=self.options.get("maximum_iterations"),
        )  # fmt: skip
        self._note_length(last, length)
        if unset:
            Assert(enters(), [f"loop must iterate at least once to initialize {', '.join(unset)}"])
        found = iter(last[1:])
        return [next(found) if i in inside else fixed[i] for i in range(len(values))]

    def _note_length(self, last, length):
        if isinstance(length, int):
            tensors = nest.flatten(last, expand_composites=True)
            operation = getattr(tensors[0], "op", None)
            if operation is not None:
                operation.maximum_iterations = length  # gradients make lists of this size

    def _initial(self, name, value):
        """A variable's first value with tensors as leaves; None and UNDEFINED as they are."""
        if value is UNDEFINED or value is None:
            return value
        try:
            return nest.map_structure(lambda x: as_leaf(x, described(name)), value)
        except TypeError:
            return _Fixed(value)

    def _given_invariants(self, before):
        """By position of a variable, the shapes given with `set_loop_options`."""
        found = {}
        for given, shape in self.options.get("shape_invariants") or ():
            for i, value in enumerate(before):
                if value is given:
                    found[i] = nest.map_structure_up_to(value, _as_invariant, shape)
        return found

    def _probe(self, own, values, missing):
        """Trace an iteration to learn what variables will be that have no value before; gives them zeros.

        TF: their shape may vary where it depends on the iteration.
        """
        graph = FuncGraph("probe", context.graph)
        with graph.building():
            variables = [
                v if i in missing else v.value if type(v) is _Fixed else nest.map_structure(_placeholder, v)
                for i, v in enumerate(values)
            ]
            # None is hidden, so that an iteration that reads it is noticed: in the graph's loop it would not be None.
            self.variables.set([UNDEFINED if v is None else v for v in variables])
            try:
                self.body(*nest.map_structure(_placeholder, own))
            except (NameError, AttributeError) as error:
                for i in missing:
                    if values[i] is None and self.names[i].rpartition(".")[2] == error.name:
                        raise ValueError(
                            f"'{self.names[i]}' is None before the loop, and the loop reads it. In a graph loop a "
                            "variable has one dtype and structure throughout: give it a tensor before the loop, "
                            "and a flag of its own if the first iteration differs."
                        ) from None
                raise
            after = self.variables.get()
        self.variables.set([v.value if type(v) is _Fixed else v for v in values])
        for i in missing:
            value, name = after[i], self.names[i]
            if value is UNDEFINED or value is None:
                continue
            with graph.building():
                value = nest.map_structure(lambda x, name=name: as_leaf(x, described(name)), value)
            try:
                first = nest.map_structure(zeros_of, value, expand_composites=True)
            except ValueError as error:
                raise ValueError(f"'{name}' must be defined before the loop: {error}.") from None
            if i not in self.invariants:
                self.invariants[i] = nest.map_structure(_shape, value)
            yield i, first

    def _check_fixed(self, name, before, after):
        if after is not before and not (before is UNDEFINED and after is None):
            kind = "undefined" if before is UNDEFINED else f"a {type(before).__name__}"
            raise TypeError(
                f"'{name}' is {kind} before the loop and cannot become another value in it: the variables of a graph "
                f"loop are tensors, numbers, strings and structures of these. Got {after!r} after one iteration."
            )

    def _checked(self, name, before, after):
        """What a variable is after an iteration, after comparing it with what it was before."""
        if after is None:
            raise ValueError(f"'{name}' is None at the end of the iteration.")
        if after is UNDEFINED:
            raise ValueError(f"'{name}' has no value at the end of the iteration.")
        after = nest.map_structure(lambda x: as_leaf(x, described(name)), after)
        try:
            nest.assert_same_structure(before, after, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(
                f"{described(name)} does not have the same nested structure after one iteration.\n\n{error}"
            ) from None
        pairs = zip(nest.flatten(before, expand_composites=True), nest.flatten(after, expand_composites=True))
        for x, y in pairs:
            if x.dtype is not y.dtype:
                raise TypeError(
                    f"{described(name)} has dtype {x.dtype.name} before the loop, but dtype {y.dtype.name} after one "
                    "iteration"
                )
            if not y.shape.is_subtype_of(x.shape):
                wider = x.shape.most_specific_compatible_shape(y.shape)
                raise ValueError(
                    f"{described(name)} has shape {x.shape} before the loop, but shape {y.shape} after one iteration. "
                    "Use tf.autograph.experimental.set_loop_options to set shape invariants, as the first statement in "
                    f"the loop: set_loop_options(shape_invariants=[({name}, tf.{wider!r})]). To collect values, "
                    "tf.TensorArray is faster."
                )
        return after
