package storage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// A replicaObserver follows all ConfigMaps as an informer does. It resumes its watch at any server,
// and lists again after 410.
type replicaObserver struct {
	linearObserver
	h       *replicasHistory
	random  *rand.Rand
	cancel  context.CancelFunc
	running sync.WaitGroup
	lists   [][2]uint64   // versions before and after each list
	current *client.Watch // guarded by mu
}

func newReplicaObserver(h *replicasHistory, n int) *replicaObserver {
	return &replicaObserver{h: h, random: rand.New(rand.NewPCG(uint64(n), 0))}
}

func (o *replicaObserver) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel, o.seen, o.objects, o.from, o.lists = cancel, map[uint64]bool{}, map[string]client.Object{}, 0, nil
	o.running.Go(func() {
		for ctx.Err() == nil && o.h.failure() == nil {
			if err := o.follow(ctx); err != nil && ctx.Err() == nil {
				o.h.fail("a watch: %w", err)
			}
			select {
			//lint:ignore walltime the history runs in testing/synctest
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
}

func (o *replicaObserver) end() {
	if o.cancel != nil {
		o.cancel()
	}
	o.running.Wait()
}

// server returns a random running server, or nil.
func (o *replicaObserver) server() *simulatedReplica {
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	return o.h.replicas[o.random.IntN(len(o.h.replicas))].server
}

// follow lists if necessary, and then runs one watch to its end. It returns an error only for a
// wrong response or event.
func (o *replicaObserver) follow(ctx context.Context) error {
	if o.version() == 0 {
		if listed, err := o.list(ctx, 0); err != nil || !listed {
			return err
		}
	}
	s := o.server()
	if s == nil {
		return nil
	}
	if s.outdated.Load() { // until a read is confirmed, a watch shows the events before the restore
		if _, err := s.List(ctx, configMaps, nil); err != nil {
			return nil
		}
		s.outdated.Store(false)
	}
	w, err := s.Watch(ctx, configMaps, url.Values{"resourceVersion": {strconv.FormatUint(o.version(), 10)}, "allowWatchBookmarks": {"true"}})
	if answer := (*client.Answer)(nil); errors.As(err, &answer) && answer.Code < 500 {
		return answer
	} else if err != nil {
		return nil
	}
	defer w.Close()
	o.watches(w)
	stop := context.AfterFunc(ctx, w.Close)
	defer stop()
	for {
		e, err := w.Next()
		if err != nil {
			return nil // the server is gone
		}
		if e.Type == client.Error && e.Code() == 410 {
			_, err := o.list(ctx, o.version())
			return err
		}
		if e.Type == client.Error && e.Code() >= 500 {
			return nil
		}
		if err := o.take(e); err != nil {
			return err
		}
		if err := o.h.sameEvent(e); err != nil {
			return err
		}
	}
}

func (o *replicaObserver) watches(w *client.Watch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.current = w
}

// move ends the watch, which then resumes at any server.
func (o *replicaObserver) move() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.current != nil {
		o.current.Close()
	}
}

// list replaces all objects by those of a list. It returns false if the server does not respond.
func (o *replicaObserver) list(ctx context.Context, after uint64) (bool, error) {
	s := o.server()
	if s == nil {
		return false, nil
	}
	list, err := s.List(ctx, configMaps, nil)
	if answer := (*client.Answer)(nil); errors.As(err, &answer) && answer.Code < 500 {
		return false, answer
	} else if err != nil {
		return false, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if list.Version < after {
		return false, fmt.Errorf("a list is at version %d, after a watch at %d", list.Version, after)
	}
	o.objects = map[string]client.Object{}
	for _, object := range list.Items {
		o.objects[object.Name()] = object
	}
	o.lists, o.from = append(o.lists, [2]uint64{after, list.Version}), list.Version
	return true, nil
}

// covers reports whether the observer has an event of a version, or has listed it.
func (o *replicaObserver) covers(version uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.lists {
		if l[0] < version && version <= l[1] {
			return true
		}
	}
	return o.seen[version]
}

// finish waits for a version and compares the objects with those of a list.
func (o *replicaObserver) finish(version uint64, want string) error {
	if !client.Poll(func() bool { return o.version() >= version || o.h.failure() != nil }) {
		return fmt.Errorf("a watch has stopped at version %d before %d", o.version(), version)
	}
	if got := o.contents(); got != want && o.h.failure() == nil {
		return fmt.Errorf("the events of a watch lead to\n%s\nthe servers hold\n%s", got, want)
	}
	return o.h.failure()
}

// sameEvent checks that all watches have the same event at a version.
func (h *replicasHistory) sameEvent(e client.Event) error {
	if e.Type == client.Bookmark {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	text := e.Type + " " + e.Object.String()
	if other, ok := h.events[e.Object.Version()]; ok && other != text {
		return fmt.Errorf("the event of version %d is %s and %s", e.Object.Version(), other, text)
	}
	h.events[e.Object.Version()] = text
	return nil
}
