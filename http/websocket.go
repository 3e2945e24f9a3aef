package http

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"unicode/utf8"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/valyala/fasthttp"
)

// A watch may be asked for over a WebSocket (RFC 6455). Each event is then one message,
// JSON as text and Protobuf as binary, of one frame. What the client sends is ignored,
// save for pings, which are answered, and for the close.

// The opcodes of frames.
const (
	opText   = 1
	opBinary = 2
	opClose  = 8
	opPing   = 9
	opPong   = 10
)

// The codes of close frames.
const (
	closeNormal   = 1000
	closeProtocol = 1002
	closeTooBig   = 1009 // the client sends too much
)

const (
	finBit  = 0x80 // bit of the first byte of a frame
	maskBit = 0x80 // bit of the second
	// maxFrameHeader is the largest head of a frame that is sent.
	maxFrameHeader = 10
	// maxControlPayload is the largest payload of a control frame.
	maxControlPayload = 125
)

// webSocketGUID is what RFC 6455 appends to the key of a client before hashing it.
const webSocketGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// wantsWebSocket tells whether a request asks to go on as a WebSocket.
func wantsWebSocket(h *fasthttp.RequestHeader) bool {
	if !h.IsGet() || !h.IsHTTP11() || !bytes.EqualFold(h.Peek("Upgrade"), []byte("websocket")) {
		return false
	}
	for item := range strings.SplitSeq(string(h.Peek("Connection")), ",") {
		if strings.EqualFold(strings.TrimSpace(item), "upgrade") {
			return true
		}
	}
	return false
}

// webSocketHead is the answer that turns the connection into a WebSocket. Of the
// sub-protocols that the client offers it takes the first, whatever it is: all of them
// carry the same events.
func (s *Server) webSocketHead(x *requestContext) ([]byte, error) {
	h := &x.ctx.Request.Header
	if string(h.Peek("Sec-WebSocket-Version")) != "13" {
		x.setHeader("Sec-WebSocket-Version", "13")
		return nil, apierrors.BadRequest("the WebSocket version is not supported: use 13")
	}
	key := h.Peek("Sec-WebSocket-Key")
	if nonce, err := base64.StdEncoding.DecodeString(string(key)); err != nil || len(nonce) != 16 {
		return nil, apierrors.BadRequest("the WebSocket key is malformed")
	}
	protocols, _, err := s.webSocketProtocols(h)
	if err != nil {
		return nil, apierrors.BadRequest(err.Error())
	}
	digest := sha1.Sum(append(append([]byte(nil), key...), webSocketGUID...))
	b := make([]byte, 0, 256)
	b = append(b, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "...)
	b = base64.StdEncoding.AppendEncode(b, digest[:])
	if len(protocols) > 0 {
		b = append(b, "\r\nSec-WebSocket-Protocol: "...)
		b = append(b, protocols[0]...)
	}
	return append(appendCommonHeaders(b, x), "\r\n\r\n"...), nil
}

var (
	errWebSocketProtocols = errors.New("the WebSocket sub-protocols are malformed")
	errWebSocketToken     = errors.New("the token among the WebSocket sub-protocols is malformed, or alone")
)

// webSocketProtocols are the sub-protocols that a client offers, and the bearer token that
// it hides among them, for browsers let a page set no other header. There must be one
// besides the token, to be answered.
func (s *Server) webSocketProtocols(h *fasthttp.RequestHeader) (protocols []string, token string, err error) {
	for _, line := range h.PeekAll("Sec-WebSocket-Protocol") {
		for item := range strings.SplitSeq(string(line), ",") {
			item = strings.TrimSpace(item)
			if !isHeaderToken(item) {
				return nil, "", errWebSocketProtocols
			}
			text, ok := strings.CutPrefix(item, s.names.BearerProtocol)
			if !ok {
				protocols = append(protocols, item)
				continue
			}
			raw, err := base64.RawURLEncoding.DecodeString(text)
			if token != "" || err != nil || len(raw) == 0 || !utf8.Valid(raw) {
				return nil, "", errWebSocketToken
			}
			token = string(raw)
		}
	}
	if token != "" && len(protocols) == 0 {
		return nil, "", errWebSocketToken
	}
	return protocols, token, nil
}

// isHeaderToken tells whether s is a token of RFC 9110.
func isHeaderToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// appendFrame appends an event as one frame.
func (e *eventEncoder) appendFrame(ev *request.Event) error {
	at := len(e.buf)
	e.buf = append(e.buf, make([]byte, maxFrameHeader)...)
	if err := e.appendEvent(ev); err != nil {
		return err
	}
	opcode, payload := byte(opText), e.buf[at+maxFrameHeader:]
	if e.format.Encoding == negotiate.Protobuf {
		opcode, payload = opBinary, payload[eventLength:] // a frame knows its own length
	}
	var head [maxFrameHeader]byte
	n := at + copy(e.buf[at:], appendFrameHeader(head[:0], opcode, len(payload)))
	n += copy(e.buf[n:], payload)
	e.buf = e.buf[:n]
	return nil
}

// appendFrameHeader begins a frame of a server, which is not masked.
func appendFrameHeader(b []byte, opcode byte, size int) []byte {
	b = append(b, finBit|opcode)
	switch {
	case size <= maxControlPayload:
		return append(b, byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, 126), uint16(size))
	}
	return binary.BigEndian.AppendUint64(append(b, 127), uint64(size))
}

