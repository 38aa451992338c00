"""How an estimator predicts: batches from a monitored session, given out example by example."""

from collections.abc import Iterator
from typing import Any

from headrace._src.compat.sessions.monitored_sessions import ChiefSessionCreator, MonitoredSession


def chosen(predictions, keys) -> Any:
    """The predictions of some keys.

    Raises:
        ValueError: there are no keys, or none of these.
    """
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError(f"Estimator.predict: predict_keys are {list(keys)}, but predictions are no dictionary.")
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        raise ValueError(f"Estimator.predict: no prediction is called {list(keys)}; there are {sorted(predictions)}.")
    return found


def predict(graph, spec, wanted, hooks, path, config, one_by_one) -> Iterator:
    """Predictions of a model, until the data ends.

    Args:
        graph: the graph of the model.
        spec: the model.
        wanted: the predictions that are given.
        hooks: `SessionRunHook` objects.
        path: a checkpoint; None for initial values.
        config: a `RunConfig`.
        one_by_one: whether examples are given one by one.
    """
    # The graph is the default one only while a batch is computed: the caller goes on with its own in between.
    with graph.as_default():
        creator = ChiefSessionCreator(spec.scaffold, config=config.session_config, checkpoint_filename_with_path=path)
        session = MonitoredSession(creator, hooks)
    batches = _batches(graph, session, wanted)
    for batch in batches:
        if not one_by_one:
            yield batch
        elif isinstance(batch, dict):
            for number in range(_size(batch)):
                yield {key: value[number] for key, value in batch.items()}
        else:
            yield from batch


def _batches(graph, session, wanted):
    with session:
        while not session.should_stop():
            with graph.as_default():
                batch = session.run(wanted)
            yield batch


def _size(batch):
    sizes = {key: value.shape[0] for key, value in batch.items()}
    if len(set(sizes.values())) != 1:
        raise ValueError(
            f"Estimator.predict: predictions of a batch must have equally many examples, got {sizes}. With "
            "yield_single_examples=False batches are given as they are."
        )
    return next(iter(sizes.values()))
