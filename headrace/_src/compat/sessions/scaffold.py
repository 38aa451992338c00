"""`Scaffold`: the operations with which a monitored session prepares a graph, made where the user gives none."""

from typing import Any

from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.graph_keys import (
    GraphKeys,
    get_collection,
    global_variables,
    global_variables_initializer,
    grouped,
    local_variables_initializer,
    report_uninitialized_variables,
    tables_initializer,
)
from headrace._src.compat.saving.saver import Saver
from headrace._src.compat.summaries.summary_operations import merge_all
from headrace._src.core.context import context
from headrace._src.op.api import api


@api("compat.v1.train.Scaffold")
class Scaffold:
    """What a graph is prepared with. Each part that is not given is made, or found in its collection.

    Args:
        init_op: initialises variables, when there is no checkpoint.
        init_feed_dict: what to feed then.
        init_fn: a function of the scaffold and the session that is called afterwards.
        ready_op: gives the names of variables without a value; the graph is ready when there are none.
        ready_for_local_init_op: the same, before `local_init_op` runs.
        local_init_op: initialises local variables and tables, in each session.
        summary_op: gives all summaries.
        saver: saves and restores the variables.
        copy_from_scaffold: a scaffold whose parts are taken where none are given.
        local_init_feed_dict: what to feed to `local_init_op`.
    """

    def __init__(
        self,
        init_op=None,
        init_feed_dict=None,
        init_fn=None,
        ready_op=None,
        ready_for_local_init_op=None,
        local_init_op=None,
        summary_op=None,
        saver=None,
        copy_from_scaffold=None,
        local_init_feed_dict=None,
    ) -> None:
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        other = copy_from_scaffold

        def chosen(given, name):
            return given if given is not None or other is None else getattr(other, name)

        self._init_op = chosen(init_op, "init_op")
        self._init_feed_dict = chosen(init_feed_dict, "init_feed_dict")
        self._user_init_fn = chosen(init_fn, "_user_init_fn")
        self._ready_op = chosen(ready_op, "ready_op")
        self._ready_for_local_init_op = chosen(ready_for_local_init_op, "ready_for_local_init_op")
        self._local_init_op = chosen(local_init_op, "local_init_op")
        self._local_init_feed_dict = chosen(local_init_feed_dict, "local_init_feed_dict")
        self._summary_op = chosen(summary_op, "summary_op")
        self._saver = chosen(saver, "saver")

    init_op = property(lambda self: self._init_op)
    init_feed_dict = property(lambda self: self._init_feed_dict)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(lambda self: self._ready_for_local_init_op)
    local_init_op = property(lambda self: self._local_init_op)
    local_init_feed_dict = property(lambda self: self._local_init_feed_dict)
    summary_op = property(lambda self: self._summary_op)
    saver = property(lambda self: self._saver)

    @property
    def init_fn(self) -> Any:
        """A function of the session, or None."""
        user = self._user_init_fn
        return None if user is None else lambda session: user(self, session)

    def finalize(self) -> "Scaffold":
        """Make the parts that are missing, and let nothing be added to the graph any more."""
        if self._init_op is None:
            self._init_op = self.get_or_default("init_op", GraphKeys.INIT_OP, global_variables_initializer)
        if self._ready_op is None:
            self._ready_op = self.get_or_default("ready_op", GraphKeys.READY_OP, report_uninitialized_variables)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = self.get_or_default(
                "ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP,
                lambda: report_uninitialized_variables(global_variables()),
            )  # fmt: skip
        if self._local_init_op is None:
            self._local_init_op = self.get_or_default(
                "local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op
            )
        if self._summary_op is None:
            self._summary_op = self.get_or_default("summary_op", GraphKeys.SUMMARY_OP, merge_all)
        if self._saver is None:
            self._saver = self.get_or_default("saver", GraphKeys.SAVERS, _default_saver)
        self._saver.build()
        get_default_graph().finalize()
        return self

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor) -> Any:
        """The only element of a collection, or a new one, which is added to it.

        Raises:
            RuntimeError: the collection has several.
        """
        found = get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f"More than one item in the collection {collection_key!r}. Please indicate which one to use by passing "
                f"it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            get_default_graph().add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """An operation that initialises local variables and tables."""
        return grouped([local_variables_initializer(), tables_initializer()], "group_deps")


def _default_saver():
    with context.graph.control_dependencies(None):
        return Saver(sharded=True, allow_empty=True)
