package apiserver

import (
	"container/heap"
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// EventExpiry deletes Events once their TTL has elapsed since the last write. After a restart, the
// TTL counts from an Event's last occurrence, because write times are not stored.
type EventExpiry struct {
	*reconcile.Env
	events reconcile.Client
	ttl    time.Duration
}

func NewEventExpiry(env *reconcile.Env, ttl time.Duration) *EventExpiry {
	return &EventExpiry{env, env.Core("Event"), ttl}
}

func (e *EventExpiry) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	expirations := make(chan expiration, 256)
	running.Go(func() {
		e.events.WatchLoop(ctx, func(int) func([]request.Event) error {
			return (&eventWatch{expiry: e, ctx: ctx, expirations: expirations}).take
		})
	})
	e.deleteExpired(ctx, expirations)
}

// expiration is the time at which one version of an Event expires. A later write gets its own
// expiration, and the delete of the old version then fails its precondition.
type expiration struct {
	at      time.Time
	key     meta.Key
	version uint64
}

type expirationHeap []expiration

// Methods of heap.Interface. The first element expires next.
func (q expirationHeap) Len() int           { return len(q) }
func (q expirationHeap) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q expirationHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *expirationHeap) Push(v any)        { *q = append(*q, v.(expiration)) }
func (q *expirationHeap) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (e *EventExpiry) deleteExpired(ctx context.Context, expirations <-chan expiration) {
	var waiting expirationHeap
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-expirations:
			heap.Push(&waiting, d)
		case <-timer.C:
			for len(waiting) > 0 && !waiting[0].at.After(time.Now()) {
				d := heap.Pop(&waiting).(expiration)
				if !e.remove(ctx, d) {
					d.at = time.Now().Add(expiryRetryDelay)
					heap.Push(&waiting, d)
				}
			}
		}
		if len(waiting) > 0 {
			timer.Reset(time.Until(waiting[0].at))
		}
	}
}

// expiryRetryDelay is the delay before a failed delete is retried, for example on a full disk.
const expiryRetryDelay = time.Minute

func (e *EventExpiry) remove(ctx context.Context, d expiration) bool {
	err := e.events.DeleteKey(ctx, d.key, request.Delete{ResourceVersion: new(strconv.FormatUint(d.version, 10))})
	if err = reconcile.Except(err, reconcile.IsConflict); err != nil {
		e.Log.Warn("cannot delete an expired Event", "key", d.key.String(), "error", err)
	}
	return err == nil
}

type eventWatch struct {
	expiry      *EventExpiry
	ctx         context.Context
	expirations chan<- expiration
	live        bool // after the initial events
}

// take computes when the delivered Events expire, and sends the result to w.expirations. The TTL of
// initial Events counts from their last occurrence, so that restarts do not extend it. The TTL of
// later Events counts from their delivery. Deletions are ignored, because a deleted Event's
// expiration fails its precondition.
func (w *eventWatch) take(events []request.Event) error {
	for i := range events {
		e := &events[i]
		w.live = w.live || e.InitialEventsEnd
		if e.Type != request.Added && e.Type != request.Modified {
			continue
		}
		last := time.Now()
		if !w.live {
			last = lastOccurrence(w.expiry.events, e.Object, last)
		}
		select {
		case w.expirations <- expiration{at: last.Add(w.expiry.ttl), key: e.Object.Key, version: e.Object.Version}:
		case <-w.ctx.Done():
			return w.ctx.Err()
		}
	}
	return nil
}

// lastOccurrence returns the latest time in an Event. It returns now if the Event has none or its
// time is in the future.
func lastOccurrence(events reconcile.Client, o *meta.Object, now time.Time) time.Time {
	object, err := events.Decode(o)
	if err != nil {
		return now
	}
	metadata, series := object.Object("metadata"), object.Object("series")
	var last time.Time
	for _, v := range []any{metadata["creationTimestamp"], object["lastTimestamp"], object["eventTime"], series["lastObservedTime"]} {
		text, _ := v.(string)
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil && at.After(last) {
			last = at
		}
	}
	if last.IsZero() || last.After(now) {
		return now
	}
	return last
}
