package localcluster

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os/exec"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// BuiltIn selects the daemon's controllers or scheduler instead of a program.
const BuiltIn = "built-in"

// Options configures the cluster.
type Options struct {
	Dir        string // directory of all persistent files
	Naming     string // naming profile of a new data directory
	SecurePort int    // of the daemon; 0 selects a free port
	Config     string // the daemon's configuration file; "" for none
	// Join is the kubeconfig of an existing server. If set, only nodes are simulated, and Dir,
	// SecurePort and Config are ignored. Otherwise, Run starts a daemon.
	Join string
	// KubeControllerManager and KubeScheduler are program paths. An empty path searches PATH and
	// falls back to BuiltIn.
	KubeControllerManager, KubeScheduler string

	Nodes       int
	Capacity    map[string]string // capacity of each node, in addition to the defaults
	NodeAddress string
	PodRange    string
	JobTime     time.Duration

	Out io.Writer // for messages to the user
}

// Validate resolves program paths. Its error lists all invalid options.
func (o *Options) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if o.Nodes < 0 || o.Nodes > maxNodes {
		fault("--nodes: %d is not between 0 and %d", o.Nodes, maxNodes)
	}
	if o.JobTime < 0 {
		fault("--job-time: %s is negative", o.JobTime)
	}
	naming, err := meta.ParseNaming(o.Naming)
	if err != nil {
		fault("--naming: %w", err)
	}
	if p, err := netip.ParsePrefix(o.PodRange); err != nil {
		fault("--pod-range: %w", err)
	} else if p.Masked() != p {
		fault("--pod-range: %s is not a network address; use %s", p, p.Masked())
	}
	if ip, err := netip.ParseAddr(o.NodeAddress); err != nil || ip.IsUnspecified() {
		fault("--node-address: %q is not an address of this machine", o.NodeAddress)
	}
	for name, amount := range o.Capacity {
		if !validAmount(amount) {
			fault("--capacity: %q is not a quantity of %s", amount, name)
		}
	}
	for _, p := range []struct {
		flag, name string
		path       *string
	}{{"--kube-controller-manager", "kube-controller-manager", &o.KubeControllerManager}, {"--kube-scheduler", "kube-scheduler", &o.KubeScheduler}} {
		if err := find(p.name, p.path, o.Join == "" && naming == meta.Kubernetes); err != nil {
			fault("%s: %w", p.flag, err)
		}
	}
	return errors.Join(faults...)
}

const maxNodes = 100_000

// find resolves a program's path. If *path is empty, it searches PATH and falls back to BuiltIn.
// usable is false if the programs do not work with the server, because it does not use Kubernetes
// names or was not started by this command.
func find(name string, path *string, usable bool) error {
	switch {
	case *path == BuiltIn:
		return nil
	case *path == "":
		*path = BuiltIn
		if found, err := exec.LookPath(name); err == nil && usable {
			*path = found
		}
		return nil
	case !usable:
		return errors.New("requires a server started by this command with --naming kubernetes")
	}
	_, err := exec.LookPath(*path)
	return err
}
