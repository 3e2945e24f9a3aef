package stream

import (
	"encoding/binary"
	"io"
	"strconv"

	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/request"
)

// An Encoder writes the events of one watch in the format that was negotiated. Only the goroutine of
// the watch's session uses it.
type Encoder interface {
	// AppendEvent appends one event: a line of JSON with its line feed, a Protobuf message, or a CBOR item.
	AppendEvent(b []byte, ev *request.Event) ([]byte, error)
	// Binary tells that events are no text.
	Binary() bool
	// LengthPrefixed tells that events do not tell where they end, as Protobuf messages do not.
	LengthPrefixed() bool
}

// A Framing is how events are told apart on the connection.
type Framing uint8

// The framings.
const (
	Chunked   Framing = iota // HTTP/1.1: several events to a chunk
	Unchunked                // HTTP/1.0: events as they are, until the connection ends
	WebSocket                // each event is one frame
)

// maxChunk is the size, in bytes, from which gathered events are written.
const maxChunk = wire.MaxWriteSize

// maxChunkHeader is the space before a chunk's data for its length in hexadecimal and CRLF.
const maxChunkHeader = 10

// eventLength is the number of bytes in which the length of a Protobuf event is written before it.
const eventLength = 4

// A writer writes events to a connection, many at a time: a system call costs more than encoding an event.
type writer struct {
	encoder Encoder
	framing Framing
	buf     []byte // while events are being written
}

// write sends events, in as few chunks as maxChunk allows.
func (w *writer) write(to io.Writer, events []request.Event) error {
	buf := wire.GetBuffer()
	w.buf = append(*buf, make([]byte, maxChunkHeader)...)
	defer func() {
		*buf, w.buf = w.buf, nil
		wire.PutBuffer(buf)
	}()
	for i := range events {
		if err := w.append(&events[i]); err != nil {
			return err
		}
		if len(w.buf) > maxChunk {
			if err := w.flush(to); err != nil {
				return err
			}
		}
	}
	return w.flush(to)
}

// append gathers one event.
func (w *writer) append(ev *request.Event) (err error) {
	at := len(w.buf)
	switch {
	case w.framing == WebSocket:
		w.buf, err = appendFrame(w.buf, w.encoder, ev)
	case w.encoder.LengthPrefixed():
		w.buf = append(w.buf, make([]byte, eventLength)...)
		if w.buf, err = w.encoder.AppendEvent(w.buf, ev); err == nil {
			binary.BigEndian.PutUint32(w.buf[at:], uint32(len(w.buf)-at-eventLength))
		}
	default:
		w.buf, err = w.encoder.AppendEvent(w.buf, ev)
	}
	return err
}

// flush sends what is gathered in one write, as one chunk where there are chunks.
func (w *writer) flush(to io.Writer) error {
	size := len(w.buf) - maxChunkHeader
	if size == 0 {
		return nil
	}
	from := maxChunkHeader
	if w.framing == Chunked {
		var length [maxChunkHeader]byte
		head := append(strconv.AppendInt(length[:0], int64(size), 16), "\r\n"...)
		from -= len(head)
		copy(w.buf[from:], head)
		w.buf = append(w.buf, "\r\n"...)
	}
	_, err := to.Write(w.buf[from:])
	w.buf = w.buf[:maxChunkHeader]
	return err
}
