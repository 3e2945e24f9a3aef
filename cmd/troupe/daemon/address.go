package daemon

import (
	"fmt"
	"net"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Addr returns the listening address. If the configured port is 0, it contains the actual port.
// Addr, URL and Ready may be called only after Start.
func (d *Daemon) Addr() net.Addr { return d.endpoint.listener.Addr() }

// URL returns the address for clients on this machine, such as "https://127.0.0.1:6443".
func (d *Daemon) URL() string { return d.endpoint.url() }

// Kubeconfig returns the path of the administrator's kubeconfig, or "". Its user is a member of
// system:masters.
func (d *Daemon) Kubeconfig() string { return d.config.kubeconfig() }

// Ready returns the line that announces readiness. Scripts and tests wait for it, and parse the
// address and the kubeconfig path from it.
func (d *Daemon) Ready() string {
	var kubeconfig string
	if path := d.Kubeconfig(); path != "" {
		kubeconfig = ", KUBECONFIG=" + path
	}
	var hint string
	if d.naming == meta.Platform {
		hint = "; kubectl and Helm need --naming kubernetes"
	}
	return fmt.Sprintf("troupe ready: %s (naming %s)%s in %d ms%s",
		d.URL(), d.naming.Profile, kubeconfig, time.Since(d.startedAt).Milliseconds(), hint)
}
