package audit

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/troupe-api/troupe/internal/metrics"
)

// A Mode determines when a Sink stores an Event.
type Mode string

// Batch stores Events in the background. Blocking stores them before the request proceeds.
// BlockingStrict also rejects a request whose RequestReceived event cannot be stored.
const (
	Batch          Mode = "batch"
	Blocking       Mode = "blocking"
	BlockingStrict Mode = "blocking-strict"
)

// SinkOptions configures a Sink.
type SinkOptions struct {
	Mode Mode
	// Legacy selects the legacy line format.
	Legacy bool
	// MaxEventSize limits the size of an Event in bytes. 0 means no limit. A larger Event loses its
	// bodies. If it is still too large, the whole Event is lost.
	MaxEventSize int
	// Batch applies only to mode Batch.
	Batch  BatchOptions
	Logger *slog.Logger
}

// A Sink is one destination of Events.
type Sink struct {
	name    string // in logs and metrics
	options SinkOptions
	out     output
	batcher *batcher // nil except in mode Batch
	losses  lossCounter
	closing chan struct{} // closed by close
}

// An output stores lines. Its methods must be safe for concurrent use.
type output interface {
	// write stores lines, each with a trailing newline. It returns when ctx ends, and stops
	// retrying when hurry is closed.
	write(ctx context.Context, hurry <-chan struct{}, lines [][]byte) error
	close() error
}

func newSink(name string, o SinkOptions, out output, parallel int) *Sink {
	s := &Sink{name: name, options: o, out: out, closing: make(chan struct{})}
	s.losses.name, s.losses.log = name, o.Logger
	if o.Mode == Batch {
		s.batcher = newBatcher(o.Batch, parallel, s.store)
	}
	return s
}

// put stores or queues a Record's Event. It returns false if the Event was lost and the request
// must not proceed. In mode Batch, it never blocks and always returns true.
func (s *Sink) put(r *Record) bool {
	line, err := s.line(r)
	if err != nil {
		s.losses.add(1, err)
		return s.options.Mode != BlockingStrict
	}
	if s.batcher != nil {
		if err := s.batcher.put(line); err != nil {
			s.losses.add(1, err)
		}
		return true
	}
	r.line[0] = line
	return s.store(context.Background(), r.line[:]) || s.options.Mode != BlockingStrict
}

func (s *Sink) store(ctx context.Context, lines [][]byte) bool {
	err := s.out.write(ctx, s.closing, lines)
	if err != nil {
		s.losses.add(len(lines), err)
		return false
	}
	s.losses.recovered()
	return true
}

// line returns the encoded Event. Sinks of the same format share the encoding unless it is
// truncated.
func (s *Sink) line(r *Record) ([]byte, error) {
	line := &r.json
	encode := func(e *Event, b []byte) []byte { return e.appendJSON(b, r.auditor.names.apiVersion) }
	if s.options.Legacy {
		line, encode = &r.legacy, func(e *Event, b []byte) []byte { return e.appendLegacy(b) }
	}
	if len(*line) == 0 {
		*line = encode(&r.Event, *line)
	}
	if s.options.MaxEventSize == 0 || len(*line) <= s.options.MaxEventSize {
		return *line, nil
	}
	short := r.withoutBodies()
	b := encode(&short, nil)
	if len(b) > s.options.MaxEventSize {
		return nil, fmt.Errorf("the event has %d bytes without bodies, at most %d are allowed", len(b), s.options.MaxEventSize)
	}
	return b, nil
}

func (s *Sink) close(ctx context.Context) error {
	close(s.closing)
	var left int
	if s.batcher != nil {
		left = s.batcher.close(ctx)
	}
	err := s.out.close()
	if left > 0 {
		return fmt.Errorf("audit %s: %d events were not stored in time", s.name, left)
	}
	return err
}

// lossCounter counts lost Events. It logs only the first lost Event and the recovery. Otherwise a
// full disk would cause a log line per request.
type lossCounter struct {
	name   string
	log    *slog.Logger
	lost   metrics.Counter
	losing atomic.Bool
}

func (l *lossCounter) add(n int, err error) {
	l.lost.Add(n)
	if !l.losing.Swap(true) {
		l.log.Error("audit events are being lost", "backend", l.name, "error", err)
	}
}

func (l *lossCounter) recovered() {
	if l.losing.Load() && l.losing.Swap(false) {
		l.log.Info("audit events are stored again", "backend", l.name, "lost", l.lost.Get())
	}
}
