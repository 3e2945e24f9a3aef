package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/simulation"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// workers limits the concurrent requests for Pods and, separately, for leases, without watches.
const workers = 32

const requestTimeout = 30 * time.Second

// stopTimeout is how long in-flight requests may continue at shutdown.
const stopTimeout = 30 * time.Second

func validAmount(text string) bool {
	q, err := quantity.Read(text)
	return err == nil && q.Sign() >= 0
}

// Run runs the cluster until ctx ends. It returns an error if a component fails.
func Run(ctx context.Context, o Options) (err error) {
	naming, err := meta.ParseNaming(o.Naming)
	if err != nil {
		return err
	}
	r := &run{Options: o, naming: naming, ended: make(chan error, 4)}
	defer func() { err = errors.Join(err, r.stop()) }()
	configured := o.Join
	if o.Join == "" {
		if configured, err = r.startDaemon(); err != nil {
			return err
		}
		for _, p := range []struct{ name, path string }{{"kube-controller-manager", o.KubeControllerManager}, {"kube-scheduler", o.KubeScheduler}} {
			if err := r.startProgram(p.name, p.path); err != nil {
				return err
			}
		}
	}
	if err := r.startNodes(ctx, configured); err != nil || ctx.Err() != nil {
		return err
	}
	path, err := filepath.Abs(configured)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "\n  export KUBECONFIG=%s\n\n", path)
	return r.watch(ctx)
}

// A run is the state of a running cluster. stops contains the functions that stop its components,
// in start order.
type run struct {
	Options
	naming  *meta.Naming
	ended   chan error // receives the error of a component that ended prematurely
	nodes   *simulation.Cluster
	stops   []func() error
	kubelet identity
}

func (r *run) say(what, format string, args ...any) {
	fmt.Fprintf(r.Out, "%-26s%s\n", what, fmt.Sprintf(format, args...))
}

func (r *run) stop() (err error) {
	for len(r.stops) > 0 {
		last := len(r.stops) - 1
		err = errors.Join(err, r.stops[last]())
		r.stops = r.stops[:last]
	}
	return err
}

func (r *run) dataDir() string { return filepath.Join(r.Dir, "data") }

// logFile opens the named log file for appending. run.stop closes the file.
func (r *run) logFile(name string) (*os.File, error) {
	dir := filepath.Join(r.Dir, "logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		r.stops = append(r.stops, f.Close)
	}
	return f, err
}

// startDaemon starts the daemon. Its built-in controllers and scheduler replace
// kube-controller-manager and kube-scheduler if those are not used.
func (r *run) startDaemon() (configPath string, err error) {
	config := daemon.Default()
	config.Services.ClusterIPRange = "10.0.0.0/16"
	if r.Config != "" {
		if err := config.Load(r.Config); err != nil {
			return "", err
		}
	}
	config.DataDir, config.Naming, config.Serving.SecurePort = r.dataDir(), r.Naming, r.SecurePort
	config.Controllers = r.controllers(config.Controllers)
	logs, err := r.logFile("troupe")
	if err != nil {
		return "", err
	}
	// Use a new directory, because another process may be running this cluster.
	kubeletDir, err := os.MkdirTemp(r.Dir, "kubelet-")
	if err != nil {
		return "", err
	}
	r.stops = append(r.stops, func() error { return os.RemoveAll(kubeletDir) })
	if r.kubelet, err = newIdentity(kubeletDir, netip.MustParseAddr(r.NodeAddress)); err != nil {
		return "", err
	}
	config.Kubelets.ClientCertFile, config.Kubelets.ClientKeyFile, config.Kubelets.CertificateAuthority = r.kubelet.clientCert, r.kubelet.clientKey, r.kubelet.authority
	config.Kubelets.PreferredAddressTypes = []string{"InternalIP"}
	began := time.Now()
	d, err := daemon.New(config, logs)
	if err != nil {
		return "", withAdvice(err)
	}
	started, settled := d.TuneMemory()
	if err := d.Start(); err != nil {
		return "", withAdvice(err)
	}
	started()
	settled()
	if err := removeOthers(kubeletDir); err != nil {
		return "", err
	}
	go func() {
		if err := d.Wait(); err != nil {
			r.ended <- fmt.Errorf("the server ended: %w", err)
		}
	}()
	r.stops = append(r.stops, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		return d.Stop(ctx)
	})
	r.say("API server", "%s, ready after %s", d.URL(), time.Since(began).Round(time.Millisecond))
	return d.Kubeconfig(), nil
}

