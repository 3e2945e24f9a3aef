package scenario

import (
	"context"
	"fmt"
	"math"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// The sizes that grow, equally far apart on a logarithmic axis. The largest still fit a usual machine.
var (
	objectSizes  = []int{1_000, 10_000, 100_000, 1_000_000}
	watcherSizes = []int{20, 200, 2_000}
	bindingSizes = []int{500, 5_000, 50_000}
	podSizes     = []int{3_000, 30_000, 300_000}
)

// growth measures the curves of one target. Sizes only grow within a curve, so objects are added and never
// removed in between.
type growth struct {
	session *Session
	record  RecordPoint
}

// RecordPoint takes a point of a series of a curve, measured on the target with a label. Package report
// implements it; scenario does not know reports.
type RecordPoint func(curve measure.Curve, series, label string, size int, sample *measure.Sample)

// MeasureGrowth measures all curves of the target of a session. What should not depend on a size gives a
// level line; where it rises, something is looked at that need not be.
func MeasureGrowth(ctx context.Context, s *Session, logf func(format string, args ...any), record RecordPoint) error {
	g := &growth{session: s, record: record}
	for _, dimension := range []struct {
		name    string
		measure func(context.Context) error
	}{
		{"watchers", g.watchers}, {"bindings", g.bindings}, {"selectors", g.selectors}, {"objects", g.objects},
	} {
		logf("growth with %s …", dimension.name)
		if err := dimension.measure(ctx); err != nil {
			return fmt.Errorf("growth with %s: %w", dimension.name, err)
		}
	}
	return nil
}

// scaled are the sizes under --scale; other ones are noted.
func (g *growth) scaled(of string, sizes []int) []int {
	var all []int
	for _, size := range sizes {
		all = append(all, g.session.scaledSize("growth: "+of, size))
	}
	return all
}

// add hands a measurement to the report. Without a process id there is no CPU time, and growth has nothing
// to show.
func (g *growth) add(curve measure.Curve, series string, size int, sample *measure.Sample) {
	if math.IsNaN(sample.CPUPerOperation()) {
		g.session.Note("growth: the CPU time of %s at %s is not known (no process id) or too little to tell", curve.Name, measure.Plural(size, curve.Of))
	}
	g.record(curve, series, g.session.Target.Label, size, sample)
}

// objects: reads and writes of a collection that becomes larger. A create is undone at once, so the size
// stays what the point says.
func (g *growth) objects(ctx context.Context) error {
	f, err := g.session.prepare(ctx, 0)
	if err != nil {
		return err
	}
	defer f.remove()
	for _, size := range g.scaled("objects", objectSizes) {
		// What the smaller size has left is kept, so that only the difference has to be created.
		there := f.total
		if err := f.fill(ctx, size-there, func(c *server.Conn, n int) (int, error) { return f.create(c, n+there) }); err != nil {
			return err
		}
		f.total = max(size, there)
		for _, cost := range []struct {
			measure.Curve
			step measure.Step
		}{
			{measure.Curve{Name: "get", Title: "Get of one object", Of: "object"}, f.get},
			{measure.Curve{Name: "create", Title: "Create of one object and its deletion", Of: "object"}, f.createAndDelete},
			{measure.Curve{Name: "list", Title: fmt.Sprintf("List of one chunk of %d", chunk), Of: "object"}, f.chunk(chunk)},
		} {
			sample, err := g.session.load().Drive(ctx, g.session.Target, cost.step)
			if err != nil {
				return err
			}
			g.add(cost.Curve, "", f.total, sample)
		}
	}
	return nil
}

// watchers: events that reach more and more of them. The cost is that of one event at one watcher, so it
// should fall or stay level. As many as descriptors allow are opened, and fewer are noted.
func (g *growth) watchers(ctx context.Context) error {
	s := g.session
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return err
	}
	defer f.remove()
	for _, size := range g.scaled("watchers", watcherSizes) {
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
			g.add(measure.Curve{Name: "watch", Title: "One event to one watcher", Of: "watcher"}, way.series, size, sample)
		}
	}
	return nil
}

// bindings: the get of a plain user who is allowed it by one of more and more RoleBindings. Where the cost
// rises with the bindings, authorization looks at each of them.
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
	if err := r.bindReader("zz-allowed", certificateUser, server.StaticUser); err != nil {
		return err
	}
	there := 1
	for _, size := range g.scaled("RoleBindings", bindingSizes) {
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
			g.add(measure.Curve{Name: "rbac", Title: "Get by a user whom one RoleBinding allows it", Of: "RoleBinding"}, c.name, there, sample)
		}
	}
	return nil
}

// selectors: lists that select nothing of more and more Pods. Few clients suffice, as each operation takes
// the server long.
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
	for _, size := range g.scaled("Pods", podSizes) {
		if err := f.fill(ctx, size-there, func(c *server.Conn, n int) (int, error) { return f.createPod(c, n+there) }); err != nil {
			return err
		}
		there = max(there, size)
		for _, selection := range selections[:2] {
			sample, err := load.Drive(ctx, s.Target, f.listByQuery(selection.query))
			if err != nil {
				return err
			}
			g.add(measure.Curve{Name: "selector", Title: "List by a field that selects nothing", Of: "Pod"}, selection.name[len("selector, "):], there, sample)
		}
	}
	return nil
}
