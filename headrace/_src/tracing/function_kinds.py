"""The kinds of functions that run as graphs, to tell them apart: `tf.types.experimental.GenericFunction` and so on."""

import abc

from headrace._src.op.api import export
from headrace._src.tracing import concrete_function
from headrace._src.tracing.function import Function


class Callable(metaclass=abc.ABCMeta):
    """A function that TensorFlow's runtime can call."""

    @property
    @abc.abstractmethod
    def function_type(self) -> None:
        """The parameters, with their types."""

    @abc.abstractmethod
    def __call__(self, *args, **kwargs) -> None:
        """Call it."""


class ConcreteFunction(Callable):
    """A traced function, for arguments of certain types."""


class PolymorphicFunction(Callable):
    """A function that is traced once for each combination of types of arguments: what `tf.function` returns.

    >>> isinstance(tf.function(lambda x: x), tf.types.experimental.GenericFunction)
    True
    """

    @abc.abstractmethod
    def get_concrete_function(self, *args, **kwargs) -> None:
        """The function traced for arguments like these."""

    @abc.abstractmethod
    def experimental_get_compiler_ir(self, *args, **kwargs) -> None:
        """The program that it is compiled to."""


PolymorphicFunction.register(Function)
ConcreteFunction.register(concrete_function.ConcreteFunction)

export("types.experimental.Callable")(Callable)
export("types.experimental.ConcreteFunction")(ConcreteFunction)
export("types.experimental.PolymorphicFunction", "types.experimental.GenericFunction")(PolymorphicFunction)
