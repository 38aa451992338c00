"""What a pipeline from another process may do here.

It may compute, draw random numbers, read files (that is what the data service is for), keep what `cache` and `snapshot`
keep in files, and print. It may not call Python functions, write other files, touch variables, tables, queues and other
resources of this program, or connect to anything. What is not known to be harmless is refused.
See docs/decisions/0035-data-service.md.
"""

from __future__ import annotations

from typing import Any

from headrace._src.core import errors
from headrace._src.op.registry import lookup
from headrace._src.op.traits import CALLS_PYTHON, FILE_DATASET, READS_FILES

# Of the ops that have effects or read what may change; of others only those that call Python are refused.
_ALLOWED = frozenset(
    """
    CacheDatasetV2 CSVDataset CSVDatasetV2 DatasetToSingleElement DummyMemoryCache DummySeedGenerator
    GroupByReducerDataset ListDataset LoadDataset MatchingFilesDataset RandomDatasetV2 RangeDataset ReduceDataset
    ShuffleDatasetV3 SqlDataset TensorDataset TensorSliceDataset
    Case If Placeholder StatefulPartitionedCall While
    Assert CheckNumerics CheckNumericsV2 DeepCopy Empty GuaranteeConst Print PrintV2 Timestamp
    AllCandidateSampler FixedUnigramCandidateSampler FractionalAvgPool FractionalMaxPool LearnedUnigramCandidateSampler
    LogUniformCandidateSampler Multinomial ParameterizedTruncatedNormal RandomGamma RandomPoissonV2 RandomShuffle
    RandomStandardNormal RandomUniform RandomUniformInt SampleDistortedBoundingBox SampleDistortedBoundingBoxV2
    StatelessRandomGetAlg ThreadUnsafeUnigramCandidateSampler TruncatedNormal UniformCandidateSampler
    """.split()
)
_PYTHON = frozenset(["PythonGeneratorDataset"])


def refusal(graph_def: Any) -> str | None:
    """Why a graph may not run; None if it may.

    Args:
        graph_def: a `GraphDef`, with the functions that it calls.

    Raises:
        NotFoundError: there is no op of a name in it.
    """
    functions = {function.signature.name for function in graph_def.library.function}
    bodies = [("the pipeline", graph_def.node)]
    for function in graph_def.library.function:
        bodies.append((f"its function {function.signature.name}", function.node_def))
    for where, nodes in bodies:
        for node in nodes:
            reason = None if node.op in functions else _refusal_of(node)
            if reason is not None:
                return f"the operation {node.name} ({node.op}) of {where} {reason}"
    return None


def _refusal_of(node):
    record = lookup(node.op)
    if CALLS_PYTHON in record.traits or node.op in _PYTHON:
        return "calls a Python function"
    if node.op == "PrintV2" and node.attr["output_stream"].s.startswith(b"file:"):
        return "writes a file"
    is_known = not record.stateful or READS_FILES in record.traits or FILE_DATASET in record.traits
    if is_known or node.op in _ALLOWED:
        return None
    return "writes files, or touches what belongs to a program"


def check(graph_def: Any) -> None:
    """Refuse a graph that does what those of others may not do.

    Raises:
        PermissionDeniedError: it does.
        NotFoundError: there is no op of a name in it.
    """
    reason = refusal(graph_def)
    if reason is not None:
        raise errors.permission_denied(
            f"data.experimental.service: a dataset of another program is refused: {reason}. Such datasets work with a "
            "dispatcher and workers of the same program only."
        )
