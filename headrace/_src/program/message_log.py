"""Where messages of the loggers "tensorflow" and "headrace" go, in a program that has set up no logging."""

import logging
import sys


class _StandardError(logging.Handler):
    """Writes to what is standard error at the time, as long as nobody else takes messages."""

    def emit(self, record):
        if not logging.getLogger().handlers:
            sys.stderr.write(self.format(record) + "\n")


_handler = _StandardError()
_handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))  # TF: WARNING:tensorflow:what happened


def message_log() -> logging.Logger:
    """The logger "tensorflow", with a place to write to."""
    for name in ("tensorflow", "headrace"):
        logger = logging.getLogger(name)
        if _handler not in logger.handlers:
            logger.addHandler(_handler)
    return logging.getLogger("tensorflow")
