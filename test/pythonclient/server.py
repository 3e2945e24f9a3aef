"""Starts the binary in TROUPE with `serve --ephemeral` and waits until it is ready."""

import os
import re
import signal
import subprocess

READY = re.compile(r"^troupe ready: (\S+) .*KUBECONFIG=(.+) in \d+ ms$")


class Server:
    def __init__(self, *flags):
        self.process = subprocess.Popen(
            [os.environ["TROUPE"], "serve", "--ephemeral", "--secure-port", "0", "--naming", "kubernetes",
             "--controllers", "apiserver,namespace-controller,garbage-collector-controller,workloads", *flags],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().strip()
        ready = READY.match(line)
        if not ready:
            self.process.kill()
            raise RuntimeError(f"the ready line is {line!r}")
        self.url, self.kubeconfig = ready.groups()

    def stop(self):
        """Stops the server with SIGTERM and returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        self.process.stdout.close()
        return self.process.wait(timeout=30)
