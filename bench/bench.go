package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/troupe-api/troupe/bench/internal/report"
	"github.com/troupe-api/troupe/bench/internal/scenario"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// Bench is one run: the servers that it measures and the report that it fills. It is used once, by one
// goroutine; the loads of a workload have goroutines of their own.
type Bench struct {
	Options scenario.Options
	Report  report.Report
	Command []string  // the arguments, for the report
	Log     io.Writer // progress, for people

	targets     []*server.Target // the server, then the one that it is compared with, if any
	identity    *server.Identity // what both accept; nil if that is not known
	descriptors int              // files that a process may open
	floor       *server.Target   // nil without the floor
	closers     []func()         // what to stop and remove, last first
}

// Run measures all workloads, as often as it is asked to, and prints the table to out. It fails if it could
// not get started, a workload could not be run, or the report cannot be written; single failed operations
// are in the report. Each run opens its own servers, so that one does not inherit a warm heap or a grown
// store from another. A run that was cut short still counts with what it has measured.
func (b *Bench) Run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, b.Options.Timeout)
	defer cancel()
	began := report.NewOrigin(b.Command)
	var (
		runs   []*report.Report
		failed error
	)
	for n := range b.Options.Runs {
		if b.Options.Runs > 1 {
			b.logf("run %d of %d", n+1, b.Options.Runs)
		}
		b.Report = report.Report{Options: &b.Options, Origin: began, Rows: []*report.Row{}, Notes: []string{}}
		measured, err := b.runOnce(ctx)
		if !measured {
			return err
		}
		failed = errors.Join(failed, err)
		one := b.Report
		runs = append(runs, &one)
		if ctx.Err() != nil {
			break
		}
	}
	b.Report = *report.MedianOf(runs)
	if err := b.writeReports(out); err != nil {
		return err
	}
	return failed
}

// runOnce is one run. It reports whether there is anything to report.
func (b *Bench) runOnce(ctx context.Context) (bool, error) {
	defer b.close()
	if err := b.open(ctx); err != nil {
		return false, err
	}
	if b.Options.Growth != "" {
		return true, b.measureGrowth(ctx)
	}
	return true, b.measure(ctx)
}

// writeReports prints the report, and writes the file that was asked for. The table comes first: a file
// that cannot be written must not cost the figures of a long run.
func (b *Bench) writeReports(out io.Writer) error {
	if err := b.Report.WriteTable(out); err != nil || b.Options.JSON == "" {
		return err
	}
	return b.Report.WriteJSON(b.Options.JSON)
}

// compareSaved prints two saved reports side by side.
func compareSaved(oldPath, newPath string, out io.Writer) error {
	before, err := report.ReadReport(oldPath)
	if err != nil {
		return err
	}
	after, err := report.ReadReport(newPath)
	if err != nil {
		return err
	}
	return report.Compare(out, before, after)
}

// open finds or starts all servers. The limit of descriptors is raised before daemons are started, as these
// inherit it. The floor has no state that could grow.
func (b *Bench) open(ctx context.Context) (err error) {
	o := &b.Options
	if b.descriptors, err = server.RaiseDescriptors(); err != nil {
		return err
	}
	if err := b.openIdentity(); err != nil {
		return err
	}
	if err := b.openServer("", o.Kubeconfig, o.Start, o.StartEtcd, o.PIDs); err != nil {
		return err
	}
	switch {
	case o.AgainstKube != "":
		if err := b.openKubernetes(ctx); err != nil {
			return err
		}
	case o.Compares():
		if err := b.openServer(report.NameAgainst, o.Against, o.AgainstStart, "", o.AgainstPIDs); err != nil {
			return err
		}
	}
	if o.Floor && o.Growth == "" {
		floor, err := server.StartFloor(o.Request)
		if err != nil {
			return err
		}
		b.closers = append(b.closers, floor.Stop)
		b.floor = floor.Target
	}
	return nil
}

// openIdentity takes the credentials of the flags or, for daemons that are started here, makes some. A
// server that runs already can only be given credentials that it accepts; without any, workloads of plain
// users are left out.
func (b *Bench) openIdentity() (err error) {
	o := &b.Options
	if o.UserCA != "" || o.UserToken != "" || o.Start == "" {
		b.identity, err = server.LoadIdentity(o.UserCA, o.UserCAKey, o.UserToken)
		return err
	}
	dir, err := os.MkdirTemp(o.TempDir, "bench-users-")
	if err != nil {
		return err
	}
	b.closers = append(b.closers, func() { _ = os.RemoveAll(dir) })
	b.identity, err = server.NewIdentity(dir)
	return err
}

