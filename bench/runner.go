package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Bench is one run: the measured servers and the report. It is for single use by one goroutine.
type Bench struct {
	Options Options
	Report  *Report
	Command []string  // the arguments, for the report
	Log     io.Writer // progress

	sides       []*side // in the order of the rows
	floor       *Target // nil with --floor=false
	descriptors int     // files that a process may open
	closers     []func()
}

// side is one of the compared servers. It is either already running or started for each round.
type side struct {
	label        string
	kubeconfig   string // kubeconfig and processes of a running server
	processes    []int
	kube         string // path of the kube-apiserver to start
	binary, etcd string // daemon to start, also by workloads that start servers
	target       *Target
	results      []Result // of the current workload
}

func sidesOf(o *Options) []*side {
	sides := []*side{{kubeconfig: o.Kubeconfig, processes: o.PIDs, binary: o.Start, etcd: o.StartEtcd}}
	second := &side{label: nameAgainst, kubeconfig: o.Against, processes: o.AgainstPIDs, binary: o.AgainstStart}
	if o.AgainstKube != "" {
		second.kube, second.etcd = o.AgainstKube, o.AgainstEtcd
	}
	if second.kubeconfig != "" || second.kube != "" || second.binary != "" {
		sides = append(sides, second)
	}
	return sides
}

// run measures all workloads in rounds and prints the table to out. It returns an error if it
// cannot start, a workload cannot run, or the report cannot be written. Failed operations only
// appear in the report. After an interrupt, the report contains the rows measured so far.
func (b *Bench) run(ctx context.Context, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, b.Options.Timeout)
	defer cancel()
	began := newOrigin(b.Command)
	// Servers started later inherit the limit.
	if b.descriptors, err = raiseDescriptors(); err != nil {
		return err
	}
	b.sides = sidesOf(&b.Options)
	var rounds []*Report
	var failed error
	for n := range b.Options.Runs {
		if b.Options.Runs > 1 {
			b.logf("run %d of %d", n+1, b.Options.Runs)
		}
		b.Report = &Report{Options: &b.Options, Origin: began, Rows: []*Row{}, Notes: []string{}}
		if err := b.open(); err != nil {
			b.close()
			return err
		}
		failed = errors.Join(failed, b.round(ctx, n))
		b.close()
		rounds = append(rounds, b.Report)
		if ctx.Err() != nil {
			break
		}
	}
	// Print the table first, so that the figures are not lost if a file cannot be written.
	b.Report = medianOf(rounds)
	if err := b.Report.writeTable(out); err != nil {
		return err
	}
	if b.Options.JSON != "" {
		failed = errors.Join(failed, b.Report.writeJSON(b.Options.JSON))
	}
	return failed
}

// round runs each workload on every side. Each round starts new servers, because larger heaps and
// stores from an earlier round would distort the figures. Every second round reverses the order
// of the sides, to balance the effects of one measurement on the next. The report notes failed
// workloads.
func (b *Bench) round(ctx context.Context, n int) (failed error) {
	order := slices.Clone(b.sides)
	if n%2 == 1 {
		slices.Reverse(order)
	}
	for _, w := range workloads() {
		if !slices.Contains(b.Options.Workloads, w.Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("before %s: %w", w.Name, err)
		}
		b.logf("%s …", w.Name)
		if err := b.workload(ctx, w, order); err != nil {
			err = fmt.Errorf("%s: %w", w.Name, err)
			b.Report.note("%v", err)
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// workload runs one workload on all sides. It then repeats the first side's requests on the floor,
// with responses of the same size.
func (b *Bench) workload(ctx context.Context, w Workload, order []*side) (failed error) {
	for _, s := range order {
		s.results = nil
		if w.Own && s.binary == "" {
			b.Report.note("%s was not measured on the second server, which has no binary (--against-start)", w.Name)
			continue
		}
		b.calm()
		var err error
		if s.results, err = w.Run(ctx, b.session(s)); err != nil {
			failed = errors.Join(failed, fmt.Errorf("on %s: %w", s.target.Address, err))
			s.results = nil
		}
	}
	var rows []*Row
	for _, s := range b.sides {
		for _, result := range s.results {
			rows = append(rows, newRow(s.label, result))
		}
	}
	first := b.sides[0].results
	for _, result := range first {
		if result.TimeSeries != nil {
			b.Report.TimeSeries = result.TimeSeries
		}
		if result.Floor == nil || b.floor == nil || result.Sample.Operations == 0 {
			continue
		}
		sample, err := result.Floor(ctx, b.floor)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("on the floor: %w", err))
			continue
		}
		rows = append(rows, newRow(nameFloor, Result{Name: result.Name, Sample: sample}))
	}
	// Group the rows of all targets by name.
	index := func(row *Row) int { return slices.IndexFunc(first, func(r Result) bool { return r.Name == row.Name }) }
	slices.SortStableFunc(rows, func(x, y *Row) int { return index(x) - index(y) })
	b.Report.add(rows...)
	return failed
}

// calm blocks until the servers are idle, so that background work of one workload is not attributed
// to the next.
func (b *Bench) calm() {
	const limit, idle = 10 * time.Second, 2 * tick
	pause := min(b.Options.Settle, 10*tick)
	used := func() (sum time.Duration) {
		for _, s := range b.sides {
			processes, _ := readUsage(s.target.Processes) // a server that has ended is idle
			sum += processes.CPU
		}
		return sum
	}
	for begin, before := time.Now(), used(); time.Since(begin) < limit; {
		time.Sleep(pause)
		now := used()
		if now-before <= idle {
			return
		}
		before = now
	}
}

func (b *Bench) session(s *side) *Session {
	note := b.Report.note
	if s.label != "" {
		note = func(format string, args ...any) {
			b.Report.note("%s: "+format, append([]any{s.label}, args...)...)
		}
	}
	return &Session{Options: b.Options, Target: s.target, Binary: s.binary, Etcd: s.etcd, Descriptors: b.descriptors, Note: note}
}

func (b *Bench) open() (err error) {
	for _, s := range b.sides {
		if err := b.openSide(s); err != nil {
			return err
		}
		s.target.Label = s.label
	}
	if b.Options.Floor {
		var stop func()
		if b.floor, stop, err = startFloor(); err != nil {
			return err
		}
		b.closers = append(b.closers, stop)
	}
	return nil
}

func (b *Bench) openSide(s *side) (err error) {
	if s.kubeconfig != "" {
		if s.target, err = LoadTarget(s.kubeconfig); err == nil {
			s.target.Processes = s.processes
		}
		return err
	}
	dir, remove, err := dataDir(b.Options.TempDir)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, remove)
	var server *Server
	if s.kube != "" {
		server, err = startKubernetes(s.kube, s.etcd, dir)
	} else {
		server, err = startDaemon(&b.Options, s.binary, s.etcd, dir)
	}
	if err != nil {
		return err
	}
	s.target = server.Target
	b.closers = append(b.closers, func() {
		if err := server.stop(); err != nil {
			b.logf("stop: %v", err)
		}
	})
	if b.Options.Users > 0 {
		return s.target.use(b.Options.Users)
	}
	return nil
}

func (b *Bench) close() {
	for _, c := range slices.Backward(b.closers) {
		c()
	}
	b.closers, b.floor = nil, nil
}

func (b *Bench) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(b.Log, format+"\n", args...)
}
