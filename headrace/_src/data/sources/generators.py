"""`Dataset.from_generator`: what a Python generator yields."""

from itertools import islice

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import DatasetV2, build, constructor, dataset_op
from headrace._src.data.running import structures
from headrace._src.data.running.cursor_choice import GENERATOR, chosen
from headrace._src.data.running.stages import Cursor, Stage, shapes_of
from headrace._src.data.sources.yielded_values import Mismatch, checked_signature, converter, flattener
from headrace._src.graph.control.python_functions import Token, call_of, raise_users_error
from headrace._src.op.convert import to_tensor

_LARGEST_BLOCK = 16 << 20


class Generator:
    """A user's function that returns an iterator, and how its values become elements.

    Args:
        function: called with NumPy values of its arguments, once for each walk through the dataset.
        spec: of the elements.
    """

    def __init__(self, function, spec):
        self.function = function
        self.spec = spec
        self.convert = converter(spec)

    def start(self, arguments):
        """A new iterator."""
        # Copies: the function may write into them.
        values = [array.copy() if array.ndim else array[()] for array in arguments]
        return iter(self.function(*values))


class GeneratorStage(Stage):
    """What a generator yields.

    Args:
        generator: a `Generator`.
        arguments: the values of the arguments of its function.
        shapes: of the components.
    """

    method = "Dataset.from_generator"

    def __init__(self, generator, arguments, shapes):
        super().__init__(shapes)
        self.generator = generator
        self.arguments = arguments

    @property
    def has_blocks(self):
        return self.generator.convert.has_blocks

    @property
    def component_specs(self):
        """The specs of the components."""
        return structures.flat_specs(self.generator.spec)

    def walk(self, run):
        return chosen(GENERATOR, self, run)


