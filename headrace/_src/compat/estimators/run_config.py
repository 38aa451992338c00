"""`RunConfig`: how an estimator runs, where it saves and how often."""

import copy
import json
import os
from typing import Any

from headrace._src.distribute.cluster_specs import ClusterSpec
from headrace._src.op.api import api

_USUAL = object()
_REPLACEABLE = (
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
    "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
    "train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute",
    "experimental_max_worker_delay_secs", "session_creation_timeout_secs", "checkpoint_save_graph_def",
)  # fmt: skip
_NOT_NEGATIVE = ("save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max")
_POSITIVE = ("keep_checkpoint_every_n_hours", "log_step_count_steps", "session_creation_timeout_secs")


@api("estimator.RunConfig", "compat.v1.estimator.RunConfig", dispatch=False)
class RunConfig:
    """How an estimator runs.

    Args:
        model_dir: the folder of checkpoints and summaries.
        tf_random_seed: the seed of each graph.
        save_summary_steps: how often summaries are written.
        save_checkpoints_steps, save_checkpoints_secs: how often checkpoints are, in steps or seconds, but not in both;
            every 600 seconds by default.
        session_config: a `tf.compat.v1.ConfigProto`.
        keep_checkpoint_max: how many checkpoints stay.
        keep_checkpoint_every_n_hours: one in so many hours stays for good.
        log_step_count_steps: how often the loss and the speed are logged.
        train_distribute, eval_distribute, experimental_distribute: refused: an estimator runs in one place.
        device_fn, protocol, experimental_max_worker_delay_secs, session_creation_timeout_secs: accepted.
        checkpoint_save_graph_def: whether graphs are written beside checkpoints.

    Raises:
        ValueError: both of steps and seconds are given, or a number is negative.
        NotImplementedError: a strategy is given, or TF_CONFIG names several machines.

    >>> config = tf.estimator.RunConfig(save_checkpoints_steps=10)
    >>> config.save_checkpoints_secs is None, config.is_chief
    (True, True)
    """

    def __init__(
        self, model_dir=None, tf_random_seed=None, save_summary_steps=100, save_checkpoints_steps=_USUAL,
        save_checkpoints_secs=_USUAL, session_config=None, keep_checkpoint_max=5, keep_checkpoint_every_n_hours=10000,
        log_step_count_steps=100, train_distribute=None, device_fn=None, protocol=None, eval_distribute=None,
        experimental_distribute=None, experimental_max_worker_delay_secs=None, session_creation_timeout_secs=7200,
        checkpoint_save_graph_def=True,
    ) -> None:  # fmt: skip
        given = {name: value for name, value in locals().items() if name in _REPLACEABLE}
        if given["save_checkpoints_steps"] is _USUAL and given["save_checkpoints_secs"] is _USUAL:
            given.update(save_checkpoints_steps=None, save_checkpoints_secs=600)
        for name in ("save_checkpoints_steps", "save_checkpoints_secs"):
            if given[name] is _USUAL:
                given[name] = None
        self._values: dict[str, Any] = {}
        self._set(given)
        self._values["model_dir"] = self._values["model_dir"] or _folder_of_environment()

    def _set(self, given):
        values = {**self._values, **given}
        if values["save_checkpoints_steps"] is not None and values["save_checkpoints_secs"] is not None:
            raise ValueError("RunConfig: give save_checkpoints_steps or the seconds, not both.")
        for names, least in ((_NOT_NEGATIVE, 0), (_POSITIVE, 1)):
            for name in names:
                if values[name] is not None and values[name] < least and name in given:
                    raise ValueError(f"RunConfig: {name} must be at least {least}, got {values[name]!r}.")
        for name in ("train_distribute", "eval_distribute", "experimental_distribute"):
            if values[name] is not None:
                raise NotImplementedError(
                    f"RunConfig: {name} is not there: estimators train in one place. tf.keras.Model.fit under "
                    "strategy.scope() trains on several."
                )
        self._values = values

    def __getattr__(self, name) -> Any:
        if name in _REPLACEABLE and "_values" in self.__dict__:
            return self._values[name]
        raise AttributeError(f"RunConfig has no attribute {name!r}.")

    def __dir__(self):
        return [*super().__dir__(), *_REPLACEABLE]

    # One process does everything.

    cluster_spec = property(lambda self: ClusterSpec({}))
    master = property(lambda self: "")
    evaluation_master = property(lambda self: "")
    task_type = property(lambda self: "worker")
    task_id = property(lambda self: 0)
    global_id_in_cluster = property(lambda self: 0)
    num_ps_replicas = property(lambda self: 0)
    num_worker_replicas = property(lambda self: 1)
    is_chief = property(lambda self: True)
    service = property(lambda self: None)

    def replace(self, **kwargs) -> "RunConfig":
        """A copy in which some settings are others.

        Raises:
            ValueError: there is no such setting.

        >>> tf.estimator.RunConfig().replace(tf_random_seed=3).tf_random_seed
        3
        """
        for name in kwargs:
            if name not in _REPLACEABLE:
                raise ValueError(f"RunConfig: there is no setting {name!r}; there are {', '.join(_REPLACEABLE)}.")
        # One of the two that exclude each other replaces the other.
        for one, other in (("steps", "secs"), ("secs", "steps")):
            if kwargs.get(f"save_checkpoints_{one}") is not None and f"save_checkpoints_{other}" not in kwargs:
                kwargs[f"save_checkpoints_{other}"] = None
        made = copy.copy(self)
        made._values = dict(self._values)
        made._set(kwargs)
        return made

    def __repr__(self) -> str:
        return f"RunConfig({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"


def _folder_of_environment():
    """The folder that TF_CONFIG names.

    Raises:
        NotImplementedError: it names several machines.
    """
    text = os.environ.get("TF_CONFIG")
    if not text:
        return None
    said = json.loads(text)
    if sum(len(tasks) for tasks in said.get("cluster", {}).values()) > 1:
        raise NotImplementedError(
            "RunConfig: TF_CONFIG names several machines, but estimators train in one place. "
            "tf.distribute.MultiWorkerMirroredStrategy with tf.keras.Model.fit trains on several."
        )
    return said.get("model_dir")
