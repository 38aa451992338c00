"""A server for models: REST and gRPC in one loop, in a thread of a program or as a program of its own."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from headrace._src.core import errors, network, operating_system
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.op.api import api
from headrace._src.serving import configuration
from headrace._src.serving.batching import BatchingSettings
from headrace._src.serving.configuration import TlsSettings
from headrace._src.serving.grpc_services import GrpcServices
from headrace._src.serving.http_protocol import protocol_class
from headrace._src.serving.inference import Inference
from headrace._src.serving.metrics import Metrics
from headrace._src.serving.models import Models, ModelSettings
from headrace._src.serving.rehearsal import rehearse
from headrace._src.serving.rest import RestApplication, RestSettings
from headrace._src.serving.servables import Servable
from headrace._src.serving.sharing import SharedFolder
from headrace._src.serving.warm_up import warm_up

_grpc = LazyModule("grpc")
_uvicorn = LazyModule("uvicorn")
logger = logging.getLogger("headrace.serving")
_UNLIMITED = -1
_BATCHING = "batching_params.pbtxt"
_WARM_UP = ":tensorflow:serving:model_warmup_latency"
_GRACE = 30.0  # seconds that requests have to end, when the server does


@api("serving.ServerSettings", dispatch=False)
class ServerSettings(NamedTuple):
    """How a server is to be.

    Attributes:
        host: where it listens.
        rest_port: for REST; 0 for any that is free, None for none.
        grpc_port: for gRPC; the same.
        batching: how requests are joined; None for each its own call.
        rest: how the REST interface behaves.
        tls: keys for gRPC and REST; None for plain connections.
        poll_seconds: how often folders of versions are looked at.
        retries: how often a version that cannot be loaded is tried again.
        retry_seconds: after how long.
        tags: of the graphs that are served.
        warms_up: whether requests that come with a model are replayed first.
        warm_up_times: how often each.
        allow_file_access: whether graphs may read and write any file.
        labels_may_wait: whether a label may name a version that is not available.
        has_health: whether gRPC's health service is offered.
        threads: how many calls run at the same time.
        channel_arguments: further options of gRPC.
        grpc_socket: a path at which gRPC is offered too, to programs of this machine; None for none.
        model_batching: whether a file `batching_params.pbtxt` in a SavedModel says how its requests are joined.
        shared_folder: where processes that serve together share what they can: they listen at the same ports, map one
            copy of each model's values, and add up what they count. None for a process that serves alone.
    """

    host: str = "127.0.0.1"
    rest_port: int | None = 0
    grpc_port: int | None = 0
    batching: BatchingSettings | None = None
    rest: RestSettings = RestSettings()
    tls: TlsSettings | None = None
    poll_seconds: float = 1.0
    retries: int = 5
    retry_seconds: float = 60.0
    tags: tuple[str, ...] = ("serve",)
    warms_up: bool = True
    warm_up_times: int = 1
    allow_file_access: bool = False
    labels_may_wait: bool = False
    has_health: bool = False
    threads: int = 4
    channel_arguments: tuple[tuple[str, Any], ...] = ()
    grpc_socket: str | None = None
    model_batching: bool = False
    shared_folder: str | None = None


@api("serving.Server", dispatch=False)
class Server:
    """Serves models, in threads of this program, until `stop`.

    Args:
        models: a folder with versions of one model, or a list of `ModelSettings`.
        name: of the one model.
        settings: how; see `ServerSettings`.

    >>> class Doubling(tf.Module):
    ...     @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    ...     def __call__(self, x):
    ...         return {"y": 2.0 * x}
    >>> tf.saved_model.save(Doubling(), "/tmp/headrace_served/1")
    >>> with tf.serving.Server("/tmp/headrace_served", "doubling") as server:
    ...     print(server.rest_url.startswith("http://127.0.0.1:"), server.models.names)
    True ['doubling']
    """

    def __init__(
        self, models: str | list[ModelSettings], name: str = "default", settings: ServerSettings = ServerSettings()
    ):
        if isinstance(models, str):
            models = [ModelSettings(name, models)]
        self._settings = settings
        self.metrics = Metrics()
        self._shared = SharedFolder(settings.shared_folder) if settings.shared_folder else None
        if self._shared is not None:
            self.metrics.others = self._shared.other_counts
        self.models = Models(
            models, self._loaded, settings.poll_seconds, settings.retries, settings.retry_seconds,
            settings.labels_may_wait,
        )  # fmt: skip
        self.rest_port: int | None = None
        self.grpc_port: int | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Event | None = None
        self._is_up = threading.Event()
        self._problem: BaseException | None = None

    def _loaded(self, name, version, path):
        settings = self._settings
        weights = None if self._shared is None else self._shared.weights
        servable = Servable(name, version, path, settings.tags, settings.allow_file_access, weights)
        parameters = files.join(path, _BATCHING)
        if settings.model_batching and files.exists(parameters):
            servable.batching = configuration.read_batching(parameters)
        if settings.warms_up:
            begun = time.perf_counter()
            if warm_up(servable, settings.warm_up_times):
                self.metrics.observe(_WARM_UP, (time.perf_counter() - begun) * 1e6, model_path=path, status="OK")
            available = self.models.versions(name)
            if available:
                rehearse(servable, available[max(available)])
        return servable

    @property
    def rest_url(self) -> str:
        """Where REST is."""
        return f"{'https' if self._settings.tls else 'http'}://{self._settings.host}:{self.rest_port}"

    @property
    def grpc_address(self) -> str:
        """Where gRPC is."""
        return f"{self._settings.host}:{self.grpc_port}"

    def start(self) -> Server:
        """Load models, and begin to answer in a thread.

        Raises:
            UnavailableError: a port cannot be had.
        """
        self._thread = threading.Thread(target=self._run_in_thread, name="serving", daemon=True)
        self._thread.start()
        self._is_up.wait()
        if self._problem is not None:
            self._thread.join()
            raise self._problem
        return self

    def _run_in_thread(self):
        try:
            asyncio.run(self._serve(lambda: None))
        except BaseException as error:
            self._problem = error
        finally:
            self._is_up.set()

    def stop(self) -> None:
        """Answer the requests that have come, and end."""
        if self._thread is None:
            return
        self.end()
        self._thread.join()
        self._thread = None

    def say_up(self, number: int) -> None:
        """Tell the other processes of the server that this one, of a number, answers requests."""
        if self._shared is not None:
            self._shared.say_up(number)

    def end(self) -> None:
        """Let `run` return, from any thread."""
        if self._loop is not None and self._ending is not None:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._ending.set)

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *unused: object) -> None:
        self.stop()

    def run(self) -> None:
        """Serve in this thread until SIGINT or SIGTERM comes."""
        run_until_asked_to_end(self, lambda: None)

    async def _serve(self, when_up, with_signals=False):
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        if with_signals:
            operating_system.when_asked_to_end(self._loop, self._ending.set)
        await self._loop.run_in_executor(None, self.models.start)
        settings = self._settings
        inference = Inference(self.models, self.metrics, settings.batching, settings.threads, settings.tags)
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(inference.close)
            stack.callback(self.models.stop)
            if settings.grpc_port is not None or settings.grpc_socket:
                await self._start_grpc(inference, stack)
            if settings.rest_port is not None:
                await self._start_rest(inference, stack)
            if self._shared is not None:
                exchange = self._loop.create_task(self._shared.exchange(self.metrics, self.models))
                stack.callback(self._shared.put_counts, self.metrics)
                stack.callback(exchange.cancel)
            self._is_up.set()
            when_up()
            await self._ending.wait()

    async def _start_grpc(self, inference, stack):
        _require("grpc")
        settings = self._settings
        options = [("grpc.max_receive_message_length", _UNLIMITED), ("grpc.max_send_message_length", _UNLIMITED),
                   ("grpc.so_reuseport", int(self._shared is not None)), *settings.channel_arguments]  # fmt: skip
        server = _grpc.aio.server(options=options)
        publish = (lambda config: None) if self._shared is None else self._shared.put_models
        server.add_generic_rpc_handlers(GrpcServices(inference, settings.has_health, publish).handlers())
        if settings.grpc_port is not None:
            self.grpc_port = self._add_port(server, f"{settings.host}:{settings.grpc_port}")
        if settings.grpc_socket:
            self._add_port(server, f"unix:{settings.grpc_socket}")
        await server.start()
        stack.push_async_callback(server.stop, _GRACE)

    def _add_port(self, server, address):
        tls = self._settings.tls
        try:
            if tls is None or address.startswith("unix:"):  # TF: a socket of this machine is always plain
                return server.add_insecure_port(address)
            credentials = _grpc.ssl_server_credentials(
                [(tls.key, tls.certificate)], tls.authority, require_client_auth=tls.asks_clients
            )
            return server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise errors.unavailable(
                f"gRPC cannot listen at {address}: {error}. Another program may be there, or the address is not one of "
                "this machine: `--port` (`grpc_port` in code) names another."
            ) from None

    async def _start_rest(self, inference, stack):
        _require("uvicorn", "orjson")
        settings = self._settings
        try:
            is_shared = self._shared is not None
            listener = network.listener(settings.host, settings.rest_port, "serving", is_shared)
        except OSError as error:
            raise errors.unavailable(
                f"REST cannot listen at {settings.host}:{settings.rest_port}: {error}. "
                "`--rest_api_port` (`rest_port` in code) names another port."
            ) from None
        self.rest_port = listener.getsockname()[1]
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = _uvicorn.Config(
            RestApplication(inference, settings.rest), log_config=None, access_log=False, lifespan="off",
            timeout_graceful_shutdown=int(_GRACE), server_header=False, date_header=False, backlog=2048,
            http=protocol_class(settings.rest.timeout), ws="none",
        )  # fmt: skip
        if settings.tls is not None:
            config.load()
            config.ssl = _tls_context(settings.tls)
        server = _uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # this class has its own
        task = asyncio.get_running_loop().create_task(server.serve(sockets=[listener]))

        async def end():
            server.should_exit = True
            await task

        stack.push_async_callback(end)
        while not server.started:
            if task.done():
                task.result()
                raise errors.unavailable("The REST interface has ended at once.")
            await asyncio.sleep(0.005)


def _tls_context(tls):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as pair:  # the module reads keys from files only
        pair.write(tls.certificate + b"\n" + tls.key)
        pair.flush()
        context.load_cert_chain(pair.name)
    if tls.authority:
        context.load_verify_locations(cadata=tls.authority.decode())
    if tls.asks_clients:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _require(*names):
    """Say what to install, if a library is missing."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(f"Serving needs {' and '.join(missing)}: pip install 'headrace[serving]'.")


def run_until_asked_to_end(server: Server, when_up: Callable[[], Any]) -> None:
    """`server.run()`, which calls a function when it answers."""
    asyncio.run(server._serve(when_up, with_signals=True))
