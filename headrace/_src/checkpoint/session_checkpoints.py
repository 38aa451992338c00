"""`tf.compat.v1.train.Checkpoint`: checkpoints of objects in 1.x graphs, saved and restored in sessions."""

from __future__ import annotations

import weakref
from typing import Any

from headrace._src.checkpoint.checkpoints import (
    ObjectSaver,
    check_trackable,
    new_counter,
    refuse_functions,
    restore_from,
    save_numbered,
)
from headrace._src.checkpoint.load_status import LoadStatus, NameBasedSaverStatus
from headrace._src.checkpoint.options import CheckpointOptions
from headrace._src.core.trackable import AutoTrackable
from headrace._src.op.api import api
from headrace._src.state.variables import Variable


@api("compat.v1.train.Checkpoint", dispatch=False)
class CheckpointV1(AutoTrackable):
    """A group of objects whose values are saved together in a session, and restored together.

    Args:
        **kwargs: objects by name. More can be added as attributes.

    Raises:
        ValueError: an argument cannot be saved.

    >>> import os, tempfile
    >>> prefix = os.path.join(tempfile.mkdtemp(), "model")
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     v = tf.compat.v1.get_variable("v", initializer=2.0, use_resource=True)
    ...     session.run(v.initializer)
    ...     checkpoint = tf.compat.v1.train.Checkpoint(v=v)
    ...     path = checkpoint.save(prefix)
    ...     _ = session.run(v.assign(0.0))
    ...     checkpoint.restore(path).assert_consumed().run_restore_ops()
    ...     float(session.run(v))
    2.0
    """

    def __init__(self, **kwargs: Any) -> None:
        self.__dict__.update(_save_counter=None, _saver=ObjectSaver(weakref.ref(self), {}))
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)
            check_trackable(getattr(self, name), name)

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called, a variable that is part of the checkpoint."""
        if self._save_counter is None:
            counter = self.__dict__["_save_counter"] = new_counter()
            self._track_trackable(counter, "save_counter")
        return self._save_counter

    def write(self, file_prefix: Any, session: Any = None, options: CheckpointOptions | None = None) -> Any:
        """Saves to `file_prefix`. Neither numbers nor the file `checkpoint` of the folder change.

        Args:
            file_prefix: the path of the checkpoint.
            session: the session whose values are saved; by default the default one. Outside of graphs it is ignored.
            options: a `tf.train.CheckpointOptions`.

        Returns:
            The path.
        """
        return self._saver.write(file_prefix, options, session)

    def save(self, file_prefix: Any, session: Any = None, options: CheckpointOptions | None = None) -> str:
        """Saves to `<file_prefix>-<number>`, and says in the file `checkpoint` of the folder that this is the latest.

        Args:
            file_prefix: a path; numbers are added to it, from 1 on.
            session: the session whose values are saved; by default the default one. Outside of graphs it is ignored.
            options: a `tf.train.CheckpointOptions`.

        Returns:
            The path of the checkpoint, for `restore`.
        """
        refuse_functions()
        return save_numbered(self._saver, self.save_counter, file_prefix, options, session)

    def restore(self, save_path: Any) -> LoadStatus:
        """Restores a checkpoint. In a graph, this happens when `run_restore_ops` of what is returned is called.

        Args:
            save_path: the path of the checkpoint; None restores nothing.

        Returns:
            A status, as from `tf.train.Checkpoint.restore`. In a graph, `initialize_or_restore(session)` initialises
            what is not in the checkpoint, and restores the rest.
        """
        status = restore_from(self._saver, save_path, None)
        counter = self.save_counter
        if isinstance(status, NameBasedSaverStatus):
            status.add_to_optionally_restored(counter)
        return status
