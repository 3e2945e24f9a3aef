package daemon

import (
	"fmt"
	"net"
	"path/filepath"
	"time"
)

// Addr is the address that the daemon listens on.
func (d *Daemon) Addr() net.Addr { return d.listener.Addr() }

// URL is the address for clients on this machine, as in "https://127.0.0.1:6443".
func (d *Daemon) URL() string {
	host, port, _ := net.SplitHostPort(d.Addr().String())
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "https://" + net.JoinHostPort(host, port)
}

// Kubeconfig is the path of the administrator's client configuration.
func (d *Daemon) Kubeconfig() string { return filepath.Join(d.config.DataDir, "admin.kubeconfig") }

// Ready is the line that says that requests are answered, and where.
func (d *Daemon) Ready() string {
	return fmt.Sprintf("troupe ready: %s (naming %s), KUBECONFIG=%s in %d ms",
		d.URL(), d.naming.Profile, d.Kubeconfig(), time.Since(d.startedAt).Milliseconds())
}
