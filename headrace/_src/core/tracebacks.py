"""Which frames are of this package, and tracebacks without them, for errors that users cause."""

import os
import threading
import types

IMPLEMENTATION = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # .../headrace/_src/
PACKAGE = os.path.dirname(os.path.dirname(IMPLEMENTATION)) + os.sep  # .../headrace/
PARENT = os.path.dirname(os.path.dirname(PACKAGE))  # what `import headrace` needs on the path

# How the qualified names end of functions that AutoGraph makes of the blocks of a user's function.
STAGED = ".<staged>"


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


def outside_frames(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback without the frames whose code is in this package; None when no other is left.

    A block of a function that AutoGraph converted replaces the frame of the statement that runs it, so that each
    function of the user appears once.
    """
    frames: list[types.TracebackType] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(IMPLEMENTATION):
            if code.co_qualname.endswith(STAGED) and frames and _runs(frames[-1].tb_frame.f_code, code):
                frames.pop()
            frames.append(traceback)
        traceback = traceback.tb_next
    shortened = None
    for frame in reversed(frames):
        shortened = types.TracebackType(shortened, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shortened


def shortened(error: BaseException) -> BaseException:
    """The error with a traceback that shows the user's frames only, unless this thread wants to see all."""
    if is_traceback_filtering_enabled():
        return error.with_traceback(outside_frames(error.__traceback__))
    return error


def _runs(outer, block):
    """Whether `block` is a block of the function `outer`, or of one that `outer` is a block of."""
    whole = block.co_qualname.removesuffix(STAGED)
    return outer.co_filename == block.co_filename and outer.co_qualname.removesuffix(STAGED) == whole


PUBLIC = {
    "debugging.is_traceback_filtering_enabled": is_traceback_filtering_enabled,
    "debugging.enable_traceback_filtering": enable_traceback_filtering,
    "debugging.disable_traceback_filtering": disable_traceback_filtering,
}
