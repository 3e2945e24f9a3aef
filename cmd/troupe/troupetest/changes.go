package troupetest

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/difference"
	"github.com/troupe-api/troupe/cmd/troupe/internal/rewrites"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Change is one committed change of an object.
type Change struct {
	Verb string // create, update or delete
	// StatusOnly reports whether an update has changed only the status.
	StatusOnly                        bool
	APIVersion, Kind, Namespace, Name string
	ResourceVersion                   string
	// Manager is the field manager that made the change, or "" if it is unknown. A delete has none.
	Manager string
	// Object is the new state as decoded JSON, or the last state for a delete. Previous is nil for
	// a create. Integers are int64.
	Object, Previous map[string]any

	write rewrites.Write
}

func newChange(c actors.Change) (Change, error) {
	w, err := rewrites.NewWrite(c)
	k := c.Object.Key
	return Change{
		Verb: c.Verb, StatusOnly: c.Verb == "update" && w.StatusOnly(), APIVersion: c.Kind.APIVersion(), Kind: c.Kind.Kind, Namespace: k.Namespace, Name: k.Name,
		ResourceVersion: strconv.FormatUint(c.Version, 10), Manager: w.Manager, Object: plain(w.Object).(map[string]any), Previous: plain(w.Previous).(map[string]any), write: w,
	}, err
}

// plain converts trees to plain maps, which other libraries accept.
func plain(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		m := map[string]any(maps.Clone(v))
		for name, value := range m {
			m[name] = plain(value)
		}
		return m
	case []any:
		all := slices.Clone(v)
		for i, item := range all {
			all[i] = plain(item)
		}
		return all
	}
	return v
}

// Diff returns the unified YAML diff from the previous state. It masks the values of Secrets, and
// omits managedFields, resourceVersion and generation.
func (c Change) Diff() string {
	now := c.write.Object
	if c.Verb == "delete" {
		now = nil
	}
	return difference.Unified(c.write.Previous, now, "before", "after")
}

// String returns a line such as "update ConfigMap shop/settings by kubectl (resourceVersion 71)".
func (c Change) String() string {
	return fmt.Sprintf("%s %s %s by %s (resourceVersion %s)", c.Verb, c.Kind, path.Join(c.Namespace, c.Name), rewrites.ManagerName(c.Manager), c.ResourceVersion)
}

// A Filter selects changes.
type Filter func(Change) bool

// OfKinds selects changes of objects of these kinds.
func OfKinds(kinds ...string) Filter {
	return func(c Change) bool { return slices.Contains(kinds, c.Kind) }
}

// InNamespaces selects changes in these namespaces.
func InNamespaces(names ...string) Filter {
	return func(c Change) bool { return slices.Contains(names, c.Namespace) }
}

// ByManagers selects changes made by these field managers.
func ByManagers(names ...string) Filter {
	return func(c Change) bool { return slices.Contains(names, c.Manager) }
}

// Not selects the changes that f does not select, such as Not(OfKinds("Lease", "Event")).
func Not(f Filter) Filter { return func(c Change) bool { return !f(c) } }

// Changes yields the changes that all filters select. It is for use by one goroutine.
type Changes struct {
	t       testing.TB
	source  *actors.Subscription
	filters []Filter
	ready   []Change
}

// Changes records all changes that are committed after the call, including those of the server's
// own controllers and after Restart. They are complete, without duplicates, and in resourceVersion
// order.
func (s *Server) Changes(t testing.TB, filters ...Filter) *Changes {
	c := &Changes{t, s.recorder.Subscribe(), filters, nil}
	t.Cleanup(c.source.Close)
	return c
}

// Next blocks until the next change. It fails the test if ctx ends first.
func (c *Changes) Next(ctx context.Context) Change {
	c.t.Helper()
	next, err := c.next(ctx)
	if err != nil {
		c.t.Fatalf("troupetest: waiting for a change: %v", err)
	}
	return next
}

func (c *Changes) next(ctx context.Context) (next Change, err error) {
	for len(c.ready) == 0 {
		select {
		case <-c.source.Arrived:
			if err := c.advance(ctx); err != nil {
				return next, err
			}
		case <-ctx.Done():
			return next, ctx.Err()
		}
	}
	next, c.ready = c.ready[0], c.ready[1:]
	return next, nil
}

// Committed returns the committed changes that Next has not returned. They include every write
// whose response preceded the call.
func (c *Changes) Committed() []Change {
	c.t.Helper()
	if err := c.advance(context.Background()); err != nil {
		c.t.Fatalf("troupetest: reading the changes: %v", err)
	}
	all := c.ready
	c.ready = nil
	return all
}

// advance adds the selected changes up to the newest commit to the changes that can be returned.
func (c *Changes) advance(ctx context.Context) error {
	committed, err := c.source.Committed(ctx)
	for _, raw := range committed {
		one, err := newChange(raw)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(c.filters, func(f Filter) bool { return !f(one) }) {
			c.ready = append(c.ready, one)
		}
	}
	return err
}

// ExpectNoWrites runs f, and reports each selected change that was committed meanwhile. It does not
// wait for the controllers under test. f must return only when they have nothing left to do, for
// example when their work queues are empty or have processed a new object.
func (s *Server) ExpectNoWrites(t testing.TB, f func(), filters ...Filter) {
	t.Helper()
	c := s.Changes(t, filters...)
	f()
	for _, one := range c.Committed() {
		t.Errorf("unexpected write: %s\n%s", one, one.Diff())
	}
}

// ExpectSettled runs f. It fails the test if one manager updates an object more than maxUpdates
// times meanwhile. It also fails if a field is set back to its previous value more than twice, as
// when two managers disagree. Only the sequence of the selected changes counts, not their time.
//
// On failure, ctx ends immediately, so that f need not wait for a state that is never reached. f
// should return when the controllers have nothing left to do.
func (s *Server) ExpectSettled(t testing.TB, maxUpdates int, f func(ctx context.Context), filters ...Filter) {
	t.Helper()
	c := s.Changes(t, filters...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	finder := rewrites.Finder{MaxUpdates: maxUpdates}
	var watching sync.WaitGroup
	watching.Go(func() {
		for next, err := c.next(ctx); err == nil; next, err = c.next(ctx) {
			if finder.Add(next.write) {
				cancel()
			}
		}
	})
	f(ctx)
	cancel()
	watching.Wait()
	for _, one := range c.Committed() {
		finder.Add(one.write)
	}
	for _, o := range finder.Find() {
		t.Errorf("not settled: %s", o.Report())
	}
}
