package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// factors are how the size of what is there grows.
var factors = []int{1, 10, 100}

// The sizes that grow.
const (
	growthObjects  = 1_000
	growthWatchers = 20
	growthBindings = 500
	growthPods     = 3_000
)

// Curve is how one cost grows with the size of something.
type Curve struct {
	Name   string    `json:"name"`  // of its file, growth-<name>.svg
	Title  string    `json:"title"` // what costs
	Of     string    `json:"of"`    // what there is more and more of
	Series []*Series `json:"series"`
}

// Series is one line of a plot.
type Series struct {
	Name   string  `json:"name"` // empty if there is one line only
	Points []Point `json:"points"`
}

// Point is one measurement.
type Point struct {
	Size int     `json:"size"`
	CPU  float64 `json:"cpuMicrosecondsPerOperation"`
}

// growth measures the curves of one target.
type growth struct {
	session *Session
	report  *Report
}

// measureGrowth measures all curves on all targets and writes their plots.
func (b *Bench) measureGrowth(ctx context.Context) error {
	for _, target := range b.targets {
		g := &growth{session: b.session(target), report: &b.Report}
		for _, dimension := range []struct {
			name    string
			measure func(context.Context) error
		}{
			{"objects", g.objects}, {"watchers", g.watchers}, {"bindings", g.bindings}, {"selectors", g.selectors},
		} {
			b.log("growth with %s …", dimension.name)
			if err := dimension.measure(ctx); err != nil {
				return fmt.Errorf("growth with %s: %w", dimension.name, err)
			}
		}
	}
	if err := os.MkdirAll(b.Options.Growth, 0o755); err != nil {
		return err
	}
	var failed error
	for _, curve := range b.Report.Growth {
		path := filepath.Join(b.Options.Growth, "growth-"+curve.Name+".svg")
		failed = errors.Join(failed, os.WriteFile(path, curve.plot(), 0o644))
	}
	return failed
}

// sizes are base times the factors.
func (g *growth) sizes(of string, base int) []int {
	var all []int
	for _, factor := range factors {
		all = append(all, g.session.scaledSize("growth: "+of, base*factor))
	}
	return all
}

// record adds a point to a curve, and a row to the report. What cost too little to tell has a row
// but no point.
func (g *growth) record(curve Curve, series string, size int, sample *Sample) {
	label := g.session.Target.Label
	name := curve.Name
	if series != "" {
		name += ", " + series
	}
	g.report.add(newRow(fmt.Sprintf("growth: %s, %s", name, plural(size, curve.Of)), label, sample, nil))
	cpu := sample.CPUPerOperation()
	if math.IsNaN(cpu) {
		g.session.Note("growth: the CPU time of %s at %s is not known (no process id) or too little to tell", curve.Name, plural(size, curve.Of))
		return
	}
	if label != "" {
		series = label
		if name != curve.Name {
			series = name[len(curve.Name)+2:] + ", " + label
		}
	}
	line := g.report.curve(curve).series(series)
	line.Points = append(line.Points, Point{size, cpu})
}

// curve finds the curve of that name, or adds it.
func (r *Report) curve(like Curve) *Curve {
	for _, c := range r.Growth {
		if c.Name == like.Name {
			return c
		}
	}
	r.Growth = append(r.Growth, &like)
	return &like
}

func (c *Curve) series(name string) *Series {
	for _, s := range c.Series {
		if s.Name == name {
			return s
		}
	}
	s := &Series{Name: name}
	c.Series = append(c.Series, s)
	return s
}

// objects: reads and writes of a collection that becomes larger.
func (g *growth) objects(ctx context.Context) error {
	f, err := g.session.prepare(ctx, 0)
	if err != nil {
		return err
	}
	defer f.remove()
	for _, size := range g.sizes("objects", growthObjects) {
		there := f.total
		if err := f.fill(ctx, size-there, func(c *Conn, n int) (int, error) { return f.create(c, n+there) }); err != nil {
			return err
		}
		f.total = max(size, there)
		for _, cost := range []struct {
			Curve
			step Step
		}{
			{Curve{Name: "get", Title: "Get of one object", Of: "object"}, f.get},
			{Curve{Name: "create", Title: "Create of one object and its deletion", Of: "object"}, f.createAndDelete},
			{Curve{Name: "list", Title: fmt.Sprintf("List of one chunk of %d", chunk), Of: "object"}, f.chunk(chunk)},
		} {
			sample, err := g.session.load().Drive(ctx, g.session.Target, cost.step)
			if err != nil {
				return err
			}
			g.record(cost.Curve, "", f.total, sample)
		}
	}
	return nil
}

// watchers: events that reach more and more of them.
func (g *growth) watchers(ctx context.Context) error {
	s := g.session
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return err
	}
	defer f.remove()
	for _, size := range g.sizes("watchers", growthWatchers) {
		size = s.connections("growth: watchers", size)
		for _, way := range []struct {
			series string
			burst  int
		}{{"one at a time", 1}, {"in bursts", s.Burst}} {
			b := broadcast{target: s.Target, watchers: size, burst: way.burst, publish: f.put(f.total), load: s.load()}
			if b.watch, err = f.watchPath(); err != nil {
				return err
			}
			sample, err := b.run(ctx)
			if err != nil {
				return err
			}
			g.record(Curve{Name: "watch", Title: "One event to one watcher", Of: "watcher"}, way.series, size, sample)
		}
	}
	return nil
}

// bindings: the get of a plain user who is allowed it by one of more and more RoleBindings.
func (g *growth) bindings(ctx context.Context) error {
	s := g.session
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return err
	}
	defer f.remove()
	r, err := f.roles()
	if err != nil {
		return err
	}
	callers, err := r.callers()
	if err != nil {
		return err
	}
	if err := r.bindReader("zz-allowed", certificateUser, staticUser); err != nil {
		return err
	}
	there := 1
	for _, size := range g.sizes("RoleBindings", growthBindings) {
		if err := r.addOtherBindings(ctx, there, size); err != nil {
			return err
		}
		there = max(there, size)
		for _, c := range callers {
			if c.name == "static token" {
				continue // the cost of the token does not depend on the bindings, and one token is enough
			}
			sample, err := s.load().Drive(ctx, c.target, f.get)
			if err != nil {
				return err
			}
			g.record(Curve{Name: "rbac", Title: "Get by a user whom one RoleBinding allows it", Of: "RoleBinding"}, c.name, there, sample)
		}
	}
	return nil
}

// selectors: lists that select nothing of more and more Pods.
func (g *growth) selectors(ctx context.Context) error {
	s := g.session
	f, err := s.prepare(ctx, 0)
	if err != nil {
		return err
	}
	defer f.remove()
	f.otherCollections = append(f.otherCollections, f.pods())
	load := s.load()
	load.Concurrency = min(load.Concurrency, 4)
	there := 0
	for _, size := range g.sizes("Pods", growthPods) {
		if err := f.fill(ctx, size-there, func(c *Conn, n int) (int, error) { return f.createPod(c, n+there) }); err != nil {
			return err
		}
		there = max(there, size)
		for _, selection := range selections[:2] {
			sample, err := load.Drive(ctx, s.Target, f.listByQuery(selection.query))
			if err != nil {
				return err
			}
			g.record(Curve{Name: "selector", Title: "List by a field that selects nothing", Of: "Pod"}, selection.name[len("selector, "):], there, sample)
		}
	}
	return nil
}
