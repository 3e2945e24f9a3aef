package audit

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/troupe-api/troupe/internal/metrics"
)

// A Mode is when a sink stores an Event.
type Mode string

// The modes: Batch stores later, many at once; Blocking before the request goes on;
// BlockingStrict as well, and refuses a request whose arrival it cannot store.
const (
	Batch          Mode = "batch"
	Blocking       Mode = "blocking"
	BlockingStrict Mode = "blocking-strict"
)

// Modes are the modes that there are.
var Modes = []string{string(Batch), string(Blocking), string(BlockingStrict)}

// SinkOptions say how a Sink takes Events.
type SinkOptions struct {
	Mode Mode
	// Legacy is the old form of lines.
	Legacy bool
	// MaxEventSize is the size, in bytes, from which on an Event loses its bodies, and is itself lost
	// if that does not help; 0 is none.
	MaxEventSize int
	// Batch count in mode Batch only.
	Batch  BatchOptions
	Logger *slog.Logger
}

// A Sink is one place where Events go.
type Sink struct {
	name    string // as operators know it
	options SinkOptions
	out     output
	batcher *batcher // nil in other modes than Batch
	losses  lossCounter
	closing chan struct{} // closed by close
}

// An output stores lines. It is called by one goroutine at a time, unless it says otherwise.
type output interface {
	// write stores lines, each of which ends in a newline. It ends with ctx, and does not try
	// again once hurry is closed.
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

// put stores the Event of a Record, or sees to it that it will be. It is false if the request
// must not go on without.
//
// In mode Batch it never waits and never refuses: a slow service must not slow the server down, and what it loses is
// counted.
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

// store writes lines, and counts them if they are lost.
func (s *Sink) store(ctx context.Context, lines [][]byte) bool {
	err := s.out.write(ctx, s.closing, lines)
	if err != nil {
		s.losses.add(len(lines), err)
		return false
	}
	s.losses.recovered()
	return true
}

// line encodes the Event, once for all sinks that take the same form.
//
// The shortened form is encoded anew and not cached, since its bound belongs to this sink.
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
		return nil, fmt.Errorf("the event has %d bytes without bodies, and may have %d", len(b), s.options.MaxEventSize)
	}
	return b, nil
}

// close stores what waits, and closes the output.
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

// lossCounter counts Events that are lost, and tells the log when that begins and ends, however
// many there are.
//
// One line at the beginning and one at the end: a full disk would otherwise fill the server's own log with a line for
// each request.
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