class GeneratorCursor(Cursor):
    """A walk through what a generator yields."""

    def __init__(self, stage):
        self._stage = stage
        self._convert = stage.generator.convert
        self._iterator = None
        self._number = 0
        self._is_over = False
        self._failure = None  # of the element after those that were given out last

    def next(self):
        if self._failure is not None:
            self._raise_failure()
        if context.mode is not None:
            return self._outside(self.next)
        iterator = self._iterator
        if iterator is None:
            if self._is_over:
                return None
            iterator = self._start()
        try:
            value = next(iterator)
        except StopIteration:
            return self._end()
        except Exception as error:
            self._users_error(error)
        self._number += 1
        try:
            return self._convert(value)
        except errors.OpError as error:
            self._stage.failed(self._number - 1, error)

    def _outside(self, function, *arguments):
        """Call a function with nothing recorded or traced, as eager code of the user."""
        before, context.mode = context.mode, None
        try:
            return function(*arguments)
        finally:
            context.mode = before

    def _start(self):
        stage = self._stage
        try:
            self._iterator = stage.generator.start(stage.arguments)
        except Exception as error:
            self._is_over = True
            self._users_error(error)
        return self._iterator

    def _end(self):
        self._is_over = True
        self._iterator = None

    def _users_error(self, error):
        try:
            raise_users_error(error)
        except errors.OpError as typed:
            self._number += 1
            self._stage.failed(self._number - 1, typed)

    def _raise_failure(self):
        failure, self._failure = self._failure, None
        raise failure

    def block(self, count):
        if self._failure is not None:
            self._raise_failure()
        if context.mode is not None:
            return self._outside(self.block, count)
        iterator = self._iterator
        if iterator is None:
            if self._is_over:
                return None
            iterator = self._start()
        columns = self._convert.columns
        count = min(count, max(1, _LARGEST_BLOCK // max(column.size for column in columns)))
        sinks = [column.sink(count) for column in columns]
        done, failure = self._fill(iterator, sinks, count)
        self._number += done
        if failure is not None:
            try:
                self._fail(*failure)
            except errors.OpError as error:
                if not done:
                    raise
                self._failure = error
        elif done < count:
            self._end()
        return tuple([sink.finish(done) for sink in sinks]) if done else None

    def _fill(self, iterator, sinks, count):
        """Take values until there are enough; the number of them, and what went wrong with the one after them."""
        done, flat = 0, self._convert.flat
        puts = [sink.put for sink in sinks]
        only = puts[0] if len(puts) == 1 and type(self._stage.generator.spec) is TensorSpec else None
        try:
            for value in islice(iterator, count):
                try:
                    if only is not None:
                        only(done, value)
                    else:
                        for put, part in zip(puts, flat(value)):
                            put(done, part)
                except errors.OpError as error:
                    return done, (error, False)
                done += 1
        except Exception as error:
            return done, (error, True)
        return done, None

    def _fail(self, error, is_users):
        if is_users:
            self._users_error(error)
        self._number += 1
        self._stage.failed(self._number - 1, error)

    def skip(self, count):
        if context.mode is not None:
            return self._outside(self.skip, count)
        if self._failure is not None:
            self._raise_failure()
        iterator = self._iterator
        if iterator is None:
            if self._is_over:
                return 0
            iterator = self._start()
        done = 0
        try:
            for _ in islice(iterator, count):
                done += 1
        except Exception as error:
            self._number += done
            self._users_error(error)
        self._number += done
        if done < count:
            self._end()
        return done

    def state(self):
        return {"number": self._number - (self._failure is not None), "is_over": self._is_over}

    def restore(self, state):
        """Generators cannot be put somewhere: a new one yields what comes before once more, to nobody."""
        self._iterator, self._failure, self._number, self._is_over = None, None, 0, False
        while self._number < state["number"] and not self._is_over:
            try:
                self.skip(state["number"] - self._number)
            except errors.OpError:
                pass  # the error was raised already
        self._is_over = state["is_over"]

    def close(self):
        self._is_over = True
        self._iterator = None  # Python ends the generator: its `finally` clauses run


def _make(arguments, token, output_types, output_shapes, metadata):
    return GeneratorStage(call_of(token), arguments, shapes_of(output_shapes))


PYTHON_GENERATOR_DATASET = dataset_op(
    "PythonGeneratorDataset",
    "arguments: list(Targuments), *, token: string, output_types: list(type), output_shapes: list(shape), "
    "metadata: string = ''",
    _make,
    stateful=True,
)


def _legacy_signature(output_types, output_shapes):
    if output_shapes is None:
        return nest.map_structure(lambda dtype: TensorSpec(None, dtypes.as_dtype(dtype)), _checked_types(output_types))
    types = _checked_types(output_types)
    flat = nest.flatten(types)
    try:
        shapes = flattener(types)(output_shapes)
    except Mismatch as error:
        raise TypeError(f"Dataset.from_generator: `output_shapes` must be like `output_types`: {error}.") from error
    specs = [TensorSpec(TensorShape(shape), dtypes.as_dtype(dtype)) for shape, dtype in zip(shapes, flat)]
    return nest.pack_sequence_as(types, specs)


def _checked_types(output_types):
    if isinstance(output_types, list):
        raise TypeError(
            f"Dataset.from_generator: cannot convert the argument `output_types`: {output_types} to a dtype. Use a "
            "tuple for elements of several components."
        )
    return output_types


@constructor
def from_generator(
    generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None
) -> DatasetV2:
    """A dataset of what a Python generator yields.

    Args:
        generator: a function that returns an iterator; called anew for each walk through the dataset.
        output_types: the dtypes of the parts of elements, where there is no `output_signature`.
        output_shapes: the shapes to these; None where they are not known.
        args: tensors that `generator` gets as NumPy values.
        output_signature: the specs of the parts of elements.
        name: a name for the operation.

    >>> def count(stop):
    ...     for i in range(stop):
    ...         yield i, "ab"[i % 2]
    >>> signature = (tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.string))
    >>> dataset = tf.data.Dataset.from_generator(count, args=[3], output_signature=signature)
    >>> list(dataset.as_numpy_iterator())
    [(np.int32(0), b'a'), (np.int32(1), b'b'), (np.int32(2), b'a')]

    Values are copied, so a generator may yield the same array again with other contents. A position in the dataset is
    restored by calling `generator` and passing over what comes before it.

    Raises:
        InvalidArgumentError: (while iterating) the generator yields what does not fit, or raises ValueError or
            TypeError; the message names the element.
        UnknownError: (while iterating) it raises something else.
    """
    if not callable(generator):
        raise TypeError(f"Dataset.from_generator: `generator` must be a Python callable, got {generator!r}.")
    if output_signature is not None:
        for what, given in (("output_types", output_types), ("output_shapes", output_shapes)):
            if given is not None:
                raise TypeError(f"The `{what}` argument can not be used together with the `output_signature` argument.")
        spec = checked_signature(output_signature, "Dataset.from_generator")
    elif output_types is None:
        raise TypeError(
            "To specify the output signature you need to provide either the `output_signature` argument or the "
            "`output_types` argument."
        )
    else:
        spec = _legacy_signature(output_types, output_shapes)
    if args is not None and not isinstance(args, (list, tuple)):
        raise TypeError(f"Dataset.from_generator: `args` must be a list or tuple, got {args!r}.")
    if not nest.flatten(spec):
        raise TypeError("Dataset.from_generator: elements must have at least one component.")
    arguments = [to_tensor(value) for value in args or ()]
    token = Token(Generator(generator, spec))
    return build("_FlatMapDataset", PYTHON_GENERATOR_DATASET, arguments, token=token, spec=spec, name=name)
