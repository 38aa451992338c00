"""`tf.compat.v1.logging`: messages of the logger "tensorflow"."""

import collections
import logging

from headrace._src.op.api import api, export
from headrace._src.program.message_log import message_log

DEBUG = export("compat.v1.logging.DEBUG")(logging.DEBUG)
INFO = export("compat.v1.logging.INFO")(logging.INFO)
WARN = export("compat.v1.logging.WARN")(logging.WARNING)
ERROR = export("compat.v1.logging.ERROR")(logging.ERROR)
FATAL = export("compat.v1.logging.FATAL")(logging.CRITICAL)

_logger = message_log()
_counts: collections.Counter = collections.Counter()


@api("compat.v1.logging.log", dispatch=False)
def log(level, msg, *args, **kwargs) -> None:
    """Log a message at a level."""
    _logger.log(level, msg, *args, **kwargs)


@api("compat.v1.logging.vlog", dispatch=False)
def vlog(level, msg, *args, **kwargs) -> None:
    """The same as `log`."""
    _logger.log(level, msg, *args, **kwargs)


@api("compat.v1.logging.debug", dispatch=False)
def debug(msg, *args, **kwargs) -> None:
    """Log a message for finding faults."""
    _logger.debug(msg, *args, **kwargs)


@api("compat.v1.logging.info", dispatch=False)
def info(msg, *args, **kwargs) -> None:
    """Log what goes on."""
    _logger.info(msg, *args, **kwargs)


@api("compat.v1.logging.warn", "compat.v1.logging.warning", dispatch=False)
def warning(msg, *args, **kwargs) -> None:
    """Log a warning."""
    _logger.warning(msg, *args, **kwargs)


@api("compat.v1.logging.error", dispatch=False)
def error(msg, *args, **kwargs) -> None:
    """Log an error."""
    _logger.error(msg, *args, **kwargs)


@api("compat.v1.logging.fatal", dispatch=False)
def fatal(msg, *args, **kwargs) -> None:
    """Log an error that ends the program; it is left to the caller to end it."""
    _logger.critical(msg, *args, **kwargs)


@api("compat.v1.logging.log_if", dispatch=False)
def log_if(level, msg, condition, *args) -> None:
    """Log a message if a condition is true."""
    if condition:
        _logger.log(level, msg, *args)


@api("compat.v1.logging.log_every_n", dispatch=False)
def log_every_n(level, msg, n, *args) -> None:
    """Log a message the first time and every n-th time after, counted per message."""
    if _counts["every", msg] % n == 0:
        _logger.log(level, msg, *args)
    _counts["every", msg] += 1


@api("compat.v1.logging.log_first_n", dispatch=False)
def log_first_n(level, msg, n, *args) -> None:
    """Log a message the first n times, counted per message."""
    if _counts["first", msg] < n:
        _logger.log(level, msg, *args)
    _counts["first", msg] += 1


@api("compat.v1.logging.TaskLevelStatusMessage", dispatch=False)
def TaskLevelStatusMessage(msg) -> None:
    """Log the status of a task, as an error."""
    error(msg)


@api("compat.v1.logging.flush", dispatch=False)
def flush() -> None:
    """Write out what is logged already."""
    for handler in (*_logger.handlers, *logging.getLogger().handlers):
        handler.flush()


@api("compat.v1.logging.get_verbosity", dispatch=False)
def get_verbosity() -> int:
    """The least level that is logged."""
    return _logger.getEffectiveLevel()


@api("compat.v1.logging.set_verbosity", dispatch=False)
def set_verbosity(v) -> None:
    """Set the least level that is logged."""
    _logger.setLevel(v)
