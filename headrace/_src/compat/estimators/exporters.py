"""What `train_and_evaluate` exports, and when: always the latest, the best, or once at the end."""

import logging
from typing import Any

from headrace._src.compat.summaries.event_iterator import summary_iterator
from headrace._src.formats import files
from headrace._src.op.api import api

_logger = logging.getLogger("tensorflow")


@api("estimator.Exporter", "compat.v1.estimator.Exporter")
class Exporter:
    """Base of what exports a model after an evaluation. Subclasses have a `name` and define `export`."""

    @property
    def name(self) -> str:
        """The name of the folder, below "export" in that of the model."""
        raise NotImplementedError(f"{type(self).__name__} must define name.")

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export) -> Any:
        """Export the model, or not.

        Args:
            estimator: the estimator.
            export_path: the folder to export to.
            checkpoint_path: the checkpoint that was evaluated.
            eval_result: what the evaluation found.
            is_the_final_export: whether training has ended.

        Returns:
            The folder of the model, or None.
        """
        raise NotImplementedError(f"{type(self).__name__} must define export.")


class _Exporting(Exporter):
    """An exporter with a name and what `export_saved_model` needs."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        if not name:
            raise ValueError(f"{type(self).__name__}: it must have a name.")
        self._name = name
        self._receive = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self._name

    def _export(self, estimator, export_path, checkpoint_path):
        return estimator.export_saved_model(
            export_path, self._receive, self._assets_extra, self._as_text, checkpoint_path
        )


def _remove_old(folder, keep):
    if keep is None or not files.exists(folder):
        return
    versions = sorted((name.strip("/") for name in files.names_in(folder) if name.strip("/").isdigit()), key=int)
    for name in versions[:-keep]:
        files.remove_tree(files.join(folder, name))


def _check_kept(exports_to_keep):
    if exports_to_keep is not None and exports_to_keep <= 0:
        raise ValueError(f"exports_to_keep must be positive or None, got {exports_to_keep}.")


@api("estimator.LatestExporter", "compat.v1.estimator.LatestExporter")
class LatestExporter(_Exporting):
    """Exports the model after each evaluation.

    Args:
        name: that of the folder.
        serving_input_receiver_fn, assets_extra, as_text: as of `Estimator.export_saved_model`.
        exports_to_keep: how many stay; None for all.

    Raises:
        ValueError: exports_to_keep is not positive.
    """

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False, exports_to_keep=5) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        _check_kept(exports_to_keep)
        self._keep = exports_to_keep

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export) -> bytes:
        """Export the model, and remove the oldest."""
        path = self._export(estimator, export_path, checkpoint_path)
        _remove_old(export_path, self._keep)
        return path


@api("estimator.FinalExporter", "compat.v1.estimator.FinalExporter")
class FinalExporter(_Exporting):
    """Exports the model once, when training has ended.

    Args:
        name: that of the folder.
        serving_input_receiver_fn, assets_extra, as_text: as of `Estimator.export_saved_model`.
    """

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export) -> bytes | None:
        """Export the model at the end."""
        return self._export(estimator, export_path, checkpoint_path) if is_the_final_export else None


def _smaller_loss(best_eval_result, current_eval_result) -> bool:
    for label, result in (("best", best_eval_result), ("current", current_eval_result)):
        if not result or "loss" not in result:
            raise ValueError(f"BestExporter: the {label} evaluation has no loss to compare by.")
    return current_eval_result["loss"] < best_eval_result["loss"]


@api("estimator.BestExporter", "compat.v1.estimator.BestExporter")
class BestExporter(_Exporting):
    """Exports the model when an evaluation is better than all before it.

    Args:
        name: that of the folder.
        serving_input_receiver_fn, assets_extra, as_text: as of `Estimator.export_saved_model`.
        event_file_pattern: event files with earlier evaluations, below the folder of the model.
        compare_fn: a function of the best and the current evaluation, whether the current one is better; by default
            that with the smaller loss.
        exports_to_keep: how many stay; None for all.

    Raises:
        ValueError: exports_to_keep is not positive.
    """

    def __init__(
        self, name="best_exporter", serving_input_receiver_fn=None, event_file_pattern=None, compare_fn=_smaller_loss,
        assets_extra=None, as_text=False, exports_to_keep=5,
    ) -> None:  # fmt: skip
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        _check_kept(exports_to_keep)
        self._is_better = compare_fn
        self._pattern = event_file_pattern
        self._keep = exports_to_keep
        self._best: dict | None = None
        self._has_looked = False

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export) -> bytes | None:
        """Export the model if it is the best so far."""
        if self._pattern and not self._has_looked:
            self._has_looked = True
            self._best = self._best_before(files.join(estimator.model_dir, self._pattern), eval_result)
        if self._best is not None and not self._is_better(best_eval_result=self._best, current_eval_result=eval_result):
            return None
        self._best = dict(eval_result)
        path = self._export(estimator, export_path, checkpoint_path)
        _remove_old(export_path, self._keep)
        return path

    def _best_before(self, pattern, current):
        """The best of the evaluations that event files have, without the one that was just written."""
        best = None
        for path in files.matching(pattern):
            for event in summary_iterator(path):
                found = {one.tag: one.simple_value for one in event.summary.value if one.HasField("simple_value")}
                if not found or event.step == current.get("global_step"):
                    continue
                if best is None or self._is_better(best_eval_result=best, current_eval_result=found):
                    best = found
        return best
