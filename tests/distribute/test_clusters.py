"""How the workers of a cluster find each other."""

import socket

import pytest

from headrace._src.distribute import clusters


@pytest.mark.parametrize("taken", [0, 1, clusters._PORTS - 1, clusters._PORTS])
def test_another_port_is_tried_where_one_was_taken(monkeypatch, taken):
    asked = []

    def serve(address, count):
        asked.append(address)
        if len(asked) <= taken:
            raise RuntimeError("UNKNOWN: Failed to start RPC server")
        return count

    monkeypatch.setattr(clusters, "serve", serve)
    if taken == clusters._PORTS:
        with pytest.raises(RuntimeError, match="RPC server"):
            clusters._served("127.0.0.1", 3)
        assert len(asked) == taken
    else:
        assert clusters._served("127.0.0.1", 3) == (3, asked[-1])
        assert len(asked) == taken + 1


def test_xla_refuses_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as busy, pytest.raises(RuntimeError):
        clusters.serve(f"127.0.0.1:{busy.getsockname()[1]}", 1)
