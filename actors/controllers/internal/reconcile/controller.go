package reconcile

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A Controller reconciles keys. Handlers of what it watches add them; workers process each key, one at a time, once all
// that it watches is known, and try it again after a delay when that fails.
type Controller[K comparable] struct {
	*Env
	// Failed logs that a key is tried again.
	Failed func(K, error)

	queue     *Workqueue[K]
	later     *Schedule[K]
	reconcile func(context.Context, K) error
	sources   []Source
	loops     []func(context.Context)
}

// A Source delivers objects: an Informer or a Cache.
type Source interface {
	// Run returns when the context ends. Of those that share a source, one does the work.
	Run(context.Context)
	// Wait waits until all objects that existed at the start have been delivered; false if the context ends before.
	Wait(context.Context) bool
}

// New returns a controller that reconciles keys. Its queue has a name in the metrics, "" being that of the controller.
// What fails is logged as text, with the key as an attribute.
func New[K comparable](e *Env, queue string, reconcile func(context.Context, K) error, text, attribute string) *Controller[K] {
	return &Controller[K]{
		Env: e, queue: NewWorkqueue[K]().Named(queue), later: NewSchedule[K](), reconcile: reconcile,
		Failed: func(key K, err error) { e.Log.Warn(text, attribute, attributeOf(key), "error", err) },
	}
}

// attributeOf returns a key as it is logged.
func attributeOf(key any) any {
	if k, ok := key.(meta.Key); ok {
		return k.String()
	}
	return key
}

// Watch calls a handler with every object of a kind and every change. A kind that is not served has none.
func (c *Controller[K]) Watch(k Client, on func(Event)) *Informer {
	f := &Informer{Client: k, On: on}
	if k.Kind != nil {
		c.From(f)
	}
	return f
}

// From adds sources.
func (c *Controller[K]) From(s ...Source) { c.sources = append(c.sources, s...) }

// Go runs a loop, once all that is watched is known, until the context ends.
func (c *Controller[K]) Go(loop func(context.Context)) { c.loops = append(c.loops, loop) }

// Every calls do at once, as soon as all that is watched is known, and then after each period.
func (c *Controller[K]) Every(period time.Duration, do func(context.Context)) {
	c.Go(func(ctx context.Context) { Every(ctx, period, do) })
}

// Every calls do at once, and then after each period, until the context ends.
func Every(ctx context.Context, period time.Duration, do func(context.Context)) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		do(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// When returns a loop that begins when a channel is closed.
func When(begin <-chan struct{}, loop func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		select {
		case <-begin:
			loop(ctx)
		case <-ctx.Done():
		}
	}
}

// Add queues keys.
func (c *Controller[K]) Add(keys ...K) { c.queue.Add(keys...) }

// AddAt queues a key at a time, unless that is already to happen before.
func (c *Controller[K]) AddAt(key K, at time.Time) { c.later.SetEarlier(key, at) }

// AddAfter queues a key after a delay, unless that is already to happen before.
func (c *Controller[K]) AddAfter(key K, delay time.Duration) { c.AddAt(key, time.Now().Add(delay)) }

// SetTime queues a key at a time, in place of the one that was set.
func (c *Controller[K]) SetTime(key K, at time.Time) { c.later.Set(key, at) }

// Cancel undoes AddAt and SetTime.
func (c *Controller[K]) Cancel(key K) { c.later.Remove(key) }

// Run works until the context ends.
func (c *Controller[K]) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.Env.RunEvents(ctx) })
	for _, s := range c.sources {
		running.Go(func() { s.Run(ctx) })
	}
	for _, s := range c.sources {
		if !s.Wait(ctx) {
			return
		}
	}
	for _, loop := range c.loops {
		running.Go(func() { loop(ctx) })
	}
	running.Go(func() { c.later.Run(ctx, func(key K) { c.Add(key) }) })
	c.queue.Run(ctx, c.reconcile, c.Failed)
}

// FollowDependents adds the controller of each dependent that changes and, for one that nobody controls, all objects of
// the kind that select it.
func FollowDependents[T Cached](c *Controller[meta.Key], dependents *Cache[T], items *Cache[*Item]) {
	dependents.Subscribe(func(old, now T) {
		var none T
		var was, is *Head
		if old != none {
			was = old.Ref()
		}
		if now != none {
			is = now.Ref()
		}
		followDependent(c, items, was, is)
	})
}

// followDependent adds the owners before and after the change, as both have to count again when a dependent changes
// hands. An orphan is shown to all that select it; which of them adopts it is settled by the first write.
func followDependent(c *Controller[meta.Key], items *Cache[*Item], old, now *Head) {
	for _, h := range []*Head{old, now} {
		if h == nil {
			continue
		}
		if owner := items.Controlled(h.Key.Namespace, h.Controller); owner != nil {
			c.Add(owner.Key)
		}
	}
	if now == nil || now.Controller != nil || now.Terminating {
		return
	}
	for _, i := range items.inNamespace(now.Key.Namespace) {
		if i.Selects(now.Labels) {
			c.Add(i.Key)
		}
	}
}

// Follow adds the key of each object that changes.
func Follow(c *Controller[meta.Key], items *Cache[*Item]) {
	items.Subscribe(func(old, now *Item) {
		if now != nil {
			c.Add(now.Key)
		} else {
			c.Cancel(old.Key)
		}
	})
}
