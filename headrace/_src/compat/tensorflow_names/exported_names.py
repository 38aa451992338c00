"""`tensorflow.python.util.tf_export`: public names of functions of other packages, and of headrace."""

from typing import Any

from headrace._src.op.api import PUBLIC

_TENSORFLOW, _KERAS = "tensorflow", "keras"
_symbols: dict[str, Any] = {}  # by public name, those that packages have exported


class api_export:
    """Decorator: gives a function or class public names, which `get_canonical_name_for_symbol` tells.

    Args:
        args: the names; the first is the canonical one.
        api_name: "tensorflow" or "keras".
        v1: the names that it has in `tf.compat.v1`, where they are others.
    """

    def __init__(self, *args: str, api_name: str = _TENSORFLOW, v1=None, allow_multiple_exports: bool = True, **_):
        self._names = args
        self._names_v1 = tuple(v1) if v1 is not None else args
        self._api_name = api_name

    def __call__(self, func: Any) -> Any:
        """Note the names."""
        first, second = _attributes(self._api_name)
        target = getattr(func, "__func__", func)
        setattr(target, first, self._names)
        setattr(target, second, self._names_v1)
        for name in (*self._names, *self._names_v1):
            _symbols[name] = func
        return func

    def export_constant(self, module_name: str, name: str) -> None:
        """Constants keep no names; nothing is noted."""


class tf_export(api_export):
    """`api_export` for names of `tf`."""

    def __init__(self, *args: str, v1=None, **options):
        super().__init__(*args, api_name=_TENSORFLOW, v1=v1, **options)


class keras_export(api_export):
    """`api_export` for names of `tf.keras`."""

    def __init__(self, *args: str, v1=None, **options):
        super().__init__(*args, api_name=_KERAS, v1=v1, **options)


def _attributes(api_name):
    prefix = "_tf" if api_name == _TENSORFLOW else "_keras"
    return f"{prefix}_api_names", f"{prefix}_api_names_v1"


def _own(symbol, attribute):
    """An attribute of the symbol itself, not one that a class has from its base."""
    return vars(symbol).get(attribute, ()) if hasattr(symbol, "__dict__") else ()


def get_v2_names(symbol: Any) -> tuple[str, ...]:
    """The names of a function or class in TensorFlow 2 and Keras."""
    own = tuple(_own(symbol, "_tf_api_names")) + tuple(_own(symbol, "_keras_api_names"))
    return own or tuple(_own(symbol, "_public_names"))


def get_v1_names(symbol: Any) -> tuple[str, ...]:
    """The same in TensorFlow 1."""
    return tuple(_own(symbol, "_tf_api_names_v1")) + tuple(_own(symbol, "_keras_api_names_v1")) or get_v2_names(symbol)


def get_canonical_name_for_symbol(symbol: Any, api_name: str = _TENSORFLOW, add_prefix_to_v1_names: bool = False):
    """The first public name of a function or class; None if it has none."""
    names, names_v1 = (_own(symbol, attribute) for attribute in _attributes(api_name))
    if not names and api_name == _TENSORFLOW:
        names = _own(symbol, "_public_names")
    if names:
        return get_canonical_name(names, _own(symbol, "_tf_deprecated_api_names"))
    if names_v1:
        name = get_canonical_name(names_v1, _own(symbol, "_tf_deprecated_api_names"))
        return f"compat.v1.{name}" if add_prefix_to_v1_names else name
    return None


def get_canonical_name(api_names: Any, deprecated_api_names: Any) -> str | None:
    """The first name that is not deprecated, or the first."""
    kept = [name for name in api_names if name not in deprecated_api_names]
    return next(iter([*kept, *api_names]), None)


def get_symbol_from_name(name: str) -> Any:
    """The function or class with a public name; None if there is none."""
    if name in _symbols:
        return _symbols[name]
    return PUBLIC.get(name.removeprefix("tf."))


def kwarg_only(f: Any) -> Any:
    """Decorator: the function takes named arguments only."""

    def wrapper(*args, **kwargs):
        if args:
            raise TypeError(
                f"{f.__name__} takes named arguments only ({_arguments_of(f)}); {len(args)} came without a name."
            )
        return f(**kwargs)

    wrapper.__doc__, wrapper.__name__ = f.__doc__, f.__name__
    return wrapper


def _arguments_of(function):
    return list(function.__code__.co_varnames[: function.__code__.co_argcount])
