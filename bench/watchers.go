package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	maxDialers    = 32       // watch connections opened concurrently
	maxEventBytes = 64 << 20 // maximum event size, in case of a broken stream
)

// watcherPool watches one path on many connections. A shared counter lets a publisher block until
// all watchers have received its events.
type watcherPool struct {
	target  *Target
	conns   []*Conn
	parts   []Sample // per watcher; owned by its goroutine until close returns
	group   sync.WaitGroup
	closing atomic.Bool  // set before closing; streams that end later are no errors
	ended   atomic.Bool  // a watch ended early, so events will be missing
	arrived atomic.Int64 // events received by all watchers
	wanted  atomic.Int64 // number of events that wakes the publisher
	signal  chan struct{}
}

// openWatcherPool opens n watches, and returns once all are established and events are counted.
func openWatcherPool(ctx context.Context, target *Target, path string, n int) (*watcherPool, error) {
	p := &watcherPool{target: target, conns: make([]*Conn, n), parts: make([]Sample, n), signal: make(chan struct{}, 1)}
	p.wanted.Store(1) // until await is called
	streams := make([]io.Reader, n)
	var opening errgroup.Group
	opening.SetLimit(maxDialers)
	for i := range p.conns {
		p.conns[i] = target.Conn()
		opening.Go(func() (err error) {
			if err = p.conns[i].Dial(ctx); err == nil {
				streams[i], err = p.conns[i].Watch(path)
			}
			return err
		})
	}
	if err := opening.Wait(); err != nil {
		p.close()
		return nil, err
	}
	for i, stream := range streams {
		p.group.Go(func() { p.readEvents(stream, &p.parts[i]) })
	}
	return p, nil
}

// readEvents reads events until the stream ends, and ignores bookmarks. It computes the latency
// from the timestamp in the object of each event.
func (p *watcherPool) readEvents(stream io.Reader, part *Sample) {
	events := bufio.NewScanner(stream)
	events.Buffer(nil, maxEventBytes)
	newline := 1 // stripped by the scanner
	if p.target.Accept != "" {
		events.Split(scanFrames)
		newline = 0
	}
	for events.Scan() {
		event := events.Bytes()
		if len(event) == 0 || bytes.HasPrefix(event, []byte(`{"type":"BOOKMARK"`)) {
			continue
		}
		part.Operations++
		part.Bytes += int64(len(event) + newline)
		if sent, found := p.target.sent(event); found {
			part.Latencies = append(part.Latencies, time.Since(epoch)-sent)
		}
		if p.arrived.Add(1) >= p.wanted.Load() {
			p.notify()
		}
	}
	if !p.closing.Load() {
		p.ended.Store(true)
		p.notify()
		part.fail(errors.Join(errors.New("the watch ended early"), events.Err()))
	}
}

// notify wakes the publisher. A buffer of one signal is enough, because the publisher rechecks the
// counter.
func (p *watcherPool) notify() {
	select {
	case p.signal <- struct{}{}:
	default:
	}
}

// await blocks until the given total number of events has arrived. It fails after requestTimeout.
// It supports only one publisher at a time.
func (p *watcherPool) await(ctx context.Context, total int64) error {
	p.wanted.Store(total)
	timer := time.NewTimer(requestTimeout)
	defer timer.Stop()
	for p.arrived.Load() < total {
		if p.ended.Load() {
			return fmt.Errorf("%d of %d events arrived before a watch ended", p.arrived.Load(), total)
		}
		select {
		case <-p.signal:
		case <-timer.C:
			return fmt.Errorf("%d of %d events arrived within %v", p.arrived.Load(), total, requestTimeout)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// close ends all watches and returns their merged samples, unsorted. Some watches may never have
// been opened.
func (p *watcherPool) close() *Sample {
	p.closing.Store(true)
	closeAll(p.conns)
	p.group.Wait()
	sum := &Sample{}
	for i := range p.parts {
		sum.add(&p.parts[i])
	}
	return sum
}
