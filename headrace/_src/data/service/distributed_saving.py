"""`tf.data.experimental.distributed_save`: a dataset that the workers of a data service write to files."""

from __future__ import annotations

from headrace._src.data.saving.snapshot_files import checked_compression
from headrace._src.data.service.messages import Peer
from headrace._src.data.service.reading import registered
from headrace._src.formats import files as filesystem
from headrace._src.op.api import api


@api("data.experimental.distributed_save", dispatch=False)
def distributed_save(dataset, path, data_service_address, compression="AUTO") -> None:
    """Have the workers of a data service write a dataset to files, each a part of it, while this program goes on.

    Args:
        dataset: the dataset, which must have an end.
        path: a folder that all workers and the dispatcher can write to.
        data_service_address: the dispatcher: its host and port, or `DispatchServer.target`.
        compression: "AUTO" or "SNAPPY", "GZIP", or None.

    `tf.data.Dataset.load(path, wait=True)` waits for the end, and reads it. Elements are in no particular order.

    >>> service = tf.data.experimental.service
    >>> dispatcher = service.DispatchServer()
    >>> address = dispatcher.target.partition("://")[2]
    >>> worker = service.WorkerServer(service.WorkerConfig(address, heartbeat_interval_ms=20))
    >>> folder = "/tmp/headrace_distributed"
    >>> if tf.io.gfile.exists(folder):
    ...     tf.io.gfile.rmtree(folder)
    >>> tf.data.experimental.distributed_save(tf.data.Dataset.range(4), folder, address)
    >>> sorted(int(x) for x in tf.data.Dataset.load(folder, wait=True))
    [0, 1, 2, 3]

    Raises:
        AlreadyExistsError: the folder holds a snapshot.
        UnavailableError: there is no dispatcher.
    """
    kind = checked_compression(compression, "data.experimental.distributed_save")
    if not isinstance(data_service_address, str) or not data_service_address:
        raise ValueError(
            f"data.experimental.distributed_save: data_service_address must be a string such as 'host:5000', got "
            f"{data_service_address!r}."
        )
    address = data_service_address.partition("://")[2] or data_service_address
    number = registered(address, dataset, None).numpy().decode()
    dispatcher = Peer(address, "dispatcher")
    try:
        dispatcher.call("save", dataset_id=number, path=filesystem.path_string(path), compression=kind)
    finally:
        dispatcher.close()
