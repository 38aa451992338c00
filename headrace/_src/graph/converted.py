"""Functions that users hand to the library: AutoGraph, a higher layer, converts them."""

_converters: list = []


def register_converter(converter):
    """Say how to convert a function of the user's that is called while a function is traced."""
    _converters[:] = [converter]


def converted(function):
    """The function with its control flow turned into operations, where that is wanted."""
    return _converters[0](function) if _converters else function