// removeOthers removes kubelet directories left by killed runs. None is in use, because this run
// holds the lock on the data directory.
func removeOthers(kubeletDir string) error {
	all, err := filepath.Glob(filepath.Join(filepath.Dir(kubeletDir), "kubelet*"))
	for _, dir := range all {
		if dir != kubeletDir {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// withAdvice replaces the hint of a daemon error, which follows the first line. The daemon's hint
// names flags of the serve command instead of those of this command.
func withAdvice(err error) error {
	var advice string
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = "choose another --secure-port (0 for a free port)"
	case errors.Is(err, persist.ErrLocked):
		advice = "stop the cluster that uses it, or choose another directory with --dir"
	default:
		return err
	}
	fault, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(fault + "\n" + advice)
}

// controllers returns the configured controllers plus the built-in replacements for
// kube-controller-manager and kube-scheduler, unless those are used.
func (r *run) controllers(configured daemon.Controllers) daemon.Controllers {
	all := []string{string(configured)}
	if r.KubeControllerManager == BuiltIn {
		all = append(all, "workloads", "node-lifecycle-controller", "taint-eviction-controller")
		r.say("controllers", "built in")
	}
	if r.KubeScheduler == BuiltIn {
		all = append(all, "scheduler")
		r.say("scheduler", "built in")
	}
	return daemon.Controllers(strings.Join(all, ","))
}

func (r *run) startNodes(ctx context.Context, path string) error {
	config, err := kubeconfig.Load(path)
	if err != nil {
		return err
	}
	client := rest.New(config, rest.Options{Agent: "troupe-cluster", Warnings: io.Discard, MaxIdle: 2 * workers})
	client.Timeout = requestTimeout
	if r.Join != "" {
		if r.kubelet, err = newIdentity("", netip.MustParseAddr(r.NodeAddress)); err != nil {
			return err
		}
	}
	logs := io.Writer(os.Stderr)
	if r.Join == "" {
		if logs, err = r.logFile("nodes"); err != nil {
			return err
		}
	}
	r.nodes, err = simulation.New(simulation.Options{
		Client: client, Naming: r.naming, Nodes: r.Nodes, Capacity: r.Capacity, Address: r.NodeAddress, PodRange: netip.MustParsePrefix(r.PodRange),
		JobTime: r.JobTime, Workers: workers, TLS: r.kubelet.server, Log: slog.New(slog.NewTextHandler(logs, nil)),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.nodes.Run(ctx); err != nil && ctx.Err() == nil {
			r.ended <- err
		}
	})
	r.stops = append(r.stops, func() error {
		cancel()
		running.Wait()
		client.Close()
		return nil
	})
	return r.awaitNodes(ctx)
}

func (r *run) awaitNodes(ctx context.Context) error {
	began, told := time.Now(), 0
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		n := r.nodes.Ready()
		if n == r.Nodes {
			r.say("nodes", "%d registered after %s", n, time.Since(began).Round(time.Millisecond))
			return nil
		}
		if n >= told+max(r.Nodes/4, 1) && r.Nodes >= 100 {
			told = n
			r.say("nodes", "%d of %d", n, r.Nodes)
		}
		select {
		case err := <-r.ended:
			return err
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// watch prints changes in the Pod counts until ctx ends or a component fails.
func (r *run) watch(ctx context.Context) error {
	var told simulation.Counts
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case err := <-r.ended:
			return err
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if now := r.nodes.Counts(); now != told {
			told = now
			r.say("Pods on nodes", "%d running, %d starting, %d finished, %d terminating", now.Running, now.Starting, now.Ended, now.Terminating)
		}
	}
}
