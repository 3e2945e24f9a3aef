package stream

import (
	"encoding/binary"
	"io"
	"strconv"

	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/request"
)

// An Encoder encodes the events of one watch in the negotiated format. Only the session's goroutine
// uses it.
type Encoder interface {
	// AppendEvent appends one event as a line of JSON, a Protobuf message, or a CBOR item.
	AppendEvent(b []byte, ev *request.Event) ([]byte, error)
	// Binary reports whether events need binary WebSocket messages.
	Binary() bool
	// LengthPrefixed reports whether events need a length prefix, as Protobuf messages do.
	LengthPrefixed() bool
}

// A Framing determines how events are separated on the connection.
type Framing uint8

const (
	Chunked   Framing = iota // HTTP/1.1: several events per chunk
	Unchunked                // HTTP/1.0: unframed until the connection closes
	WebSocket                // one frame per event
)

// maxChunk is the size in bytes at which buffered events are written.
const maxChunk = wire.MaxWriteSize

// maxChunkHeader is the space for a chunk's hexadecimal size and CRLF, in bytes.
const maxChunkHeader = 10

// eventLength is the size of a Protobuf event's length prefix, in bytes.
const eventLength = 4

// A writer combines several events into one write, because a system call costs more than encoding
// an event.
type writer struct {
	encoder Encoder
	framing Framing
	buf     []byte // during write
}

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
