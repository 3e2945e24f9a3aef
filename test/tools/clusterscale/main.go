package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest/freeport"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/cluster"
	"github.com/troupe-api/troupe/test/controlplane"
)

// pins is a directory with a go.mod that pins the Kubernetes version.
const pins = "../../cluster/kubernetes"

func main() { controlplane.Main("clusterscale", run) }

type settings struct {
	nodes, pods, deployments int
	limit                    time.Duration
	reference                controlplane.Reference
}

func run(ctx context.Context, dir string) error {
	var s settings
	flag.IntVar(&s.nodes, "nodes", 1000, "How many simulated nodes there are.")
	flag.IntVar(&s.pods, "pods", 10000, "How many Pods there are.")
	flag.IntVar(&s.deployments, "deployments", 10, "How many Deployments have them.")
	flag.DurationVar(&s.limit, "limit", 30*time.Minute, "Longest time of the phases together.")
	s.reference.Flags()
	flag.Parse()
	if s.nodes < 1 || s.deployments < 1 || s.pods < s.deployments {
		return errors.New("there have to be nodes, Deployments, and at least a Pod of each")
	}
	var p plane
	defer p.Stop()
	if err := p.start(ctx, dir, s); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	return measure(ctx, &p, s)
}

// A plane is a control plane whose scheduler starts last.
type plane struct {
	controlplane.Processes
	server          *controlplane.Server
	parts           []part
	schedulerPath   string
	schedulerAnswer string // URL of the scheduler's metrics
}

// A part is the process of a control plane component, with its name in the report.
type part struct {
	name string
	*controlplane.Process
}

// start starts all components except the scheduler.
func (p *plane) start(ctx context.Context, dir string, s settings) error {
	kubectl, err := client.BuildKubectl(dir)
	if err != nil {
		return err
	}
	troupe, err := client.BuildTroupe(dir)
	if err != nil {
		return err
	}
	manager, err := cluster.Program(pins, "kube-controller-manager")
	if err != nil {
		return err
	}
	if p.schedulerPath, err = cluster.Program(pins, "kube-scheduler"); err != nil {
		return err
	}
	if s.reference.APIServer == "" {
		p.server, err = p.StartTroupe(ctx, troupe, dir)
	} else {
		p.server, err = p.StartReference(ctx, dir, kubectl, s.reference)
	}
	if err != nil {
		return err
	}
	p.add(filepath.Base(p.server.Path), p.server.Process)
	if p.server.Etcd != nil {
		p.add("etcd", p.server.Etcd)
	}
	controllers, err := p.StartManager(manager, p.server)
	if err != nil {
		return err
	}
	p.add("kube-controller-manager", controllers)
	began := time.Now()
	nodes, err := p.StartNodes(ctx, troupe, p.server, s.nodes)
	if err != nil {
		return err
	}
	p.add(fmt.Sprintf("%d nodes", s.nodes), nodes)
	fmt.Printf("%d nodes registered after %.1f s\n\n", s.nodes, time.Since(began).Seconds())
	return nil
}

func (p *plane) add(name string, process *controlplane.Process) {
	p.parts = append(p.parts, part{name, process})
}

// startScheduler starts the scheduler, with metrics that require no authorization.
func (p *plane) startScheduler() error {
	port, err := freeport.Find()
	if err != nil {
		return err
	}
	process, err := p.StartScheduler(p.schedulerPath, p.server, "--bind-address=127.0.0.1", fmt.Sprint("--secure-port=", port),
		"--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics", "--leader-elect=false")
	p.schedulerAnswer = fmt.Sprintf("https://127.0.0.1:%d", port)
	p.add("kube-scheduler", process)
	return err
}

func measure(ctx context.Context, p *plane, s settings) error {
	c, err := client.New(p.server.Kubeconfig)
	if err != nil {
		return err
	}
	defer c.Close()
	pods, err := follow(ctx, c, "default")
	if err != nil {
		return err
	}
	table := newTable(p, s.pods)
	if err := createDeployments(ctx, c, s); err != nil {
		return err
	}
	if err := pods.await(ctx, s.pods, func(n counts) int { return n.created }); err != nil {
		return err
	}
	table.phase("create")
	bindings, err := bindingsOf(ctx, c)
	if err != nil {
		return err
	}
	if err := p.startScheduler(); err != nil {
		return err
	}
	if err := pods.await(ctx, s.pods, func(n counts) int { return n.placed }); err != nil {
		return err
	}
	took := table.phase("schedule")
	search, err := searchOf(ctx, p.schedulerAnswer)
	after, fault := bindingsOf(ctx, c)
	if err := cmp.Or(err, fault); err != nil {
		return err
	}
	if err := pods.await(ctx, s.pods, func(n counts) int { return n.ready }); err != nil {
		return err
	}
	if err := awaitAvailable(ctx, c, s.pods); err != nil {
		return err
	}
	table.phase("start")
	table.print(os.Stdout)
	fmt.Printf("\nplaced %.0f Pods/s; from the first to the last %.1f s\n", float64(s.pods)/took.Seconds(), pods.placing().Seconds())
	fmt.Printf("the scheduler searched in %.0f %% of the phase, %.2f ms a Pod; a binding took the server %.2f ms on average\n",
		100*search.seconds/took.Seconds(), 1000*search.mean(), 1000*after.since(bindings).mean())
	return nil
}
