package stream

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

	"github.com/gobwas/ws"
	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/valyala/fasthttp"
)

// webSocketGUID is the constant from which RFC 6455 derives Sec-WebSocket-Accept.
const webSocketGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// WantsWebSocket reports whether a request is an upgrade to a WebSocket.
func WantsWebSocket(h *fasthttp.RequestHeader) bool {
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

// FramingOf returns the framing for a watch request.
func FramingOf(h *fasthttp.RequestHeader) Framing {
	switch {
	case WantsWebSocket(h):
		return WebSocket
	case !h.IsHTTP11():
		return Unchunked
	}
	return Chunked
}

// UpgradeToWebSocket sets the response headers for an upgrade. It selects the first subprotocol
// that the client offers, because the events are the same for all of them.
func UpgradeToWebSocket(h *fasthttp.RequestHeader, answer *fasthttp.ResponseHeader, bearerPrefix string) error {
	if string(h.Peek("Sec-WebSocket-Version")) != "13" {
		answer.Set("Sec-WebSocket-Version", "13")
		return apierrors.BadRequest("the WebSocket version is not supported: use 13")
	}
	accept, err := WebSocketAccept(h)
	if err != nil {
		return err
	}
	protocols, _, err := WebSocketProtocols(h, bearerPrefix)
	if err != nil {
		return apierrors.BadRequest(err.Error())
	}
	answer.SetStatusCode(fasthttp.StatusSwitchingProtocols)
	answer.Set("Upgrade", "websocket")
	answer.Set("Connection", "Upgrade")
	answer.Set("Sec-WebSocket-Accept", accept)
	if len(protocols) > 0 {
		answer.Set("Sec-WebSocket-Protocol", protocols[0])
	}
	return nil
}

// WebSocketAccept returns the value of Sec-WebSocket-Accept, or a 400 if the client's key is
// malformed.
func WebSocketAccept(h *fasthttp.RequestHeader) (string, error) {
	key := h.Peek("Sec-WebSocket-Key")
	if nonce, err := base64.StdEncoding.DecodeString(string(key)); err != nil || len(nonce) != 16 {
		return "", apierrors.BadRequest("the WebSocket key is malformed")
	}
	digest := sha1.Sum(append(append([]byte(nil), key...), webSocketGUID...))
	return base64.StdEncoding.EncodeToString(digest[:]), nil
}

// ErrWebSocketToken means that the bearer token among the subprotocols is malformed, or that there
// is no other subprotocol.
var ErrWebSocketToken = errors.New("the token among the WebSocket sub-protocols is malformed, or alone")

var errWebSocketProtocols = errors.New("the WebSocket sub-protocols are malformed")

// WebSocketProtocols returns the offered subprotocols and the bearer token among them, which has
// the prefix bearerPrefix. Web pages send the token there, because they cannot set headers. They
// must offer another subprotocol, because the server must select one.
func WebSocketProtocols(h *fasthttp.RequestHeader, bearerPrefix string) (protocols []string, token string, err error) {
	for _, line := range h.PeekAll("Sec-WebSocket-Protocol") {
		for item := range strings.SplitSeq(string(line), ",") {
			item = strings.TrimSpace(item)
			if !isHeaderToken(strings.ReplaceAll(item, "/", "")) { // clients offer SPDY/3.1+…, which is not a token
				return nil, "", errWebSocketProtocols
			}
			text, ok := strings.CutPrefix(item, bearerPrefix)
			if !ok {
				protocols = append(protocols, item)
				continue
			}
			raw, err := base64.RawURLEncoding.DecodeString(text)
			if token != "" || err != nil || len(raw) == 0 || !utf8.Valid(raw) {
				return nil, "", ErrWebSocketToken
			}
			token = string(raw)
		}
	}
	if token != "" && len(protocols) == 0 {
		return nil, "", ErrWebSocketToken
	}
	return protocols, token, nil
}

func isHeaderToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// MaxFrameHeader is the maximum size of a sent frame header, in bytes.
const MaxFrameHeader = 10

func appendFrame(b []byte, e Encoder, ev *request.Event) ([]byte, error) {
	at := len(b)
	b, err := e.AppendEvent(append(b, make([]byte, MaxFrameHeader)...), ev)
	if err != nil {
		return b, err
	}
	opcode, payload := ws.OpText, b[at+MaxFrameHeader:]
	if e.Binary() {
		opcode = ws.OpBinary
	}
	var head [MaxFrameHeader]byte
	n := at + copy(b[at:], AppendFrameHeader(head[:0], opcode, len(payload)))
	n += copy(b[n:], payload)
	return b[:n], nil
}

// AppendFrameHeader appends the header of an unfragmented, unmasked frame. ws.WriteHeader would
// cost an allocation per event, because it needs an io.Writer.
func AppendFrameHeader(b []byte, opcode ws.OpCode, size int) []byte {
	const final, uint16Follows, uint64Follows = 0x80, 126, 127
	b = append(b, final|byte(opcode))
	switch {
	case size <= ws.MaxControlFramePayloadSize:
		return append(b, byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, uint16Follows), uint16(size))
	}
	return binary.BigEndian.AppendUint64(append(b, uint64Follows), uint64(size))
}

