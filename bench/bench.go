package main

import (
	"context"
	"fmt"
	"io"
	"slices"
)

// nameAgainst labels the rows of the second server.
const nameAgainst = "against"

// Bench is one run: the servers that it measures and the report that it fills.
type Bench struct {
	Options Options
	Report  Report
	Log     io.Writer // progress, for people

	targets []*Target // the server, then the one that it is compared with, if any
	floor   *Target   // nil without the floor
	closers []func()  // what to stop and remove, last first
}

// Run measures all workloads and prints the table to out. It fails if it could not get started, a
// workload could not be run, or the report cannot be written; single failed operations are in the report.
func (b *Bench) Run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, b.Options.Timeout)
	defer cancel()
	b.Report.Options, b.Report.Rows, b.Report.Notes = &b.Options, []*Row{}, []string{}
	defer b.close()
	if err := b.open(); err != nil {
		return err
	}
	failed := b.measure(ctx)
	if err := b.Report.writeTable(out); err != nil {
		return err
	}
	if b.Options.JSON != "" {
		if err := b.Report.writeJSON(b.Options.JSON); err != nil {
			return err
		}
	}
	return failed
}

// open finds or starts all servers.
func (b *Bench) open() error {
	if err := b.openServer(); err != nil {
		return err
	}
	if b.Options.Against != "" {
		target, err := LoadTarget(b.Options.Against)
		if err != nil {
			return err
		}
		target.Label, target.Timeout, target.Processes = nameAgainst, b.Options.Request, b.Options.AgainstPIDs
		b.targets = append(b.targets, target)
	}
	if b.Options.Floor {
		floor, err := startFloor(b.Options.Request)
		if err != nil {
			return err
		}
		b.closers = append(b.closers, floor.Stop)
		b.floor = floor.Target
	}
	return nil
}

func (b *Bench) openServer() error {
	o := &b.Options
	if o.Kubeconfig != "" {
		target, err := LoadTarget(o.Kubeconfig)
		if err != nil {
			return err
		}
		target.Timeout, target.Processes = o.Request, o.PIDs
		b.targets = append(b.targets, target)
		return nil
	}
	dir, remove, err := dataDir(o.TempDir)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, remove)
	d, err := daemonSpec{binary: o.Start, dir: dir, naming: o.Naming, args: o.StartArgs, timeout: o.Request}.start()
	if err != nil {
		return err
	}
	b.closers = append(b.closers, func() {
		if err := d.Stop(); err != nil {
			b.log("stop: %v", err)
		}
	})
	b.targets = append(b.targets, d.Target)
	return nil
}

// close stops what was started and removes what was made.
func (b *Bench) close() {
	for len(b.closers) > 0 {
		last := len(b.closers) - 1
		b.closers[last]()
		b.closers = b.closers[:last]
	}
}

// measure runs the workloads in order. One that cannot be run is noted and the next one follows;
// the error is the last such.
func (b *Bench) measure(ctx context.Context) error {
	var failed error
	wanted := make(map[string]bool)
	for _, name := range b.Options.Workloads {
		wanted[name] = true
	}
	for _, w := range workloads() {
		if !wanted[w.Name] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("before %s: %w", w.Name, err)
		}
		b.log("%s …", w.Name)
		if err := b.workload(ctx, w); err != nil {
			failed = fmt.Errorf("%s: %w", w.Name, err)
			b.Report.note("%v", failed)
		}
	}
	return failed
}

// workload runs one workload on every target, one after the other, then on the floor.
func (b *Bench) workload(ctx context.Context, w Workload) error {
	var first []Result
	var rows []*Row
	for i, target := range b.targets {
		if i > 0 && w.Name == nameColdStart {
			continue // it starts servers of its own
		}
		s := &Session{Options: b.Options, Target: target, Note: b.Report.note}
		results, err := w.Run(ctx, s)
		if err != nil {
			b.Report.add(rows...)
			return fmt.Errorf("on %s: %w", target.Address, err)
		}
		if i == 0 {
			first = results
		}
		for _, result := range results {
			rows = append(rows, newRow(result.Name, target.Label, result.Sample, result.Figure))
		}
	}
	for _, result := range first {
		if result.Floor == nil || b.floor == nil || result.Sample.Operations == 0 {
			continue
		}
		sample, err := result.Floor(ctx, b.floor)
		if err != nil {
			b.Report.add(rows...)
			return fmt.Errorf("on the floor: %w", err)
		}
		rows = append(rows, newRow(result.Name, nameFloor, sample, nil))
	}
	slices.SortStableFunc(rows, func(x, y *Row) int { return place(first, x.Name) - place(first, y.Name) })
	b.Report.add(rows...)
	return nil
}

// place is where a result of that name stands among the first target's, so that the rows of all
// targets stand together.
func place(results []Result, name string) int {
	return slices.IndexFunc(results, func(r Result) bool { return r.Name == name })
}

func (b *Bench) log(format string, args ...any) {
	_, _ = fmt.Fprintf(b.Log, format+"\n", args...)
}