// openServer takes the server of a kubeconfig, or else starts one. The directory is removed after the
// daemon has stopped, since closers run last to first.
func (b *Bench) openServer(label, kubeconfig, binary, etcd string, processes []int) error {
	o := &b.Options
	if kubeconfig != "" {
		target, err := server.LoadTarget(kubeconfig)
		if err != nil {
			return err
		}
		target.Label, target.Timeout, target.Processes = label, o.Request, processes
		b.targets = append(b.targets, target)
		return nil
	}
	dir, remove, err := server.DataDir(o.TempDir)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, remove)
	args := slices.Clone(o.StartArgs)
	if b.identity != nil && b.identity.Dir != "" {
		args = append(b.identity.Args(), args...)
	}
	d, err := server.DaemonSpec{Binary: binary, Dir: dir, Etcd: etcd, Naming: o.Naming, Args: args, Audit: o.Audit, Timeout: o.Request}.Start()
	if err != nil {
		return err
	}
	b.closers = append(b.closers, func() {
		if err := d.Stop(); err != nil {
			b.logf("stop: %v", err)
		}
	})
	d.Target.Label = label
	b.targets = append(b.targets, d.Target)
	return nil
}

// openKubernetes starts a kube-apiserver with its etcd as the second server.
func (b *Bench) openKubernetes(ctx context.Context) error {
	o := &b.Options
	dir, remove, err := server.DataDir(o.TempDir)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, remove)
	k, err := server.KubernetesSpec{
		APIServer: o.AgainstKube, Etcd: o.AgainstEtcd, Dir: dir, Identity: b.identity, Audit: o.Audit, Timeout: o.Request,
	}.Start(ctx)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, k.Stop)
	k.Target.Label = report.NameAgainst
	b.targets = append(b.targets, k.Target)
	return nil
}

// close stops what was started and removes what was made.
func (b *Bench) close() {
	b.targets, b.floor = nil, nil
	for len(b.closers) > 0 {
		last := len(b.closers) - 1
		b.closers[last]()
		b.closers = b.closers[:last]
	}
}

// measure runs the workloads in order. One that cannot be run is noted and the next one follows; the error
// is the last such. All workloads share the servers and run one after the other, so that each has the
// machine to itself.
func (b *Bench) measure(ctx context.Context) error {
	var failed error
	wanted := make(map[string]bool)
	for _, name := range b.Options.Workloads {
		wanted[name] = true
	}
	for _, w := range scenario.Workloads() {
		if !wanted[w.Name] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("before %s: %w", w.Name, err)
		}
		b.logf("%s …", w.Name)
		if err := b.workload(ctx, w); err != nil {
			failed = fmt.Errorf("%s: %w", w.Name, err)
			b.Report.Note("%v", failed)
		}
	}
	return failed
}

// workload runs one workload on every target, one after the other, then on the floor. The floor repeats
// what the first server was asked, with the sizes of its answers, so the ratio compares like with like.
func (b *Bench) workload(ctx context.Context, w scenario.Workload) error {
	var first []scenario.Result
	var rows []*report.Row
	for i, target := range b.targets {
		s := b.session(target)
		if i > 0 && w.Own {
			s.StartEtcd = "" // the second server is the one on disk
			if s.Binary = b.Options.AgainstStart; s.Binary == "" {
				b.Report.Note("%s was not measured on the second server, of which there is no binary (--against-start)", w.Name)
				continue
			}
		}
		results, err := w.Run(ctx, s)
		if err != nil {
			b.Report.Add(rows...)
			return fmt.Errorf("on %s: %w", target.Address, err)
		}
		if i == 0 {
			first = results
		}
		for _, result := range results {
			if i == 0 && result.TimeSeries != nil {
				b.Report.TimeSeries = result.TimeSeries
			}
			rows = append(rows, report.NewRow(result.Name, target.Label, result.Sample, result.Figure))
		}
	}
	for _, result := range first {
		if result.Floor == nil || b.floor == nil || result.Sample.Operations == 0 {
			continue
		}
		sample, err := result.Floor(ctx, b.floor)
		if err != nil {
			b.Report.Add(rows...)
			return fmt.Errorf("on the floor: %w", err)
		}
		rows = append(rows, report.NewRow(result.Name, server.NameFloor, sample, nil))
	}
	slices.SortStableFunc(rows, func(x, y *report.Row) int { return insertIndex(first, x.Name) - insertIndex(first, y.Name) })
	b.Report.Add(rows...)
	return nil
}

// session is for one workload on one target.
func (b *Bench) session(target *server.Target) *scenario.Session {
	s := &scenario.Session{Options: b.Options, Target: target, Identity: b.identity, Descriptors: b.descriptors, Note: b.Report.Note}
	if target.Label != "" {
		s.Note = func(format string, args ...any) {
			b.Report.Note("%s: "+format, append([]any{target.Label}, args...)...)
		}
	}
	return s
}

// insertIndex is where a result of that name stands among the first target's, so that the rows of all
// targets stand together.
func insertIndex(results []scenario.Result, name string) int {
	return slices.IndexFunc(results, func(r scenario.Result) bool { return r.Name == name })
}

func (b *Bench) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(b.Log, format+"\n", args...)
}
