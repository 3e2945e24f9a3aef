package stream

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/request"
)

type typeEncoder struct {
	binary bool
	size   int
	err    error
}

func (e typeEncoder) Binary() bool         { return e.binary }
func (e typeEncoder) LengthPrefixed() bool { return e.binary }

func (e typeEncoder) AppendEvent(b []byte, ev *request.Event) ([]byte, error) {
	return append(append(b, ev.Type.String()...), make([]byte, e.size)...), e.err
}

// TestFramings checks that the events of one call are sent in one write, with each framing.
func TestFramings(t *testing.T) {
	events := []request.Event{{Type: request.Added}, {Type: request.Deleted}}
	for _, c := range []struct {
		framing Framing
		binary  bool
		want    string
	}{
		{Chunked, false, "c\r\nADDEDDELETED\r\n"},
		{Unchunked, false, "ADDEDDELETED"},
		{WebSocket, false, "\x81\x05ADDED\x81\x07DELETED"},
		{Chunked, true, "14\r\n\x00\x00\x00\x05ADDED\x00\x00\x00\x07DELETED\r\n"},
		{WebSocket, true, "\x82\x05ADDED\x82\x07DELETED"},
	} {
		var got writes
		w := writer{encoder: typeEncoder{binary: c.binary}, framing: c.framing}
		if err := w.write(&got, events); err != nil || got.text.String() != c.want || got.count != 1 {
			t.Errorf("framing %d: %q in %d writes, %v", c.framing, got.text.String(), got.count, err)
		}
	}
}

// TestLargeEvents checks that large buffers are flushed, and that frames of all sizes have the
// right length.
func TestLargeEvents(t *testing.T) {
	for _, c := range []struct {
		size int
		head string
	}{{200, "\x81\x7e\x00\xcd"}, {70_000, "\x81\x7f\x00\x00\x00\x00\x00\x01\x11\x75"}} {
		var got writes
		w := writer{encoder: typeEncoder{size: c.size}, framing: WebSocket}
		events := make([]request.Event, 3)
		for i := range events {
			events[i].Type = request.Added
		}
		err := w.write(&got, events)
		want := strings.Repeat(c.head+"ADDED"+strings.Repeat("\x00", c.size), 3)
		if most := 3 * (c.size + 20) / maxChunk; err != nil || got.text.String() != want || got.count > most+1 {
			t.Errorf("%d bytes: %d bytes in %d writes, %v", c.size, got.text.Len(), got.count, err)
		}
	}
}

func TestEncoderFails(t *testing.T) {
	var got writes
	fault := errors.New("fault")
	w := writer{encoder: typeEncoder{err: fault}, framing: Chunked}
	if err := w.write(&got, []request.Event{{Type: request.Added}}); !errors.Is(err, fault) || got.count != 0 {
		t.Errorf("%v, %q", err, got.text.String())
	}
}

type writes struct {
	text  bytes.Buffer
	count int
}

func (w *writes) Write(b []byte) (int, error) {
	w.count++
	return w.text.Write(b)
}
