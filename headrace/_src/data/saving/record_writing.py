"""`tf.data.experimental.TFRecordWriter`: the elements of a dataset as a TFRecord file."""

from headrace._src.core import dtypes
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import DatasetV2
from headrace._src.data.running.stages import Run, stage_of
from headrace._src.data.saving.writing import text_of
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.state.record_writer import TFRecordWriter

_AT_ONCE = 256


def _write(input_dataset, filename, compression_type):
    stage = stage_of(input_dataset)
    run = Run(stage.options)
    cursor = stage.cursor(run)
    try:
        with TFRecordWriter(text_of(filename, "filename"), compression_type[()].decode()) as writer:
            while (block := cursor.block(_AT_ONCE)) is not None:
                for record in block[0].tolist():
                    writer.write(record)
    finally:
        run.stopped.set()
        cursor.close()
    return ()


DATASET_TO_TF_RECORD = Op(
    "DatasetToTFRecord",
    "input_dataset: variant, filename: string, compression_type: string -> ",
    infer=lambda input_dataset, filename, compression_type: (),
    kernel=_write,
    lower=None,  # files are the host's
    grad=None,
    stateful=True,
    quiet=False,
)


@api("data.experimental.TFRecordWriter", dispatch=False)
class DatasetRecordWriter:
    """Writes the elements of a dataset to a TFRecord file.

    Args:
        filename: the file; one in its place is replaced.
        compression_type: "" or None, "ZLIB" or "GZIP".

    >>> dataset = tf.data.Dataset.from_tensor_slices(["one", "two"])
    >>> tf.data.experimental.TFRecordWriter("/tmp/headrace_written.tfrecord").write(dataset)
    >>> list(tf.data.TFRecordDataset("/tmp/headrace_written.tfrecord").as_numpy_iterator())
    [b'one', b'two']
    """

    def __init__(self, filename, compression_type=None) -> None:
        self._filename = to_tensor(filename, dtypes.string)
        self._compression = to_tensor("" if compression_type is None else compression_type, dtypes.string)

    def write(self, dataset) -> None:
        """Write all elements, which must be scalar strings.

        Raises:
            TypeError: they are not, or `dataset` is none.
        """
        if not isinstance(dataset, DatasetV2):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        spec = dataset.element_spec
        if not (isinstance(spec, TensorSpec) and spec.dtype == dtypes.string and spec.shape.is_compatible_with([])):
            raise TypeError(
                "Invalid `dataset`. Expected a `dataset` that produces scalar `tf.string` elements, but got one that "
                f"produces elements of {spec}."
            )
        DATASET_TO_TF_RECORD(dataset._variant_tensor, self._filename, self._compression)


DatasetRecordWriter.__name__ = DatasetRecordWriter.__qualname__ = "TFRecordWriter"
