"""`headrace serve` and `tensorflow_model_server`: TensorFlow Serving's flags."""

from __future__ import annotations

import argparse
import logging
import sys
import threading
from collections.abc import Sequence

from headrace._src.core import errors, network
from headrace._src.serving import configuration
from headrace._src.serving.models import ModelSettings
from headrace._src.serving.rest import RestSettings
from headrace._src.serving.server import Server, ServerSettings, run_until_asked_to_end
from headrace._src.serving.workers import Workers, check_ports, end_with_parent

logger = logging.getLogger("headrace.serving")
_TRUE, _FALSE = ("true", "1", "yes", "t", "y"), ("false", "0", "no", "f", "n")

# Flags of TensorFlow Serving that have no effect here, and why.
_WITHOUT_EFFECT = {
    "tensorflow_session_parallelism": "calls run in --num_call_threads threads",
    "tensorflow_intra_op_parallelism": "set OMP_NUM_THREADS",
    "tensorflow_inter_op_parallelism": "calls run in --num_call_threads threads",
    "per_process_gpu_memory_fraction": "jax's own variable is XLA_PYTHON_CLIENT_MEM_FRACTION",
    "platform_config_file": "there is one platform, SavedModel",
    "rest_api_num_threads": "REST is answered by one loop",
    "num_load_threads": "versions are loaded one after another",
    "num_unload_threads": "what is no longer used is freed by itself",
    "flush_filesystem_caches": "files are not kept open",
    "remove_unused_fields_from_bundle_metagraph": "only what is needed is kept",
    "prefer_tflite_model": "models of TensorFlow Lite are not served",
    "use_tflite_model": "models of TensorFlow Lite are not served",
    "num_tflite_pools": "models of TensorFlow Lite are not served",
    "use_alts_credential": "there is no ALTS",
    "grpc_max_threads": "gRPC is answered by one loop",
    "enable_signature_method_name_check": "requests are always compared with the method of the signature",
    "xla_cpu_compilation_enabled": "graphs are compiled where that is faster",
    "enable_profiler": "tf.profiler.experimental.server is there for that",
    "mixed_precision": "models run as they were saved",
    "skip_initialize_tpu": "there are no TPUs",
    "thread_pool_factory_config_file": "there is one pool of threads",
    "num_request_iterations_for_warmup_per_model": "--num_request_iterations_for_warmup is for all",
}


def _truth(text):
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise argparse.ArgumentTypeError(f"expected true or false, got {text!r}")


def _port(text):
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number < 1 << 16:
        raise argparse.ArgumentTypeError(f"expected a port, a number up to 65535, got {text!r}")
    return number


