package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/cluster"
)

// pins is the folder that pins the versions of Kubernetes' programs.
const pins = "../cluster/kubernetes"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// run builds what is needed, runs the tests and prints what has become of them. It is an error if one failed.
func run() error {
	focus := flag.String("focus", `\[Conformance\]`, "Expression of the names of the tests to run.")
	skip := flag.String("skip", "", `Expression of the names of tests to leave out, as \[Conformance\] for those beyond it; "" leaves out none.`)
	kubeconfig := flag.String("kubeconfig", "", "Client configuration of a cluster that runs already.")
	apiserver := flag.String("kube-apiserver", "", "Path of a kube-apiserver to run the suite on, beside the same controllers, scheduler and nodes, in place of Troupe.")
	etcd := flag.String("etcd", "etcd", "Path of the etcd for --kube-apiserver.")
	workers := flag.Int("workers", 3, "How many tests run at the same time.")
	nodes := flag.Int("nodes", 5, "How many simulated nodes there are.")
	limit := flag.Duration("limit", 12*time.Minute, "Longest time of a test.")
	failures := flag.String("failures", "", "Folder for the output of tests that failed.")
	flag.Parse()
	expression, err := regexp.Compile(*focus)
	if err != nil {
		return err
	}
	without, err := regexp.Compile(*skip)
	if err != nil {
		return err
	}
	if *skip == "" {
		without = nil
	}
	dir, err := os.MkdirTemp("", "troupe-conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := worker{limit: *limit, kubeconfig: *kubeconfig}
	if w.kubectl, err = client.BuildKubectl(dir); err != nil {
		return err
	}
	if w.program, err = cluster.Program(pins, "e2e.test"); err != nil {
		return err
	}
	var started processes
	defer started.stop()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		started.stop()
		os.Exit(1)
	}()
	switch {
	case w.kubeconfig != "":
	case *apiserver != "":
		w.kubeconfig, err = startReference(&started, dir, w.kubectl, *apiserver, *etcd, *nodes)
	default:
		w.kubeconfig, err = startCluster(&started, dir, *nodes)
	}
	if err != nil {
		return err
	}
	s, err := newSuite(w.program, "inapplicable.txt", expression, without)
	if err != nil {
		return err
	}
	r := newReport(s, *failures)
	if err := runAll(s, w, *workers, r.tell); err != nil {
		return err
	}
	return r.print(os.Stdout)
}

// startCluster starts troupe cluster with the programs of Kubernetes, and returns the client configuration.
func startCluster(processes *processes, dir string, nodes int) (kubeconfig string, err error) {
	troupe, err := client.BuildTroupe(dir)
	if err != nil {
		return "", err
	}
	settings := filepath.Join(dir, "settings.yaml")
	// The suite opens WebSockets as a page of http://localhost would, which no page may otherwise, and expects of nodes what kubeadm allows them.
	text := "serving:\n  advertiseAddress: " + outerAddress() + "\n  corsAllowedOrigins: ['^http://localhost$']\n" +
		"authorization:\n  modes: [Node, RBAC]\nadmission:\n  enable: [NodeRestriction]\n"
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return "", err
	}
	args := []string{"cluster", "--dir", filepath.Join(dir, "cluster"), "--secure-port=0", "--config", settings, fmt.Sprint("--nodes=", nodes)}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		path, err := cluster.Program(pins, name)
		if err != nil {
			return "", err
		}
		args = append(args, "--"+name+"="+path)
	}
	c, err := processes.start(troupe, args...)
	if err != nil {
		return "", err
	}
	if err := await(func() bool { return strings.Contains(c.String(), "export KUBECONFIG") }); err != nil {
		return "", fmt.Errorf("the cluster: %w\n%s", err, processes.logs())
	}
	return filepath.Join(dir, "cluster", "data", "admin.kubeconfig"), nil
}

// outerAddress is an address that Endpoints of the API may have, which those of loopback interfaces may not. Nobody connects to it.
func outerAddress() string {
	all, err := net.InterfaceAddrs()
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && err == nil && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String()
		}
	}
	return "192.0.2.1" // of a network for documentation
}

// runAll runs the tests that may run beside others, and then the others.
func runAll(s *suite, w worker, workers int, tell func(result)) error {
	var together, alone []string
	for _, name := range s.tests {
		if isSerial(name) {
			alone = append(alone, name)
		} else {
			together = append(together, name)
		}
	}
	batches := make(chan []string, len(together)/batchSize+1)
	for batch := range slices.Chunk(together, batchSize) {
		batches <- batch
	}
	close(batches)
	var running sync.WaitGroup
	faults := make([]error, workers)
	for i := range workers {
		running.Go(func() {
			for batch := range batches {
				faults[i] = errors.Join(faults[i], w.run(batch, tell))
			}
		})
	}
	running.Wait()
	return errors.Join(append(slices.Clone(faults), w.run(alone, tell))...)
}
