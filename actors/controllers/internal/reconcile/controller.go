package reconcile

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A Controller reconciles keys that the handlers of its sources enqueue. Workers start once all
// sources are synced. A key is processed by one worker at a time and retried with backoff after a
// failure.
type Controller[K comparable] struct {
	*Env
	// Failed logs the error of a key that will be retried.
	Failed func(K, error)

	queue     *Workqueue[K]
	later     *Schedule[K]
	reconcile func(context.Context, K) error
	sources   []Source
	loops     []func(context.Context)
	handlers  []func() (end func()) // of caches
}

// A Source is an Informer or a Cache. It delivers objects to handlers.
type Source interface {
	// Run runs the source until the context is done. Several controllers may call it, but only one
	// call at a time runs the source.
	Run(context.Context)
	// Wait blocks until all objects that existed at the start have been delivered. It returns false
	// if the context is done first.
	Wait(context.Context) bool
}

// New returns a controller that calls reconcile for each key in its work queue. queue is the
// queue's name in metrics and defaults to the controller's name. Failures are logged with text as
// the message and the key as the given attribute.
func New[K comparable](e *Env, queue string, reconcile func(context.Context, K) error, text, attribute string) *Controller[K] {
	return &Controller[K]{
		Env: e, queue: NewWorkqueue[K]().Named(queue), later: NewSchedule[K](), reconcile: reconcile,
		Failed: func(key K, err error) { e.Log.Warn(text, attribute, attributeOf(key), "error", err) },
	}
}

func attributeOf(key any) any {
	if k, ok := key.(meta.Key); ok {
		return k.String()
	}
	return key
}

// Watch registers a handler for every object of a kind and every change. It does nothing if the
// kind is not served.
func (c *Controller[K]) Watch(k Client, on func(Event)) *Informer {
	f := &Informer{Client: k, On: on}
	if k.Kind != nil {
		c.From(f)
	}
	return f
}

// On registers handler for the existing objects of cache and all changes. The handler is removed
// when the controller stops, because the cache outlives it: controllers are recreated each time
// this server becomes the leader.
func On[K comparable, T Cached](c *Controller[K], cache *Cache[T], handler func(old, now T)) {
	c.handlers = append(c.handlers, func() (end func()) { return cache.Subscribe(handler) })
}

func (c *Controller[K]) From(s ...Source) { c.sources = append(c.sources, s...) }

// Go runs loop until the context is done. It starts once all sources are synced.
func (c *Controller[K]) Go(loop func(context.Context)) { c.loops = append(c.loops, loop) }

// Every calls do periodically, like the function Every. It starts once all sources are synced.
func (c *Controller[K]) Every(period time.Duration, do func(context.Context)) {
	c.Go(func(ctx context.Context) { Every(ctx, period, do) })
}

// Every calls do immediately and then after each period, until the context is done.
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

// When returns a function that runs loop after begin is closed.
func When(begin <-chan struct{}, loop func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		select {
		case <-begin:
			loop(ctx)
		case <-ctx.Done():
		}
	}
}

// Add enqueues keys.
func (c *Controller[K]) Add(keys ...K) { c.queue.Add(keys...) }

// AddAt enqueues a key at the given time, unless it is already scheduled for an earlier time.
func (c *Controller[K]) AddAt(key K, at time.Time) { c.later.SetEarlier(key, at) }

// AddAfter enqueues a key after a delay, unless it is already scheduled for an earlier time.
func (c *Controller[K]) AddAfter(key K, delay time.Duration) { c.AddAt(key, time.Now().Add(delay)) }

// SetTime enqueues a key at the given time, which replaces any previously scheduled time.
func (c *Controller[K]) SetTime(key K, at time.Time) { c.later.Set(key, at) }

// Cancel removes a key from the schedule.
func (c *Controller[K]) Cancel(key K) { c.later.Remove(key) }

// Run runs the controller until the context is done.
func (c *Controller[K]) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.Env.RunEvents(ctx) })
	for _, subscribe := range c.handlers {
		defer subscribe()()
	}
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

// FollowDependents enqueues the controller of each changed dependent. For an orphan, it enqueues
// all items that select it.
func FollowDependents[T Cached](c *Controller[meta.Key], dependents *Cache[T], items *Cache[*Item]) {
	On(c, dependents, func(old, now T) {
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

// followDependent enqueues the previous and the current owner of a changed dependent, because both
// must count their dependents again. If several items select an orphan, it enqueues all of them,
// and the first to write adopts the orphan.
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

// Follow enqueues the key of each changed object.
func Follow(c *Controller[meta.Key], items *Cache[*Item]) {
	On(c, items, func(old, now *Item) {
		if now != nil {
			c.Add(now.Key)
		} else {
			c.Cancel(old.Key)
		}
	})
}
