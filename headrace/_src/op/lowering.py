"""What lowerings tell the compiler besides jax values."""


class NotLowerable(Exception):
    """Raised by `lower` for an application that only the host can run, such as of a list without a bound.

    The compiler catches it, and that part of the graph stays interpreted.
    """

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


class NeedsValue(NotLowerable):
    """The same, for an application that could be compiled if one of its input values were known while compiling."""
