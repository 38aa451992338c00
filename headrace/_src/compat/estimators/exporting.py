"""How an estimator is exported: its graphs, with the values of a checkpoint, as a SavedModel in a folder of its own."""

import os
import time

from headrace._src.compat.estimators import calling
from headrace._src.compat.estimators.export_outputs import (
    EvalOutput,
    PredictOutput,
    TrainOutput,
    signatures,
    with_default,
)
from headrace._src.compat.estimators.specs import ModeKeys
from headrace._src.compat.graph_keys import GraphKeys, get_collection, grouped
from headrace._src.compat.saving.model_building import SavedModelBuilder
from headrace._src.compat.saving.saver import Saver
from headrace._src.compat.sessions.scaffold import Scaffold
from headrace._src.compat.sessions.session import Session
from headrace._src.compat.training.steps_and_rates import create_global_step
from headrace._src.formats import files
from headrace._src.saved_model import constants

_TAGS = {ModeKeys.PREDICT: constants.SERVING, ModeKeys.EVAL: "eval", ModeKeys.TRAIN: constants.TRAINING}


def timestamped_folder(base: str) -> str:
    """A new folder named by the seconds since 1970; its number is the highest, which servers take."""
    names = files.names_in(base) if files.exists(base) else []
    numbers = [int(name.strip("/")) for name in names if name.strip("/").isdigit()]
    return files.join(base, str(max([int(time.time()), *(number + 1 for number in numbers)])))


def export(call_model, base, receivers, assets_extra, as_text, path, config) -> bytes:
    """Writes a SavedModel with a graph for each mode, and returns its folder.

    Args:
        call_model: a function of features, labels and mode that returns an `EstimatorSpec`.
        base: where the new folder is made.
        receivers: functions that make the inputs, by mode.
        assets_extra: files that are copied, by their path in the folder of extra files.
        as_text: whether the message is written as text.
        path: a checkpoint.
        config: a `RunConfig`.

    Raises:
        ValueError: there is no function, or the mode is unknown.
    """
    modes = [mode for mode in (ModeKeys.PREDICT, ModeKeys.TRAIN, ModeKeys.EVAL) if receivers.get(mode) is not None]
    if not modes:
        raise ValueError("Estimator: to export a model, a function that makes its inputs must be given.")
    folder = timestamped_folder(base)
    # Servers watch the folder: they must not see a model that is not complete.
    partial = files.join(base, f"temp-{os.path.basename(folder)}")
    builder = SavedModelBuilder(partial)
    # Training has all variables, which the graphs of other modes share.
    modes.sort(key=lambda mode: mode != ModeKeys.TRAIN)
    for number, mode in enumerate(modes):
        _add_graph(builder, call_model, receivers[mode], mode, path, config, first=number == 0)
    builder.save(as_text)
    for place, source in (assets_extra or {}).items():
        target = files.join(partial, constants.ASSETS_EXTRA_DIRECTORY, place)
        files.make_directories(os.path.dirname(target))
        files.copy(source, target)
    files.rename(partial, folder)
    return folder.encode()


def _add_graph(builder, call_model, receive, mode, path, config, first):
    with calling.fresh_graph(config.tf_random_seed).as_default() as graph:
        create_global_step(graph)
        receiver = receive()
        spec = call_model(receiver.features, getattr(receiver, "labels", None), mode)
        alternatives = getattr(receiver, "receiver_tensors_alternatives", None)
        described = signatures(_outputs(spec), receiver.receiver_tensors, alternatives)
        saver = (spec.scaffold and spec.scaffold.saver) or Saver(sharded=True)
        prepared = (spec.scaffold and spec.scaffold.local_init_op) or Scaffold.default_local_init_op()
        with Session(graph=graph, config=config.session_config) as session:
            saver.restore(session, path)
            settings = dict(
                tags=[_TAGS[mode]], signature_def_map=described, main_op=grouped([prepared], "main"), saver=saver,
                assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS), strip_default_attrs=True,
            )  # fmt: skip
            if first:
                session.run(prepared)
                builder.add_meta_graph_and_variables(session, **settings)
            else:
                builder.add_meta_graph(**settings)


def _outputs(spec):
    if spec.mode != ModeKeys.PREDICT:
        kind = EvalOutput if spec.mode == ModeKeys.EVAL else TrainOutput
        return {spec.mode: kind(spec.loss, spec.predictions or None, spec.eval_metric_ops)}
    return with_default(spec.export_outputs or {"predict": PredictOutput(spec.predictions)})