def _parser(prog):
    parser = argparse.ArgumentParser(
        prog=prog, allow_abbrev=False,
        description="Serve SavedModels over REST and gRPC, as TensorFlow Serving does.",
    )  # fmt: skip

    def flag(name, default, description, kind=None):
        kind = kind or (_truth if isinstance(default, bool) else type(default))
        extra = {"nargs": "?", "const": True} if kind is _truth else {}
        parser.add_argument(f"--{name}", default=default, type=kind, help=f"{description} [{default}]", **extra)

    flag("model_name", "default", "the name of the model")
    flag("model_base_path", "", "the folder of its versions, whose names are numbers")
    flag("model_config_file", "", "a file with a ModelServerConfig, for several models")
    flag("model_config_file_poll_wait_seconds", 0, "how often that file is read again; 0 for never")
    flag("port", 8500, "of gRPC; 0 for none", _port)
    flag("rest_api_port", 0 if prog != "headrace serve" else 8501, "of REST; 0 for none", _port)
    flag("host", "127.0.0.1", "where to listen; 0.0.0.0 for all interfaces")
    flag("rest_api_timeout_in_ms", 30000, "how long a request may take")
    flag("rest_api_max_body_bytes", 256 << 20, "how large a request may be")
    flag("rest_api_enable_cors_support", False, "whether pages of other sites may ask")
    flag("file_system_poll_wait_seconds", 1.0, "how often folders are looked at; 0 for once")
    flag("max_num_load_retries", 5, "how often a version that cannot be loaded is tried again")
    flag("load_retry_interval_micros", 60_000_000, "after how long")
    flag("saved_model_tags", "serve", "the tags of the graph to serve, separated by commas")
    flag("enable_batching", False, "whether requests that arrive together are one call")
    flag("batching_parameters_file", "", "a file with BatchingParameters")
    flag("monitoring_config_file", "", "a file with a MonitoringConfig")
    flag("ssl_config_file", "", "a file with an SSLConfig")
    flag("enable_model_warmup", True, "whether requests that come with a model are replayed first")
    flag("num_request_iterations_for_warmup", 1, "how often each")
    flag("allow_version_labels_for_unavailable_models", False, "whether labels may name versions that are not there")
    flag("enable_grpc_healthcheck_service", False, "whether gRPC's health service is offered")
    flag("grpc_socket_path", "", "a path at which gRPC is offered too")
    flag("grpc_channel_arguments", "", "further options of gRPC: name=value, separated by commas")
    flag("num_call_threads", 4, "how many calls of models run at the same time")
    flag("enable_per_model_batching_parameters", False, "whether batching_params.pbtxt in a SavedModel counts")
    flag("workers", 1, "how many processes serve; they share the values of models")
    flag("shared_memory_folder", "", "where these values lie; in memory, if the system has a folder for that")
    flag("allow_file_access", False, "whether graphs may read and write any file")
    parser.add_argument("--worker_folder", default="", help=argparse.SUPPRESS)  # of one of several processes
    parser.add_argument("--worker_number", default=0, type=int, help=argparse.SUPPRESS)
    for name in _WITHOUT_EFFECT:
        parser.add_argument(f"--{name}", nargs="?", const="", help=argparse.SUPPRESS)
    return parser


def _models(options) -> list[ModelSettings]:
    if options.model_config_file:
        return configuration.read_models(options.model_config_file)
    if not options.model_base_path:
        raise errors.invalid_argument(
            "Which models? --model_base_path names the folder of one, --model_config_file a file with several."
        )
    return [ModelSettings(options.model_name, options.model_base_path)]


def _channel_arguments(text):
    found = []
    for part in filter(None, text.split(",")):
        name, separator, value = part.partition("=")
        if not separator:
            raise errors.invalid_argument(f"--grpc_channel_arguments: {part!r} is not name=value.")
        found.append((name, int(value) if value.lstrip("-").isdecimal() else value))
    return tuple(found)


def _settings(options) -> ServerSettings:
    batching = None
    if options.batching_parameters_file and not options.enable_batching:
        raise errors.invalid_argument("--batching_parameters_file needs --enable_batching.")
    if options.enable_batching:
        batching = configuration.BatchingSettings()
        if options.batching_parameters_file:
            batching = configuration.read_batching(options.batching_parameters_file)
    rest = RestSettings(
        options.rest_api_timeout_in_ms / 1000, options.rest_api_max_body_bytes, options.rest_api_enable_cors_support,
        configuration.read_metrics_path(options.monitoring_config_file) if options.monitoring_config_file else None,
    )  # fmt: skip
    return ServerSettings(
        host=options.host,
        rest_port=options.rest_api_port or None,
        grpc_port=options.port or None,
        batching=batching,
        rest=rest,
        tls=configuration.read_tls(options.ssl_config_file) if options.ssl_config_file else None,
        poll_seconds=options.file_system_poll_wait_seconds,
        retries=options.max_num_load_retries,
        retry_seconds=options.load_retry_interval_micros / 1e6,
        tags=tuple(options.saved_model_tags.split(",")),
        warms_up=options.enable_model_warmup,
        warm_up_times=options.num_request_iterations_for_warmup,
        allow_file_access=options.allow_file_access,
        labels_may_wait=options.allow_version_labels_for_unavailable_models,
        has_health=options.enable_grpc_healthcheck_service,
        threads=options.num_call_threads,
        channel_arguments=_channel_arguments(options.grpc_channel_arguments),
        grpc_socket=options.grpc_socket_path or None,
        model_batching=options.enable_per_model_batching_parameters,
        shared_folder=options.worker_folder or None,
    )