// A CloseError means that the client closed the WebSocket or violated the protocol. Code is the
// status code of the close frame to send.
type CloseError struct{ Code ws.StatusCode }

func (*CloseError) Error() string { return "http: the client has closed its WebSocket" }

// readFrames discards data and answers pings until the client closes the WebSocket. If the error is
// a *CloseError, the caller must send a close frame.
func readFrames(c net.Conn) error {
	r := bufio.NewReaderSize(c, 512)
	state := ws.StateServerSide
	for total := int64(0); ; {
		f, err := ReadFrameHeader(r, state)
		if err != nil {
			return err
		}
		if f.OpCode.IsControl() {
			if err := AnswerControl(c, r, f); err != nil {
				return err
			}
			continue
		}
		if state = state.Set(ws.StateFragmented); f.Fin {
			state = state.Clear(ws.StateFragmented)
		}
		if total += min(f.Length, maxClientInput) + 1; total > maxClientInput {
			return &CloseError{ws.StatusMessageTooBig}
		}
		if _, err := r.Discard(int(f.Length)); err != nil {
			return err
		}
	}
}

// ReadFrameHeader reads a frame header. It returns a *CloseError if the frame violates the
// protocol.
func ReadFrameHeader(r io.Reader, state ws.State) (ws.Header, error) {
	f, err := ws.ReadHeader(r)
	if errors.Is(err, ws.ErrHeaderLengthMSB) || errors.Is(err, ws.ErrHeaderLengthUnexpected) {
		return f, &CloseError{ws.StatusProtocolError}
	}
	if err == nil && ws.CheckHeader(f, state) != nil {
		return f, &CloseError{ws.StatusProtocolError}
	}
	return f, err
}

// AnswerControl reads the payload of a control frame and answers pings. For a close frame, it
// returns a *CloseError.
func AnswerControl(c net.Conn, r io.Reader, f ws.Header) error {
	var payload [ws.MaxControlFramePayloadSize]byte
	b := payload[:f.Length]
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	ws.Cipher(b, f.Mask, 0)
	switch f.OpCode {
	case ws.OpClose:
		code, _ := ws.ParseCloseFrameData(b)
		if code.Empty() {
			code = ws.StatusNormalClosure
		}
		return &CloseError{code}
	case ws.OpPing:
		var head [MaxFrameHeader]byte
		_, err := c.Write(append(AppendFrameHeader(head[:0], ws.OpPong, len(b)), b...))
		return err
	}
	return nil
}

// closeWebSocket sends a close frame. It lets the client close the connection, because a TCP reset
// could discard the frame.
func (w *Watch) closeWebSocket(end error) {
	code := ws.StatusNormalClosure
	var asked *CloseError
	if errors.As(end, &asked) {
		code = asked.Code
	} else if !isTimeout(end) {
		return // the client has disconnected
	}
	b := binary.BigEndian.AppendUint16(AppendFrameHeader(nil, ws.OpClose, 2), uint16(code))
	if _, err := w.conn.Write(b); err != nil {
		return
	}
	w.conn.LingerOnClose()
}
