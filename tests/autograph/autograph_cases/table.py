"""The table of cases, filled by the decorator `case`."""

CASES = {}


class Case:
    """A function and its arguments."""

    def __init__(self, function, arguments, tensors, graph):
        self.name = function.__name__
        self.function = function
        self.arguments = [a if isinstance(a, tuple) else (a,) for a in arguments]
        self.tensors = tensors
        self.graph = graph


def case(*arguments, tensors=True, graph=True):
    """Decorator: add a function to the table.

    Args:
        arguments: What to call it with, one call each; a tuple stands for several arguments.
        tensors: Whether it also works with eager tensors in place of numbers.
        graph: Whether it also works as a tf.function of tensors; otherwise only of the numbers themselves.
    """

    def add(function):
        assert function.__name__ not in CASES, function.__name__
        CASES[function.__name__] = Case(function, arguments, tensors, graph)
        return function

    return add
