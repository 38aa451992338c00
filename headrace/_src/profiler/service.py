"""`tf.profiler.experimental.server`: profiles of this process that others ask for, such as a page of TensorBoard.

The protocol is TensorFlow's (gRPC): either end may be TensorFlow's.
"""

import concurrent.futures
import importlib
import threading
import time
from typing import Any

from headrace._src.core import errors, missing_names
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.op.api import api
from headrace._src.profiler.session import ProfilerOptions, begin_session, end_session

_messages = LazyModule("headrace._src.formats.profile_messages")

SERVICE = "tensorflow.ProfilerService"
_servers: dict[int, Any] = {}  # by port; they live as long as the process
_lock = threading.Lock()


def grpc_module() -> Any:
    """gRPC, which nothing else here needs.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return importlib.import_module("grpc")
    except ImportError:
        raise ImportError(
            f"tf.profiler.experimental.server and client need gRPC. {missing_names.about('import grpc')}. (It comes "
            "with TensorBoard. A profile of this process alone needs nothing: tf.profiler.experimental.start.)"
        ) from None


@api("profiler.experimental.server.start", dispatch=False)
def start(port) -> None:
    """Let others ask this process for profiles: `tf.profiler.experimental.client.trace`, or TensorBoard's profile page.

    Whoever can reach the port can do so, and has files written where they say: use it in networks that you trust.

    Args:
        port: an int. Starting again on the same one does nothing.

    Raises:
        RuntimeError: the port cannot be used.
        ImportError: gRPC is not installed.
    """
    port = int(port)
    grpc = grpc_module()
    with _lock:
        if port in _servers:
            return
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(4, "headrace profiles"))
        server.add_generic_rpc_handlers((_handlers(grpc),))
        try:
            bound = server.add_insecure_port(f"[::]:{port}")
        except RuntimeError:
            bound = 0
        if not bound:
            raise RuntimeError(f"tf.profiler.experimental.server.start: port {port} cannot be used; take another one.")
        server.start()
        _servers[port] = server


def _handlers(grpc):
    service = _Service(grpc)
    methods = {
        "Profile": (service.profile, _messages.ProfileRequest),
        "Terminate": (service.terminate, _messages.TerminateRequest),
        "Monitor": (service.monitor, _messages.MonitorRequest),
    }
    return grpc.method_handlers_generic_handler(
        SERVICE,
        {
            name: grpc.unary_unary_rpc_method_handler(
                method, request.FromString, lambda response: response.SerializeToString()
            )
            for name, (method, request) in methods.items()
        },
    )


class _Service:
    """What the server does; each method takes a message and the context of gRPC."""

    def __init__(self, grpc):
        self._codes = grpc.StatusCode
        self._ends: dict[str, threading.Event] = {}  # of sessions that run

    def profile(self, request, context):
        """Record for a while, and write the profile where the client says."""
        _wait_until(request.opts.start_timestamp_ns)
        try:
            begin_session(_options(request.opts))
        except errors.AlreadyExistsError as error:
            context.abort(self._codes.ALREADY_EXISTS, str(error))
        end = self._ends[request.session_id] = threading.Event()
        try:
            end.wait((request.duration_ms or request.opts.duration_ms or 1000) / 1000)
        finally:
            self._ends.pop(request.session_id, None)
            data, _ = end_session()
        space = _messages.XSpace.FromString(data)
        empty = not any(line.events for plane in space.planes for line in plane.lines)
        if request.emit_xspace:
            return _messages.ProfileResponse(empty_trace=empty, xspace=space)
        if not empty:
            self._write(request, data, context)
        return _messages.ProfileResponse(empty_trace=empty)

    def _write(self, request, data, context):
        if not request.repository_root:
            return
        folder = files.join(request.repository_root, request.session_id)
        name = request.host_name.replace(":", "_").replace("/", "_")
        try:
            files.make_directories(folder)
            files.write(files.join(folder, f"{name}.xplane.pb"), data)
        except errors.OpError as error:
            context.abort(self._codes.INTERNAL, f"The profile cannot be written to {folder}: {error}")

    def terminate(self, request, context):
        """End a session before its time."""
        end = self._ends.get(request.session_id)
        if end is not None:
            end.set()
        return _messages.TerminateResponse()

    def monitor(self, request, context):
        """TF: as on any machine without TPUs."""
        context.abort(self._codes.UNIMPLEMENTED, "unimplemented.")


def _options(message):
    return ProfilerOptions(
        host_tracer_level=message.host_tracer_level,
        python_tracer_level=message.python_tracer_level,
        device_tracer_level=message.device_tracer_level,
    )


def _wait_until(nanoseconds):
    """All machines are to begin at the same time, if a client says when; what is far away is a clock that is wrong."""
    seconds = nanoseconds / 1e9 - time.time()
    if 0 < seconds < 3600:
        time.sleep(seconds)
