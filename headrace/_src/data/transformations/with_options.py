"""`Dataset.with_options` and `Dataset.options`: how a pipeline is to be run."""

from headrace._src.data.datasets import OUTPUTS, DatasetV2, MadeDataset, build, dataset_op, method
from headrace._src.data.options import Options
from headrace._src.data.running.stages import Stage, shapes_of, stage_of
from headrace._src.data.saving.option_messages import parsed, serialized


class OptionsStage(Stage):
    """The elements of the input, made as options say."""

    method = "Dataset.with_options"
    passes_on = True

    def __init__(self, source, options, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self._own = options

    @property
    def options(self):
        before = self.source.options
        return self._own if before is None else before.merge(self._own)

    def cardinality(self):
        return self.source.cardinality()

    @property
    def access(self):
        return self.source.access

    @property
    def has_blocks(self):
        return self.source.has_blocks

    @property
    def has_columns(self):
        return self.source.has_columns

    @property
    def reads_ahead(self):
        return self.source.reads_ahead

    def walk(self, run):
        return self.source.cursor(run)


def _make(input_dataset, serialized_options, output_types, output_shapes, metadata):
    data = serialized_options
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    return OptionsStage(stage_of(input_dataset), parsed(data), shapes_of(output_shapes))


OPTIONS_DATASET = dataset_op(
    "OptionsDataset", f"input_dataset: variant, *, serialized_options: string, {OUTPUTS}", _make
)


@method
def with_options(self, options, name=None) -> DatasetV2:
    """The same elements, made as options say.

    Args:
        options: a `tf.data.Options`. Where options are set several times, the last one counts.
        name: a name for the operation.

    >>> options = tf.data.Options()
    >>> options.deterministic = False
    >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
    False
    """
    if not isinstance(options, Options):
        raise TypeError(f"Dataset.with_options: `options` must be a tf.data.Options, got {type(options).__name__}.")
    data = serialized(options)
    dataset = build(
        "_OptionsDataset", OPTIONS_DATASET, self, serialized_options=data, spec=self.element_spec, of=[self], name=name
    )
    dataset._own_options = parsed(data)
    return dataset


def _collected(dataset):
    """The options of a dataset and of all that it is made of."""
    merged = Options()
    for before in dataset._inputs():
        merged = merged.merge(_collected(before))
    own = dataset._own_options if isinstance(dataset, MadeDataset) else None
    return merged if own is None else merged.merge(own)


@method
def options(self) -> Options:
    """The `tf.data.Options` that were set in this pipeline. They cannot be changed: see `with_options`."""
    return _collected(self)._frozen()
