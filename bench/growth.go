package main

import (
	"context"
	"fmt"
)

// growth measures how costs grow with the size of the data. If a cost is constant, its rows are
// equal.
func growth(ctx context.Context, s *Session) ([]Result, error) {
	g := &growthRun{Session: s}
	for _, measure := range []func(context.Context) error{g.watchers, g.bindings, g.pods, g.objects} {
		if err := measure(ctx); err != nil {
			return g.results, err
		}
	}
	return g.results, nil
}

type growthRun struct {
	*Session
	results []Result
}

// grow prepares a namespace and calls measure for each scaled size. before is the previous size,
// or 0 for the first call.
func (g *growthRun) grow(ctx context.Context, of string, sizes []int, measure func(f *fixture, before, size int) error) error {
	f, err := g.prepare(ctx, hot(g.Session))
	if err != nil {
		return err
	}
	defer f.remove()
	before := 0
	for _, size := range sizes {
		size = max(before, g.scaledSize("growth: "+of, size))
		if err := measure(f, before, size); err != nil {
			return err
		}
		before = size
	}
	return nil
}

func (g *growthRun) add(ctx context.Context, target *Target, name string, size int, of string, step Step) error {
	sample, err := g.load().drive(ctx, target, step)
	return g.addSample(name, size, of, sample, err)
}

func (g *growthRun) addSample(name string, size int, of string, sample *Sample, err error) error {
	if err == nil {
		g.results = append(g.results, Result{Name: fmt.Sprintf(", %s, %d %s", name, size, of), Sample: sample})
	}
	return err
}

func (g *growthRun) objects(ctx context.Context) error {
	return g.grow(ctx, "objects", []int{1_000, 10_000, 100_000, 1_000_000}, func(f *fixture, _, size int) error {
		there := f.total
		if err := f.fill(ctx, size-there, step(func(n int) Request { return f.create(n + there) })); err != nil {
			return err
		}
		f.total = max(size, there)
		for _, cost := range []kindOfStep{
			{name: "get", step: step(f.get)},
			{name: "create and delete", step: f.createAndDelete},
			{name: "list of a chunk", step: step(f.firstChunk(chunk))},
		} {
			if err := g.add(ctx, f.Target, cost.name, f.total, "objects", cost.step); err != nil {
				return err
			}
		}
		return nil
	})
}

// watchers measures the cost of an event per watcher, for increasing numbers of watchers.
func (g *growthRun) watchers(ctx context.Context) error {
	return g.grow(ctx, "watchers", []int{20, 200, 2_000}, func(f *fixture, _, size int) error {
		size = g.connections("growth: watchers", size)
		single, err := f.broadcast(ctx, size, 1)
		if err := g.addSample("event", size, "watchers", single, err); err != nil {
			return err
		}
		bursts, err := f.broadcast(ctx, size, burstEvents)
		return g.addSample("event in a burst", size, "watchers", bursts, err)
	})
}

// bindings measures get requests by a service account that one of many RoleBindings authorizes.
func (g *growthRun) bindings(ctx context.Context) error {
	var r *roles
	var reader *Target
	return g.grow(ctx, "RoleBindings", []int{500, 5_000, 50_000}, func(f *fixture, before, size int) (err error) {
		if r == nil {
			if r, err = f.roles(); err != nil {
				return err
			}
			c := f.Target.Conn()
			defer c.Close()
			if reader, err = r.addReader(c, "zz-reader"); err != nil {
				return err
			}
		}
		if err := r.addOtherBindings(ctx, before, size); err != nil {
			return err
		}
		return g.add(ctx, reader, "get", size, "RoleBindings", step(f.get))
	})
}

// pods measures lists whose selectors match none of many Pods. It uses few clients, because each
// list takes a long time.
func (g *growthRun) pods(ctx context.Context) error {
	clients := g.Concurrency
	g.Concurrency = min(clients, 4)
	defer func() { g.Concurrency = clients }()
	return g.grow(ctx, "Pods", []int{3_000, 30_000, 300_000}, func(f *fixture, before, size int) error {
		f.others = []string{f.pods()}
		if err := f.fill(ctx, size-before, step(func(n int) Request { return f.createSmallPod(n + before) })); err != nil {
			return err
		}
		for _, selection := range selections[:2] {
			if err := g.add(ctx, f.Target, "list by "+selection.name, size, "Pods", step(f.selectPods(selection.query))); err != nil {
				return err
			}
		}
		return nil
	})
}
