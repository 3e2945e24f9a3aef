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

// BuiltIn, in place of the path of a program, is what is built into the daemon.
const BuiltIn = "built-in"

// Options say what is to run.
type Options struct {
	Dir    string // of everything that is kept
	Naming string // the profile of a new data directory
	Port   int    // of the daemon; 0 is any that is free
	Config string // a file of settings of the daemon; "" for none
	// Join is the client configuration of a server that runs already; then only nodes are played, and the fields above do
	// not count but for Naming. "" starts a daemon.
	Join string
	// ControllerManager and Scheduler are paths of programs; "" looks for them in PATH, and takes what is built in where
	// there is none.
	ControllerManager, Scheduler string

	Nodes       int
	Capacity    map[string]string // of each node, beside the defaults
	NodeAddress string
	PodRange    string
	JobTime     time.Duration

	Out io.Writer // for people
}

// Validate finds all that is wrong, and fills in what is left open.
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
		fault("--pod-range: %s is no range; %s is", p, p.Masked())
	}
	if ip, err := netip.ParseAddr(o.NodeAddress); err != nil || ip.IsUnspecified() {
		fault("--node-address: %q is no address of this machine", o.NodeAddress)
	}
	for name, amount := range o.Capacity {
		if !validAmount(amount) {
			fault("--capacity: %q is no amount of %s", amount, name)
		}
	}
	for _, p := range []struct {
		flag, name string
		path       *string
	}{{"--kube-controller-manager", "kube-controller-manager", &o.ControllerManager}, {"--kube-scheduler", "kube-scheduler", &o.Scheduler}} {
		if err := find(p.name, p.path, o.Join == "" && naming == meta.Kubernetes); err != nil {
			fault("%s: %w", p.flag, err)
		}
	}
	return errors.Join(faults...)
}

const maxNodes = 100_000

// find looks for a program, unless it is named; it has no use under other names than its own.
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
		return errors.New("works beside a daemon of this command only, and with --naming kubernetes")
	}
	_, err := exec.LookPath(*path)
	return err
}
