# test/pythonclient/conftest.py
import re
import subprocess

import pytest


@pytest.fixture(scope="session")
def kubeconfig():
    """The path of a kubeconfig for an API server that lives as long as the tests."""
    command = ["troupe", "serve", "--ephemeral", "--secure-port", "0", "--naming", "kubernetes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        line = server.stdout.readline()  # empty if the server fails to start
        ready = re.match(r"troupe ready: .* KUBECONFIG=(.+) in ", line)
        assert ready, f"not ready: {line!r}"
        yield ready[1]
        server.terminate()