// A closed is the end of a WebSocket that the client has asked for, or has brought about.
type closeError struct{ code uint16 }

func (*closeError) Error() string { return "http: the client has closed its WebSocket" }

// A frame is the head of a frame that a client has sent.
type frameHeader struct {
	opcode byte
	size   uint64
	mask   [4]byte
}

// readFrames answers pings until the client closes, and says how it has: a *closed where
// there is a WebSocket to be closed still.
func (st *watchStream) readFrames(c net.Conn) error {
	r := bufio.NewReaderSize(c, 512)
	for total := uint64(0); ; {
		f, err := readFrame(r)
		if err != nil {
			return err
		}
		if f.opcode < opClose {
			if total += f.size + 1; total > maxClientInput {
				return &closeError{closeTooBig}
			}
			if _, err := r.Discard(int(f.size)); err != nil {
				return err
			}
			continue
		}
		if err := answerControl(c, r, f); err != nil {
			return err
		}
	}
}

// readFrame reads the head of a frame, and refuses what no client may send.
func readFrame(r io.Reader) (f frameHeader, err error) {
	var b [8]byte
	if _, err := io.ReadFull(r, b[:2]); err != nil {
		return f, err
	}
	final := b[0]&finBit != 0
	f.opcode, f.size = b[0]&0x0f, uint64(b[1]&^maskBit)
	switch {
	case b[0]&0x70 != 0, b[1]&maskBit == 0, f.opcode > opBinary && f.opcode < opClose, f.opcode > opPong,
		f.opcode >= opClose && (!final || f.size > maxControlPayload):
		return f, &closeError{closeProtocol}
	case f.size == 126:
		_, err = io.ReadFull(r, b[:2])
		f.size = uint64(binary.BigEndian.Uint16(b[:2]))
	case f.size == 127:
		_, err = io.ReadFull(r, b[:])
		f.size = binary.BigEndian.Uint64(b[:])
	}
	if err == nil {
		_, err = io.ReadFull(r, f.mask[:])
	}
	if err == nil && f.size>>63 != 0 {
		err = &closeError{closeProtocol}
	}
	return f, err
}

// answerControl reads the rest of a control frame and does what it asks for.
func answerControl(c net.Conn, r io.Reader, f frameHeader) error {
	var payload [maxControlPayload]byte
	b := payload[:f.size]
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	for i := range b {
		b[i] ^= f.mask[i%len(f.mask)]
	}
	switch f.opcode {
	case opClose:
		code := uint16(closeNormal)
		if len(b) >= 2 {
			code = binary.BigEndian.Uint16(b)
		}
		return &closeError{code}
	case opPing:
		var head [maxFrameHeader]byte
		_, err := c.Write(append(appendFrameHeader(head[:0], opPong, len(b)), b...))
		return err
	}
	return nil
}

// closeWebSocket sends the close frame after the last event. The client answers it, and must
// not be reset while it does.
func (st *watchStream) closeWebSocket(c net.Conn, end error) {
	code := uint16(closeNormal)
	var asked *closeError
	if errors.As(end, &asked) {
		code = asked.code
	} else if !isTimeout(end) {
		return // the client has gone
	}
	b := binary.BigEndian.AppendUint16(appendFrameHeader(nil, opClose, 2), code)
	if _, err := c.Write(b); err != nil {
		return
	}
	if own, ok := st.conn.(*wire.Conn); ok {
		own.LingerOnClose()
	}
}
