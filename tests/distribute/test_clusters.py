"""How the workers of a cluster find each other."""

import socket

import pytest

from headrace._src.core import operating_system
from headrace._src.distribute import clusters


@pytest.mark.skipif(not operating_system.shares_ports(), reason="the port cannot be held here")
def test_nobody_gets_the_port_of_the_service_before_it_listens(monkeypatch):
    def serve(address, count):
        host, _, port = address.rpartition(":")
        with pytest.raises(OSError, match="in use"):
            socket.create_server((host, int(port)))
        return count

    monkeypatch.setattr(clusters, "serve", serve)
    assert clusters._served("127.0.0.1", 3)[0] == 3


def test_the_service_listens_at_its_address():
    service, address = clusters._served("127.0.0.1", 1)
    host, _, port = address.rpartition(":")
    socket.create_connection((host, int(port)), timeout=10).close()
    del service
