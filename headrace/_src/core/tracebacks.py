"""Which frames are of this package, and tracebacks without them, for errors that users cause.

Where the user's code enters headrace, errors leave through

    except BaseException as error:
        hide_frames(error)
        raise

A bare `raise` goes on with the traceback that the error has then and adds no entry for the frame that it stands in, so
that the user's own frames are all that is left; whoever prints or logs the error sees the same.
"""

import functools
import inspect
import os
import sys
import sysconfig
import threading
import types
from collections.abc import Callable, Sequence
from typing import TypeVar

from headrace._src.core.lazy import LazyModule

_accounts = LazyModule("headrace._src.core.accounts")  # for errors

IMPLEMENTATION = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # .../headrace/_src/
PACKAGE = os.path.dirname(os.path.dirname(IMPLEMENTATION)) + os.sep  # .../headrace/
PARENT = os.path.dirname(os.path.dirname(PACKAGE))  # what `import headrace` needs on the path

# How the qualified names end of functions that AutoGraph makes of the blocks of a user's function.
STAGED = ".<staged>"

# The file name of code that plans are written out as.
GRAPH_CODE = "<graph>"

Function = TypeVar("Function", bound=Callable)


class _Switch(threading.local):
    on = True


_switch = _Switch()


def is_traceback_filtering_enabled() -> bool:
    """Whether this thread's errors leave out the frames of headrace itself."""
    return _switch.on


def enable_traceback_filtering() -> None:
    """Leave the frames of headrace itself out of the tracebacks of this thread's errors (the default)."""
    _switch.on = True


def disable_traceback_filtering() -> None:
    """Show all frames in tracebacks, as one wants when looking into headrace itself."""
    _switch.on = False


# Whose code a file is.
_OURS, _KERAS, _LIBRARY, _USERS = "ours", "keras", "library", "users"
_STANDARD = os.path.realpath(sysconfig.get_paths()["stdlib"]) + os.sep
_INSTALLED = ("site-packages", "dist-packages")
# Packages that headrace and Keras call. What the user's own code calls of them is shown.
_CALLED = frozenset({
    "numpy", "scipy", "ml_dtypes", "jax", "jaxlib", "google", "PIL", "simplejpeg", "imagecodecs", "fsspec", "absl",
    "h5py", "optree", "rich", "google_crc32c",
})  # fmt: skip


@functools.lru_cache(4096)
def _whose(filename: str) -> str:
    if filename.startswith(PACKAGE) or filename == GRAPH_CODE:
        return _OURS
    if filename.startswith(("<frozen ", "<__array_function__")):
        return _LIBRARY
    parts = filename.split(os.sep)
    for place in _INSTALLED:
        if place in parts:
            package = parts[parts.index(place) + 1 :][:1]
            if package == ["keras"]:
                return _KERAS
            return _LIBRARY if package and package[0] in _CALLED else _USERS
    return _LIBRARY if os.path.realpath(filename).startswith(_STANDARD) else _USERS


def is_users(filename: str) -> bool:
    """Whether a file is neither of headrace nor of Keras nor of a library that these call."""
    return _whose(filename) is _USERS


def _shows_keras() -> bool:
    """Whether the program has asked Keras for its frames."""
    keras = sys.modules.get("keras.src.utils.traceback_utils")
    return keras is not None and not keras.is_traceback_filtering_enabled()


def outside_frames(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback without the frames of headrace, of Keras, and of what these call; None when no other is left.

    A block of a function that AutoGraph converted replaces the frame of the statement that runs it, so that each
    function of the user appears once.
    """
    frames: list[types.TracebackType] = []
    hidden = (_OURS,) if _shows_keras() else (_OURS, _KERAS)
    inside = False  # whether what called this frame is hidden
    while traceback is not None:
        code = traceback.tb_frame.f_code
        whose = _whose(code.co_filename)
        inside = whose in hidden or (inside and whose is _LIBRARY)
        if not inside:
            if code.co_qualname.endswith(STAGED) and frames and _runs(frames[-1].tb_frame.f_code, code):
                frames.pop()
            frames.append(traceback)
        traceback = traceback.tb_next
    shortened = None
    for frame in reversed(frames):
        shortened = types.TracebackType(shortened, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shortened


def hide_frames(error: BaseException) -> None:
    """Leave the user's frames only in the traceback of an error, unless this thread wants to see all.

    So too in the errors before it; of those during whose handling it came, the ones that nothing but headrace's own
    code saw are forgotten.
    """
    if not _switch.on:
        return
    error.__traceback__ = outside_frames(error.__traceback__)
    seen = {id(error)}
    while True:
        cause, inner = error.__cause__, error.__cause__ or error.__context__
        if inner is None or id(inner) in seen or (cause is None and error.__suppress_context__):
            return
        seen.add(id(inner))
        inner.__traceback__ = outside_frames(inner.__traceback__)
        if cause is None and inner.__traceback__ is None:
            error.__suppress_context__ = True
            return
        error = inner


def entrance(function: Function) -> Function:
    """Decorator for a function that users call: its errors show the user's frames only.

    It costs a call. Functions that are called for each op have the lines at the top of this file themselves.
    """

    @functools.wraps(function)
    def enter(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            hide_frames(error)
            raise

    return enter  # type: ignore[return-value]


def bordered(name: str) -> Callable[[Function], Function]:
    """An `entrance` whose errors also name the function, as the user knows it, and the arguments that it was given."""

    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except Exception as caught:
                try:
                    raise _accounts.tell(caught, run, inspect.signature(function), args, kwargs)
                except BaseException as error:
                    hide_frames(error)
                    raise
            except BaseException as error:
                hide_frames(error)
                raise

        run._public_name = name
        return run

    return decorate


# Of the methods with such names, those that users call by writing something else.
_SPECIAL = frozenset(
    "__init__ __call__ __getitem__ __setitem__ __len__ __iter__ __next__ __enter__ __exit__ __bool__ __hash__".split()
)


def enter_by_methods(cls: type, but: Sequence[str] = (), public_name: str = "") -> None:
    """Make all methods that a class itself defines, and that users call, an `entrance`, but for some.

    With the name of the class, errors of methods that users call by their names say `Class.method` and the arguments.
    """
    for name, value in list(vars(cls).items()):
        if name in but or (name.startswith("_") and name not in _SPECIAL):
            continue
        if hasattr(value, "_public_name"):
            continue  # it is bordered
        if isinstance(value, types.FunctionType):
            named = public_name and not name.startswith("_")
            setattr(cls, name, bordered(f"{public_name}.{name}")(value) if named else entrance(value))
        elif isinstance(value, (staticmethod, classmethod)) and isinstance(value.__func__, types.FunctionType):
            setattr(cls, name, type(value)(entrance(value.__func__)))


def _runs(outer, block):
    """Whether `block` is a block of the function `outer`, or of one that `outer` is a block of."""
    whole = block.co_qualname.removesuffix(STAGED)
    return outer.co_filename == block.co_filename and outer.co_qualname.removesuffix(STAGED) == whole


PUBLIC = {
    "debugging.is_traceback_filtering_enabled": is_traceback_filtering_enabled,
    "debugging.enable_traceback_filtering": enable_traceback_filtering,
    "debugging.disable_traceback_filtering": disable_traceback_filtering,
}
