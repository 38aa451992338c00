"""How an estimator evaluates: metrics over all batches of a dataset, in a monitored session."""

import logging
import time
from typing import Any

import numpy as np

from headrace._src.compat.graph_keys import grouped
from headrace._src.compat.sessions.monitored_sessions import ChiefSessionCreator, MonitoredSession
from headrace._src.compat.sessions.training_hooks import FinalOpsHook
from headrace._src.compat.summaries.file_writers import FileWriterCache
from headrace._src.compat.training import metrics
from headrace._src.core import nest
from headrace._src.core.lazy import LazyModule

_events = LazyModule("headrace._src.formats.event_messages")
_logger = logging.getLogger("tensorflow")
LOSS, GLOBAL_STEP = "loss", "global_step"


def evaluate(spec, step, hooks, steps, path, config, folder) -> dict:
    """The metrics of a model in the default graph, which are also written to an event file.

    Args:
        spec: the model.
        step: the variable that counts steps of training.
        hooks: `SessionRunHook` objects.
        steps: how many batches; None for all.
        path: a checkpoint; None for initial values.
        config: a `RunConfig`.
        folder: that of the event file.
    """
    pairs = _with_loss(spec)
    update = grouped([each for _, update in pairs.values() for each in nest.flatten(update)], "eval_op")
    final = FinalOpsHook({**{name: value for name, (value, _) in pairs.items()}, GLOBAL_STEP: step.value()})
    begun = time.time()
    _logger.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(begun)))
    _run([*hooks, final], update, steps, spec.scaffold, path, config)
    _logger.info("Inference Time : %0.5fs", time.time() - begun)
    _logger.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))
    results = dict(final.final_ops_values)
    _write(results, folder, path)
    return results


def _with_loss(spec):
    if LOSS in spec.eval_metric_ops or GLOBAL_STEP in spec.eval_metric_ops:
        raise ValueError("EstimatorSpec: metrics must not be called 'loss' or 'global_step', which are always there.")
    return dict(sorted({**spec.eval_metric_ops, LOSS: metrics.mean(spec.loss)}.items()))


def _run(hooks, update, steps, scaffold, path, config):
    creator = ChiefSessionCreator(scaffold, config=config.session_config, checkpoint_filename_with_path=path)
    with MonitoredSession(creator, hooks) as session:
        done = 0
        while not session.should_stop() and (steps is None or done < steps):
            session.run(update)
            done += 1
            if steps is not None and (steps < 10 or done % (steps // 10) == 0):
                _logger.info("Evaluation [%d/%d]", done, steps)


def _write(results: dict[str, Any], folder, path):
    step = int(results[GLOBAL_STEP])
    text = ", ".join(f"{name} = {value}" for name, value in sorted(results.items()))
    _logger.info("Saving dict for global step %d: %s", step, text)
    writer, summary = FileWriterCache.get(folder), _events.Summary()
    for name, value in sorted(results.items()):
        if name != GLOBAL_STEP:
            _add(summary, name, value)
    writer.add_summary(summary, step)
    if path is not None:
        _logger.info("Saving 'checkpoint_path' summary for global step %d: %s", step, path)
        said = _events.Summary()
        one = said.value.add(tag="checkpoint_path")
        one.tensor.dtype = 7  # a string
        one.tensor.tensor_shape.SetInParent()
        one.tensor.string_val.append(path.encode())
        one.metadata.plugin_data.plugin_name = "text"
        writer.add_summary(said, step)
    writer.flush()


def _add(summary, name, value):
    """Add a value to a summary: a number, or a summary that a metric has made."""
    array = np.asarray(value)
    if isinstance(value, bytes):
        for one in _events.Summary.FromString(value).value:
            added = summary.value.add()
            added.CopyFrom(one)
            added.tag = name
    elif array.ndim == 0 and array.dtype.kind in "fiub":
        summary.value.add(tag=name, simple_value=float(array))
    else:
        _logger.warning("The metric %r is not written: it is no number, but %s.", name, type(value).__name__)
