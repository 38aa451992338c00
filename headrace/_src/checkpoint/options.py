"""`tf.train.CheckpointOptions`: what can be chosen when a checkpoint is written or read."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from headrace._src.checkpoint.sharding import ShardingCallback
from headrace._src.op.api import api


@api("train.CheckpointOptions")
class CheckpointOptions:
    """Choices for `tf.train.Checkpoint` and `tf.train.CheckpointManager`.

    Args:
        experimental_io_device: accepted; files are written by this process.
        experimental_enable_async_checkpoint: the older name of `enable_async`.
        experimental_write_callbacks: functions that are called, in this order, when the files are on the disk. They
            take the path of the checkpoint, or nothing. With `enable_async` this happens in another thread.
        enable_async: write the files in another thread, while the program goes on. What is saved are the values of
            now. If that fails, the next `save`, `restore` or `sync` raises the error.
        experimental_skip_slot_variables: leave out the slots of optimizers when restoring.
        experimental_sharding_callback: a `tf.train.experimental.ShardingCallback`, which says which file has what.

    Raises:
        ValueError: a callback needs more than one argument, or is none.

    >>> options = tf.train.CheckpointOptions(enable_async=True)
    >>> options.enable_async, options.experimental_write_callbacks
    (True, None)
    """

    __slots__ = (
        "enable_async", "experimental_io_device", "experimental_sharding_callback",
        "experimental_skip_slot_variables", "experimental_write_callbacks",
    )  # fmt: skip

    def __init__(
        self,
        experimental_io_device: Any = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Sequence[Callable[..., Any]] | None = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: ShardingCallback | None = None,
    ):
        if not isinstance(experimental_sharding_callback, ShardingCallback | None):
            raise ValueError(
                "The experimental_sharding_callback checkpoint option must be of type ShardingCallback. The option "
                f"provided was of type {type(experimental_sharding_callback)}."
            )
        for callback in experimental_write_callbacks or ():
            if not _can_take(callback, "path") and not _can_take(callback):
                raise ValueError(
                    "CheckpointOptions: each of experimental_write_callbacks must be a function of the path of the "
                    f"checkpoint, or of nothing, but {callback} is not."
                )
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_sharding_callback = experimental_sharding_callback
        self.experimental_skip_slot_variables = experimental_skip_slot_variables

    @property
    def experimental_enable_async_checkpoint(self) -> bool:
        """The older name of `enable_async`."""
        return self.enable_async

    @experimental_enable_async_checkpoint.setter
    def experimental_enable_async_checkpoint(self, value):
        self.enable_async = value

    def __copy__(self):
        # The list is another one, so that what is added to it is not added here.
        callbacks = self.experimental_write_callbacks
        return CheckpointOptions(
            self.experimental_io_device,
            experimental_write_callbacks=None if callbacks is None else list(callbacks),
            enable_async=self.enable_async,
            experimental_skip_slot_variables=self.experimental_skip_slot_variables,
            experimental_sharding_callback=self.experimental_sharding_callback,
        )


def _can_take(callback, *arguments):
    if not callable(callback):
        return False
    try:
        inspect.signature(callback).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # some functions in native code do not say
        return True
    return True


def call_write_callbacks(options: CheckpointOptions | None, path: str) -> None:
    """Tells the functions of `experimental_write_callbacks` that a checkpoint has been written."""
    for callback in (options and options.experimental_write_callbacks) or ():
        callback(path) if _can_take(callback, path) else callback()
