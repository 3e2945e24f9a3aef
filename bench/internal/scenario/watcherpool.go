package scenario

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// maxDialers is how many watch connections are opened at the same time. More handshakes at once would only
// queue up in the server.
const maxDialers = 32

// maxEventBytes bounds one line of a watch stream. It is far above the largest object, and only keeps a
// broken stream from filling memory.
const maxEventBytes = 64 << 20

// watcherPool is a number of watchers of the same path, each on a connection of its own. A publisher waits
// for all events of a burst by one counter, not for each watcher.
type watcherPool struct {
	conns   []*server.Conn
	read    sentTimeFunc
	parts   []measure.Sample // one per watcher, owned by its goroutine until close returns
	group   sync.WaitGroup
	closing atomic.Bool  // set before this side closes; what streams say after that is no error
	ended   atomic.Bool  // a watch has ended early: what it lacks will never come
	arrived atomic.Int64 // events that reached a watcher, all added up
	wanted  atomic.Int64 // at this many the waiting publisher is told
	signal  chan struct{}
}

// sentTimeFunc finds out when an event was sent, since epoch; less than 0 if it does not tell. A watcher
// that only counts does not need to read the events.
type sentTimeFunc func(event []byte) (time.Duration, error)

// countOnly reads nothing of an event.
func countOnly([]byte) (time.Duration, error) { return -1, nil }

// openWatcherPool opens n watch connections. Events begin to be counted at once. It returns when all stand,
// so that no event is missed.
func openWatcherPool(ctx context.Context, target *server.Target, path string, n int, read sentTimeFunc) (*watcherPool, error) {
	a := &watcherPool{conns: make([]*server.Conn, n), read: read, parts: make([]measure.Sample, n), signal: make(chan struct{}, 1)}
	// Until somebody awaits more, the first event gives a signal, which nobody has to take.
	a.wanted.Store(1)
	streams := make([]io.Reader, n)
	var opening errgroup.Group
	opening.SetLimit(maxDialers)
	for i := range a.conns {
		a.conns[i] = target.Conn()
		opening.Go(func() (err error) {
			if err = a.conns[i].Dial(ctx); err == nil {
				streams[i], err = a.conns[i].Watch(path)
			}
			return err
		})
	}
	if err := opening.Wait(); err != nil {
		a.close()
		return nil, err
	}
	// Reading begins when all are open: a pool that failed in part has no goroutine to wait for.
	for i, stream := range streams {
		a.group.Go(func() { a.readEvents(target, stream, &a.parts[i]) })
	}
	return a, nil
}

// readEvents reads events until the stream ends. An end that this side did not make is an error. Bookmarks
// are no events of objects and are passed over.
func (a *watcherPool) readEvents(target *server.Target, stream io.Reader, part *measure.Sample) {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxEventBytes)
	uncounted := eventScanner(target, lines)
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 || bytes.HasPrefix(line, []byte(`{"type":"BOOKMARK"`)) {
			continue
		}
		sent, err := a.read(line)
		if err != nil {
			part.Fail(err)
			continue
		}
		part.Operations++
		part.Bytes += int64(len(line)) + uncounted // what the scanner has removed was sent, too
		if sent >= 0 {
			part.Latencies = append(part.Latencies, time.Since(epoch)-sent)
		}
		// Most events only add to the counter. The channel is touched when somebody may have all that is awaited.
		if a.arrived.Add(1) >= a.wanted.Load() {
			a.notify()
		}
	}
	if !a.closing.Load() {
		a.ended.Store(true)
		a.notify()
		part.Fail(errors.Join(errors.New("the watch ended early"), lines.Err()))
	}
}

// notify wakes whoever awaits events. The channel holds one signal, which is enough to look again.
func (a *watcherPool) notify() {
	select {
	case a.signal <- struct{}{}:
	default:
	}
}

// await blocks until total events have arrived, and fails if they do not arrive in time, or never will.
// wanted is set before the count is looked at, so no event falls in between.
// One publisher at a time may call it.
func (a *watcherPool) await(ctx context.Context, total int64, limit time.Duration) error {
	a.wanted.Store(total)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for a.arrived.Load() < total {
		if a.ended.Load() {
			return fmt.Errorf("%d of %d events arrived before a watch ended", a.arrived.Load(), total)
		}
		select {
		case <-a.signal:
		case <-timer.C:
			return fmt.Errorf("%d of %d events arrived within %v", a.arrived.Load(), total, limit)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// close ends all watches and returns what they saw, unsorted. It may be called for a pool that was opened
// in part.
func (a *watcherPool) close() *measure.Sample {
	a.closing.Store(true)
	for _, c := range a.conns {
		c.Close()
	}
	a.group.Wait()
	sum := &measure.Sample{}
	for i := range a.parts {
		sum.Add(&a.parts[i])
	}
	return sum
}

// sentTime reads the stamp of the object in an event. An event without a stamp is not of our objects, and
// an error.
func sentTime(event []byte) (time.Duration, error) {
	_, after, found := bytes.Cut(event, []byte(sentKey))
	if !found {
		return 0, fmt.Errorf("unexpected event: %s", server.Excerpt(event))
	}
	digits, _, _ := bytes.Cut(after, []byte(`"`))
	sent, err := strconv.ParseInt(string(digits), 10, 64)
	return time.Duration(sent), err
}
