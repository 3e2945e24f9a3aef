package main

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
)

// dialers is how many watch connections are opened at the same time.
const dialers = 32

// longestEvent bounds one line of a watch stream.
const longestEvent = 64 << 20

// audience is a number of watchers of the same path, each on a connection of its own.
type audience struct {
	conns   []*Conn
	read    reading
	parts   []Sample // one per watcher, owned by its goroutine until close returns
	group   sync.WaitGroup
	leaving atomic.Bool  // set before this side closes; what streams say after that is no error
	ended   atomic.Bool  // a watch has ended early: what it lacks will never come
	arrived atomic.Int64 // events that reached a watcher, all added up
	wanted  atomic.Int64 // at this many the waiting publisher is told
	signal  chan struct{}
}

// reading finds out when an event was sent, since epoch; less than 0 if it does not tell.
type reading func(event []byte) (time.Duration, error)

// countOnly reads nothing of an event.
func countOnly([]byte) (time.Duration, error) { return -1, nil }

// gather opens n watch connections. Events begin to be counted at once.
func gather(ctx context.Context, target *Target, path string, n int, read reading) (*audience, error) {
	a := &audience{conns: make([]*Conn, n), read: read, parts: make([]Sample, n), signal: make(chan struct{}, 1)}
	a.wanted.Store(1)
	streams := make([]io.Reader, n)
	var opening errgroup.Group
	opening.SetLimit(dialers)
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
	for i, stream := range streams {
		a.group.Go(func() { a.follow(stream, &a.parts[i]) })
	}
	return a, nil
}

// follow reads events until the stream ends. An end that this side did not make is an error.
func (a *audience) follow(stream io.Reader, part *Sample) {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, longestEvent)
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 || bytes.HasPrefix(line, []byte(`{"type":"BOOKMARK"`)) {
			continue
		}
		sent, err := a.read(line)
		if err != nil {
			part.fail(err)
			continue
		}
		part.Operations++
		part.Bytes += int64(len(line)) + 1
		if sent >= 0 {
			part.Latencies = append(part.Latencies, time.Since(epoch)-sent)
		}
		if a.arrived.Add(1) >= a.wanted.Load() {
			a.tell()
		}
	}
	if !a.leaving.Load() {
		a.ended.Store(true)
		a.tell()
		part.fail(errors.Join(errors.New("the watch ended early"), lines.Err()))
	}
}

// tell wakes whoever awaits events.
func (a *audience) tell() {
	select {
	case a.signal <- struct{}{}:
	default:
	}
}

// await blocks until total events have arrived, and fails if they do not arrive in time, or never will.
func (a *audience) await(ctx context.Context, total int64, limit time.Duration) error {
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

// close ends all watches and returns what they saw, unsorted.
func (a *audience) close() *Sample {
	a.leaving.Store(true)
	for _, c := range a.conns {
		c.Close()
	}
	a.group.Wait()
	sum := &Sample{}
	for i := range a.parts {
		sum.add(&a.parts[i])
	}
	return sum
}

// sentTime reads the stamp of the object in an event.
func sentTime(event []byte) (time.Duration, error) {
	_, after, found := bytes.Cut(event, []byte(sentMark))
	if !found {
		return 0, fmt.Errorf("unexpected event: %s", brief(event))
	}
	digits, _, _ := bytes.Cut(after, []byte(`"`))
	sent, err := strconv.ParseInt(string(digits), 10, 64)
	return time.Duration(sent), err
}
