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
from collections.abc import Callable
from typing import Any, NamedTuple

from headrace._src.core import errors, network, operating_system
from headrace._src.core.lazy import LazyModule
from headrace._src.op.api import api
from headrace._src.serving.batching import BatchingSettings
from headrace._src.serving.configuration import TlsSettings
from headrace._src.serving.grpc_services import GrpcServices
from headrace._src.serving.inference import Inference
from headrace._src.serving.metrics import Metrics
from headrace._src.serving.models import Models, ModelSettings
from headrace._src.serving.rest import RestApplication, RestSettings
from headrace._src.serving.servables import Servable
from headrace._src.serving.warm_up import warm_up

_grpc = LazyModule("grpc")
_uvicorn = LazyModule("uvicorn")
logger = logging.getLogger("headrace.serving")
_UNLIMITED = -1
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
        servable = Servable(name, version, path, settings.tags, settings.allow_file_access)
        if settings.warms_up:
            warm_up(servable, settings.warm_up_times)
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
        loop, ending = self._loop, self._ending
        if loop is not None and ending is not None:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(ending.set)
        self._thread.join()
        self._thread = None

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *unused: object) -> None:
        self.stop()

    def run(self, when_up: Callable[[], Any] = lambda: None) -> None:
        """Serve in this thread until SIGINT or SIGTERM comes."""
        asyncio.run(self._serve(when_up, with_signals=True))

    async def _serve(self, when_up, with_signals=False):
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        if with_signals:
            operating_system.when_asked_to_end(self._loop, self._ending.set)
        await self._loop.run_in_executor(None, self.models.start)
        inference = Inference(self.models, self.metrics, self._settings.batching, self._settings.threads)
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(inference.close)
            stack.callback(self.models.stop)
            if self._settings.grpc_port is not None:
                await self._start_grpc(inference, stack)
            if self._settings.rest_port is not None:
                await self._start_rest(inference, stack)
            self._is_up.set()
            when_up()
            await self._ending.wait()

    async def _start_grpc(self, inference, stack):
        _require("grpc")
        settings = self._settings
        options = [("grpc.max_receive_message_length", _UNLIMITED), ("grpc.max_send_message_length", _UNLIMITED),
                   ("grpc.so_reuseport", 0), *settings.channel_arguments]  # fmt: skip
        server = _grpc.aio.server(options=options)
        server.add_generic_rpc_handlers(GrpcServices(inference, settings.has_health).handlers())
        address = f"{settings.host}:{settings.grpc_port}"
        try:
            if settings.tls is None:
                self.grpc_port = server.add_insecure_port(address)
            else:
                tls = settings.tls
                credentials = _grpc.ssl_server_credentials(
                    [(tls.key, tls.certificate)], tls.authority, require_client_auth=tls.asks_clients
                )
                self.grpc_port = server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise errors.unavailable(f"gRPC cannot listen at {address}: {error}") from None
        await server.start()
        stack.push_async_callback(server.stop, _GRACE)

    async def _start_rest(self, inference, stack):
        _require("uvicorn", "orjson")
        settings = self._settings
        try:
            listener = network.listener(settings.host, settings.rest_port, "serving")
        except OSError as error:
            raise errors.unavailable(f"REST cannot listen at {settings.host}:{settings.rest_port}: {error}") from None
        self.rest_port = listener.getsockname()[1]
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = _uvicorn.Config(
            RestApplication(inference, settings.rest), log_config=None, access_log=False, lifespan="off",
            timeout_graceful_shutdown=int(_GRACE), server_header=False, date_header=False, backlog=2048,
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
