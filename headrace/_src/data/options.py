"""`tf.data.Options`: how a pipeline is to be run."""

from __future__ import annotations

import enum
from typing import Any

from headrace._src.op.api import api


@api("data.experimental.AutoShardPolicy", dispatch=False)
class AutoShardPolicy(enum.IntEnum):
    """How the elements of a dataset are divided between workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


@api("data.experimental.ExternalStatePolicy", dispatch=False)
class ExternalStatePolicy(enum.Enum):
    """What to do when a pipeline that is saved depends on state outside of it."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


@api("data.experimental.AutotuneAlgorithm", dispatch=False)
class AutotuneAlgorithm(enum.Enum):
    """How the sizes that are left to AUTOTUNE are found."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class _Option:
    """One option: an attribute of a certain type.

    Args:
        kind: the type of its values.
        number: of the field in the serialized form; 0 for a second name of another option.
        text: what it is for.
        default: its value when it is not set; a class of options stands for a new instance.
        alias: the option that this is another name of.
    """

    def __init__(self, kind: type, number: int, text: str, default: Any = None, alias: str = ""):
        self.kind = kind
        self.number = number
        self.default = default
        self.alias = alias
        self.__doc__ = text
        self.name = ""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, options, owner=None):
        if options is None:
            return self
        return options._values[self.alias or self.name]

    def __set__(self, options, value):
        if not options._is_mutable:
            raise ValueError(
                "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no effect. Use "
                "`tf.data.Dataset.with_options(options)` to set or update dataset options."
            )
        if not isinstance(value, self.kind):
            raise TypeError(f'Property "{self.name}" must be of type {self.kind}, got: {value!r} (type: {type(value)})')
        options._values[self.alias or self.name] = value


class OptionsBase:
    """Options, each of a certain type: others cannot be set."""

    _is_mutable = True

    def __init__(self) -> None:
        values = {
            name: option.default() if isinstance(option.default, type) else option.default
            for name, option in type(self)._fields().items()
        }
        object.__setattr__(self, "_values", values)

    @classmethod
    def _fields(cls) -> dict[str, _Option]:
        return {name: value for name, value in vars(cls).items() if isinstance(value, _Option) and not value.alias}

    def __setattr__(self, name, value):
        if not isinstance(getattr(type(self), name, None), _Option):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        super().__setattr__(name, value)

    def __eq__(self, other) -> bool:
        return type(other) is type(self) and other._values == self._values

    __hash__ = None  # type: ignore[assignment]  # they change

    def __deepcopy__(self, memo):
        return self._merged(type(self)())

    def _frozen(self) -> OptionsBase:
        """A copy that refuses to be changed."""
        copy = self._merged(type(self)())
        for value in copy._values.values():
            if isinstance(value, OptionsBase):
                object.__setattr__(value, "_is_mutable", False)
        object.__setattr__(copy, "_is_mutable", False)
        return copy

    def _merged(self, other):
        """New options: those of `self`, and those that are set in `other`."""
        result = type(self)()
        for name, option in type(self)._fields().items():
            mine, theirs = self._values[name], other._values[name]
            if isinstance(mine, OptionsBase):
                value = mine._merged(theirs)
            else:
                value = mine if theirs is None or theirs == option.default else theirs
            result._values[name] = value
        return result


@api("data.experimental.AutotuneOptions", dispatch=False)
class AutotuneOptions(OptionsBase):
    """How what is left to AUTOTUNE is found.

    >>> options = tf.data.Options()
    >>> options.autotune.enabled = True
    """

    enabled = _Option(bool, 1, "Whether to tune at all.")
    cpu_budget = _Option(int, 2, "How many processors may be used.")
    ram_budget = _Option(int, 3, "How many bytes of memory may be used.")
    autotune_algorithm = _Option(AutotuneAlgorithm, 4, "How to tune.")
    initial_parallelism = _Option(int, 5, "The number of parallel calls to begin with.")
    min_parallelism = _Option(int, 6, "The least number of parallel calls.")


@api("data.experimental.DistributeOptions", dispatch=False)
class DistributeOptions(OptionsBase):
    """How a dataset is divided between workers.

    >>> options = tf.data.Options()
    >>> options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    """

    auto_shard_policy = _Option(AutoShardPolicy, 1, "What is divided: files or elements.", AutoShardPolicy.AUTO)
    num_devices = _Option(int, 2, "How many devices of this worker read the dataset.")


@api("data.experimental.OptimizationOptions", dispatch=False)
class OptimizationOptions(OptionsBase):
    """Which rewritings of the pipeline are allowed. None changes its elements or their order.

    >>> options = tf.data.Options()
    >>> options.experimental_optimization.map_fusion = True
    """

    apply_default_optimizations = _Option(bool, 1, "Whether to do what is usually done.")
    filter_fusion = _Option(bool, 6, "Whether to make one of filters that follow each other.")
    filter_parallelization = _Option(bool, 18, "Whether to call filters in parallel.")
    inject_prefetch = _Option(bool, 19, "Whether to end asynchronous pipelines with prefetch.")
    map_and_batch_fusion = _Option(bool, 9, "Whether to make one of map and batch.")
    map_and_filter_fusion = _Option(bool, 10, "Whether to make one of map and filter.")
    map_fusion = _Option(bool, 11, "Whether to make one of maps that follow each other.")
    map_parallelization = _Option(bool, 12, "Whether to call functions of map in parallel.")
    noop_elimination = _Option(bool, 14, "Whether to leave out what changes nothing.")
    parallel_batch = _Option(bool, 15, "Whether to make batches in parallel.")
    seq_interleave_prefetch = _Option(bool, 21, "Whether to prefetch in sequential interleave.")
    shuffle_and_repeat_fusion = _Option(bool, 17, "Whether to make one of shuffle and repeat.")


@api("data.experimental.ServiceOptions", dispatch=False)
class ServiceOptions(OptionsBase):
    """Options of the data service."""

    pinned = _Option(bool, 1, "Whether to keep elements in memory that devices read directly.")


@api("data.ThreadingOptions", "data.experimental.ThreadingOptions", dispatch=False)
class ThreadingOptions(OptionsBase):
    """How many threads a pipeline uses.

    >>> options = tf.data.Options()
    >>> options.threading.private_threadpool_size = 2
    """

    max_intra_op_parallelism = _Option(int, 1, "The threads of one operation.")
    private_threadpool_size = _Option(int, 2, "The threads of the pipeline; 0 for as many as it likes.")


@api("data.Options", dispatch=False)
class Options(OptionsBase):
    """How a pipeline is to be run: set them with `Dataset.with_options`.

    >>> options = tf.data.Options()
    >>> options.deterministic = False
    >>> dataset = tf.data.Dataset.range(3).with_options(options)
    >>> dataset.options().deterministic
    False
    """

    autotune = _Option(AutotuneOptions, 7, "How what is left to AUTOTUNE is found.", AutotuneOptions)
    dataset_name = _Option(str, 10, "A name for the dataset.")
    deterministic = _Option(bool, 1, "Whether elements must come in the same order each time. Yes by default.")
    experimental_deterministic = _Option(bool, 0, "Another name of `deterministic`.", alias="deterministic")
    experimental_distribute = _Option(
        DistributeOptions, 2, "How the dataset is divided between workers.", DistributeOptions
    )
    experimental_external_state_policy = _Option(
        ExternalStatePolicy, 6, "What to do when a pipeline that is saved depends on state outside of it."
    )
    experimental_optimization = _Option(
        OptimizationOptions, 3, "Which rewritings of the pipeline are allowed.", OptimizationOptions
    )
    experimental_service = _Option(ServiceOptions, 12, "Options of the data service.", ServiceOptions)
    experimental_slack = _Option(bool, 4, "Whether prefetch leaves the processors to the rest of the program at first.")
    experimental_symbolic_checkpoint = _Option(
        bool, 8, "Whether checkpoints of iterators say how to go on instead of holding buffers."
    )
    experimental_threading = _Option(ThreadingOptions, 0, "Another name of `threading`.", alias="threading")
    experimental_warm_start = _Option(bool, 9, "Whether threads start when the iterator is made.")
    framework_type = _Option(list, 11, "The frameworks that made the dataset, a list of strings.")
    headrace_small_positions = _Option(
        bool, 1002,
        "Whether checkpoints have of iterators only what headrace needs. Without the elements in buffers of shuffles "
        "and caches, TensorFlow cannot go on from there.",
    )  # fmt: skip
    headrace_worker_processes = _Option(
        int, 1001,
        "How many generators (of `from_generator`), and how many calls of `tf.py_function` and `tf.numpy_function` in "
        "`map`, may run at a time in processes of their own.",
    )  # fmt: skip
    threading = _Option(ThreadingOptions, 5, "How many threads the pipeline uses.", ThreadingOptions)

    def merge(self, options: Options) -> Options:
        """These options, and in their place those that are set in others.

        Args:
            options: the others.
        """
        if not isinstance(options, Options):
            raise TypeError(f"Could not merge incompatible options of type {type(options)} and {type(self)}.")
        return self._merged(options)
