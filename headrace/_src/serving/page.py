"""The page at `/`: models, versions, signatures, latencies, and a form to try a prediction."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING

from headrace._src.version import HEADRACE_VERSION

if TYPE_CHECKING:
    from headrace._src.serving.inference import Inference

_LATENCY = ":tensorflow:serving:request_latency"

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #1c2733 }
h1 { font-size: 1.4em } h2 { font-size: 1.15em; margin-top: 2em } h3 { font-size: 1em }
table { border-collapse: collapse; margin: .5em 0 } td, th { text-align: left; padding: .2em 1.2em .2em 0 }
th { font-weight: 600; border-bottom: 1px solid #c6d0da }
code, textarea, pre { font: 14px/1.45 ui-monospace, monospace }
textarea { width: 100%; height: 7em } button { font: inherit; padding: .2em 1em; margin-top: .4em }
pre { background: #f2f5f8; padding: .6em; white-space: pre-wrap; max-height: 20em; overflow: auto }
.bad { color: #a3261b }
"""
_SCRIPT = """
for (const form of document.querySelectorAll("form")) form.addEventListener("submit", async event => {
  event.preventDefault();
  const result = form.querySelector("pre"), begun = performance.now();
  result.textContent = "...";
  try {
    const reply = await fetch(form.dataset.url, {method: "POST", body: form.querySelector("textarea").value});
    const text = await reply.text();
    result.textContent = `${reply.status}, ${(performance.now() - begun).toFixed(1)} ms\\n${text}`;
  } catch (error) { result.textContent = String(error); }
});
"""


def page(inference: Inference) -> str:
    """The page as HTML."""
    parts = [_model(inference, name) for name in inference.models.names]
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>headrace serving</title><style>{_STYLE}</style>"
        f"<h1>headrace {html.escape(HEADRACE_VERSION)}: models</h1>"
        + ("".join(parts) or "<p>No model is configured.</p>")
        + f"<script>{_SCRIPT}</script></html>"
    )


def _model(inference, name):
    metrics = inference.metrics
    count = metrics.total(":tensorflow:serving:request_count", model_name=name)
    half, most = metrics.quantiles(_LATENCY, 0.5, 0.99, model_name=name, entrypoint="REST")
    try:
        statuses = inference.models.status(name)
    except Exception as error:
        statuses = []
        problem = f"<p class=bad>{html.escape(str(error))}</p>"
    else:
        problem = ""
    rows = "".join(
        f"<tr><td>{status.version}<td>{status.state}<td class=bad>{html.escape(status.message)}" for status in statuses
    )
    latency = f"REST latency at most {half / 1000:.2f} ms (half), {most / 1000:.2f} ms (99 %)" if count else "none yet"
    found = inference.models.versions(name)
    signatures = (
        "".join(_signature(found[max(found)], one) for one in found[max(found)].signatures.values()) if found else ""
    )
    return (
        f"<h2>{html.escape(name)}</h2>{problem}<table><tr><th>version<th>state<th>{rows}</table>"
        f"<p>{count} requests; {latency}.</p>{signatures}"
    )


def _signature(servable, signature):
    parameters = "".join(
        f"<tr><td>{kind}<td><code>{html.escape(one.name)}</code><td>{one.dtype.name}<td>{html.escape(str(one.shape))}"
        for kind, group in (("input", signature.inputs), ("output", signature.outputs))
        for one in group.values()
    )
    body = {"signature_name": signature.name, "inputs": {name: _sample(one) for name, one in signature.inputs.items()}}
    text = json.dumps(body)
    if len(text) > 4000:
        text = json.dumps({"signature_name": signature.name, "inputs": {name: [] for name in signature.inputs}})
    return (
        f"<h3>{html.escape(signature.name)}</h3><table><tr><th><th>name<th>dtype<th>shape{parameters}</table>"
        f'<form data-url="/v1/models/{html.escape(servable.name)}:predict"><textarea>{html.escape(text)}</textarea>'
        "<button>Predict</button><pre></pre></form>"
    )


def _sample(parameter):
    """A value that fits: zeros, one where a size is free."""
    dims = [] if parameter.shape.rank is None else [1 if size is None else size for size in parameter.shape.as_list()]
    value = {"s": "", "b": False}.get(parameter.dtype._kind, 0 if parameter.dtype.is_integer else 0.0)
    if dims and _count(dims) > 2000:
        return []
    for size in reversed(dims):
        value = [value] * size
    return value


def _count(dims):
    total = 1
    for size in dims:
        total *= size
    return total
