"""`tf.profiler.experimental.client`: profiles of other processes, which run `tf.profiler.experimental.server`."""

import logging
import time

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.op.api import api
from headrace._src.profiler.service import SERVICE, grpc_module
from headrace._src.profiler.session import ProfilerOptions
from headrace._src.profiler.time_line import run_name

_messages = LazyModule("headrace._src.formats.profile_messages")
logger = logging.getLogger("headrace")

_SPARE_SECONDS = 60  # after which a server that has not answered is given up
_TOOLS = (
    "trace_viewer op_profile input_pipeline kernel_stats memory_viewer memory_profile overview_page pod_viewer "
    "tensorflow_stats xplane.pb"
).split()


@api("profiler.experimental.client.trace", dispatch=False)
def trace(service_addr, logdir, duration_ms, worker_list="", num_tracing_attempts=3, options=None) -> None:
    """Ask servers to profile their processes for a while. They write the profiles into the log folder.

    Args:
        service_addr: `grpc://host:port` of each server, separated by commas.
        logdir: the log folder, as the servers see it.
        duration_ms: for how long.
        worker_list: more servers, separated by commas.
        num_tracing_attempts: how often to try, when nothing ran meanwhile.
        options: `tf.profiler.experimental.ProfilerOptions`.

    Raises:
        InvalidArgumentError: duration_ms is not positive, or an address is wrong.
        UnavailableError: no server has answered, or nothing ran in any; the message says which.
        ImportError: gRPC is not installed.
    """
    if duration_ms <= 0:
        raise errors.invalid_argument("duration_ms must be greater than zero.")
    addresses = [_address(text) for text in [*service_addr.split(","), *filter(None, worker_list.split(","))]]
    problems: dict[str, str] = {}
    for remaining in reversed(range(num_tracing_attempts)):
        logger.info("Starting to trace for %s ms. Remaining attempt(s): %s", duration_ms, remaining)
        problems = _ask(addresses, files.path_string(logdir), int(duration_ms), options or ProfilerOptions())
        if len(problems) < len(addresses):
            for address, problem in problems.items():
                logger.warning("tf.profiler.experimental.client.trace: %s: %s", address, problem)
            return
    details = "; ".join(f"{address}: {problem}" for address, problem in problems.items())
    raise errors.NoProfileError(
        None, None,
        "No trace event was collected because there were no responses from clients or the responses did not have trace "
        f"data, after {num_tracing_attempts} attempt(s). {details}",
    )  # fmt: skip


def _address(text):
    address = text.strip().removeprefix("grpc://")
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise errors.AddressError(None, None, f'Could not interpret "{text}" as a host-port pair.')
    return address


def _ask(addresses, logdir, duration, options):
    """Ask all servers at once; what was wrong with which."""
    grpc = grpc_module()
    session = run_name(time.time())
    channels = {address: grpc.insecure_channel(address) for address in addresses}
    try:
        begin = time.time_ns() + (options.delay_ms or 0) * 1_000_000
        calls = {}
        for address, channel in channels.items():
            request = _request(address, logdir, session, duration, options, begin)
            method = channel.unary_unary(
                f"/{SERVICE}/Profile",
                lambda message: message.SerializeToString(),
                _messages.ProfileResponse.FromString,
            )
            wait = (duration + (options.delay_ms or 0)) / 1000 + _SPARE_SECONDS
            calls[address] = method.future(request, timeout=wait)
        problems = {address: _problem(grpc, call) for address, call in calls.items()}
        return {address: problem for address, problem in problems.items() if problem}
    finally:
        for channel in channels.values():
            channel.close()


def _request(address, logdir, session, duration, options, begin):
    request = _messages.ProfileRequest(
        duration_ms=duration, max_events=1_000_000, tools=_TOOLS,
        repository_root=f"{logdir.rstrip('/')}/plugins/profile", session_id=session, host_name=address,
    )  # fmt: skip
    opts = request.opts
    opts.version, opts.include_dataset_ops, opts.enable_hlo_proto = 1, True, True
    opts.host_tracer_level = options.host_tracer_level
    opts.python_tracer_level = options.python_tracer_level
    opts.device_tracer_level = options.device_tracer_level
    opts.start_timestamp_ns, opts.duration_ms, opts.repository_path = begin, duration, logdir
    return request


def _problem(grpc, call):
    try:
        response = call.result()
    except grpc.RpcError as error:
        return f"{error.code().name}: {error.details()}"
    return "nothing ran there meanwhile" if response.empty_trace else ""


@api("profiler.experimental.client.monitor", dispatch=False)
def monitor(service_addr, duration_ms, level=1) -> str:
    """Ask a server how its devices are used, which only servers with TPUs know.

    Args:
        service_addr: `grpc://host:port`.
        duration_ms: for how long it looks.
        level: 1 or 2: how much it tells.

    Raises:
        UnavailableError: it has not answered, or does not know.
    """
    grpc = grpc_module()
    with grpc.insecure_channel(_address(service_addr)) as channel:
        method = channel.unary_unary(
            f"/{SERVICE}/Monitor",
            lambda message: message.SerializeToString(),
            _messages.MonitorResponse.FromString,
        )
        request = _messages.MonitorRequest(duration_ms=int(duration_ms), monitoring_level=level, timestamp=True)
        try:
            return method(request, timeout=duration_ms / 1000 + _SPARE_SECONDS).data
        except grpc.RpcError as error:
            raise errors.NoProfileError(None, None, f"{error.code().name}: {error.details()}") from None
