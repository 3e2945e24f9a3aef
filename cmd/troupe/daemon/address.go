package daemon

import (
	"fmt"
	"net"
	"time"
)

// Addr is the address that the daemon listens on. It differs from the configured one if that names no port.
// It may be called after Start only, as URL and Ready.
func (d *Daemon) Addr() net.Addr { return d.endpoint.listener.Addr() }

// URL is the address for clients on this machine, as in "https://127.0.0.1:6443".
func (d *Daemon) URL() string { return d.endpoint.url() }

// Kubeconfig is the path of the administrator's client configuration, or "" if it is in no file. Its credential is
// a member of system:masters, so it is as good as the data directory itself.
func (d *Daemon) Kubeconfig() string { return d.config.kubeconfig() }

// Ready is the line that says that requests are answered, and where. Scripts and tests wait for this line
// and read the address and the path from it.
func (d *Daemon) Ready() string {
	var kubeconfig string
	if path := d.Kubeconfig(); path != "" {
		kubeconfig = ", KUBECONFIG=" + path
	}
	return fmt.Sprintf("troupe ready: %s (naming %s)%s in %d ms",
		d.URL(), d.naming.Profile, kubeconfig, time.Since(d.startedAt).Milliseconds())
}