def main(arguments: Sequence[str] | None = None, prog: str = "tensorflow_model_server") -> int:
    """Serve until SIGINT or SIGTERM. Returns 1 where that cannot begin."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser(prog).parse_args(arguments)
    process = f" process {options.worker_number}" if options.worker_folder else ""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format=f"%(asctime)s %(levelname)s{process} %(message)s")
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it would say of each bad request that it is bad
    for name, reason in _WITHOUT_EFFECT.items():
        if getattr(options, name) is not None and not options.worker_folder:
            logger.warning("--%s has no effect: %s.", name, reason)
    try:
        settings = _settings(options)
        if settings.rest_port is None and settings.grpc_port is None and settings.grpc_socket is None:
            raise errors.invalid_argument("There is neither a --port nor a --rest_api_port.")
        models = _models(options)
        if options.workers < 1:
            raise errors.invalid_argument(f"--workers must be positive, got {options.workers}.")
        if options.workers > 1 and not options.worker_folder:
            return _run_workers(options, arguments, settings)
        _run(options, models, settings)
    except (errors.OpError, ModuleNotFoundError) as error:
        sys.stderr.write(f"{prog}: {getattr(error, 'message', error)}\n")
        return 1
    return 0


def _run(options, models, settings):
    server = Server(models, settings=settings)
    watcher = _ConfigWatcher(server, options)

    def when_up():
        watcher.start()
        if options.worker_folder:
            server.say_up(options.worker_number)
        else:
            _announce(settings, server.grpc_port, server.rest_port)

    if options.worker_folder:
        threading.Thread(target=end_with_parent, args=(server.end,), daemon=True).start()
    run_until_asked_to_end(server, when_up)
    watcher.stop()


def _run_workers(options, arguments, settings):
    if settings.grpc_socket:
        raise errors.invalid_argument("--grpc_socket_path is for one process: several cannot share a path.")
    check_ports(settings.host, settings.grpc_port, settings.rest_port)
    # The default of the port of REST is that of the program that was called.
    given = [*arguments, f"--rest_api_port={options.rest_api_port}"]
    workers = Workers(given, options.workers, options.shared_memory_folder)
    return workers.run(lambda: _announce(settings, settings.grpc_port, settings.rest_port))


def _announce(settings, grpc_port, rest_port):
    if grpc_port is not None:
        logger.info("gRPC at %s:%d", settings.host, grpc_port)
    if rest_port is not None:
        logger.info("REST at %s://%s:%d", "https" if settings.tls else "http", settings.host, rest_port)
    if not network.is_loopback(settings.host, "serving"):
        logger.info("Whoever reaches this machine can use these models: there is no authentication.")


class _ConfigWatcher:
    """Reads the file of models again, from time to time."""

    def __init__(self, server, options):
        self._server = server
        self._path = options.model_config_file
        self._seconds = options.model_config_file_poll_wait_seconds if self._path else 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self):
        if self._seconds > 0:
            self._thread = threading.Thread(target=self._watch, name="serving-config", daemon=True)
            self._thread.start()

    def _watch(self):
        known = None
        while not self._ended.wait(self._seconds):
            try:
                found = configuration.read_models(self._path)
                if found != known:
                    self._server.models.reload(found)
                    known = found
            except errors.OpError as error:  # what is served stays
                logger.error("%s cannot be used: %s", self._path, error.message)

    def stop(self):
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
