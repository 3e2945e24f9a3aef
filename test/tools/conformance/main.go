package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/cluster"
	"github.com/troupe-api/troupe/test/controlplane"
	"github.com/troupe-api/troupe/test/realnode"
)

func main() {
	if slices.Contains(os.Args, "--real") {
		realnode.Main("conformance", "../..", run, "kubernetes/e2e.test", "sample-apiserver/sample-apiserver")
		return
	}
	controlplane.Main("conformance", func(ctx context.Context, dir string) error { return run(ctx, dir, realnode.Programs{}) })
}

// run runs the tests and prints the results. It returns an error if a test fails. built contains
// the programs for real nodes.
func run(ctx context.Context, dir string, built realnode.Programs) (err error) {
	real := flag.Bool("real", false, "Run on two real nodes; needs root.")
	builtIn := flag.Bool("built-in", false, "With --real, use the server's own controllers and scheduler.")
	focus := flag.String("focus", `\[Conformance\]`, "Expression of the names of the tests to run.")
	skip := flag.String("skip", "", `Expression of the names of tests to leave out, as \[Conformance\] for those beyond it; "" leaves out none.`)
	kubeconfig := flag.String("kubeconfig", "", "Client configuration of a cluster that runs already.")
	var reference controlplane.Reference
	reference.Flags()
	workers := flag.Int("workers", 3, "How many tests run at the same time.")
	nodes := flag.Int("nodes", 5, "How many simulated nodes there are.")
	limit := flag.Duration("limit", 12*time.Minute, "Longest time of a test.")
	results := flag.String("results", "", "File that results are kept in: a test that has passed there is not run again, so a run may be stopped and gone on with.")
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
	w := worker{limit: *limit, kubeconfig: *kubeconfig}
	inapplicable := "inapplicable.txt"
	if *real {
		w.kubectl, w.program, inapplicable = built.Path("kubectl"), built.Path("e2e.test"), os.DevNull
	} else if err := w.build(dir); err != nil {
		return err
	}
	s, err := newSuite(w.program, inapplicable, expression, without)
	if err != nil {
		return err
	}
	r, err := newReport(s, resultFile{*results}, *failures)
	if err != nil {
		return err
	}
	if len(s.tests) == 0 {
		return r.print(os.Stdout)
	}
	var started controlplane.Processes
	defer started.Stop()
	switch {
	case *real:
		c, err := realnode.Start(ctx, dir, built, realnode.Options{Nodes: 2, BuiltIn: *builtIn, Reference: reference})
		if err != nil {
			return err
		}
		defer c.Stop()
		w.kubeconfig = c.Kubeconfig
	case w.kubeconfig != "":
	case reference.APIServer != "":
		w.kubeconfig, err = startReference(ctx, &started, dir, w.kubectl, reference, *nodes)
	default:
		w.kubeconfig, err = startCluster(ctx, &started, dir, *nodes)
	}
	if err != nil {
		return err
	}
	err = runAll(ctx, s, w, *workers, r.record)
	return errors.Join(r.print(os.Stdout), err)
}

func (w *worker) build(dir string) (err error) {
	if w.kubectl, err = client.BuildKubectl(dir); err != nil {
		return err
	}
	w.program, err = cluster.Program(pins, "e2e.test")
	return err
}

func runAll(ctx context.Context, s *suite, w worker, workers int, record func(result)) error {
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
				if ctx.Err() != nil {
					return
				}
				faults[i] = errors.Join(faults[i], w.run(ctx, batch, record))
			}
		})
	}
	running.Wait()
	return errors.Join(append(slices.Clone(faults), w.run(ctx, alone, record))...)
}
