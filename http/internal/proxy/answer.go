package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/http/internal/wire"
)

const redirectRefused = "the backend attempted to redirect this request, which is not permitted"

func (e *Exchange) answer(body *wire.BodyStream, resp *http.Response, started func(int)) (Result, error) {
	if e.target.RefuseRedirects && isRedirect(resp) {
		resp = refusedRedirect()
	}
	if edit := e.target.EditResponse; edit != nil {
		if err := edit(resp); err != nil {
			return Result{}, e.fault(err, e.target.Fault, unreachable)
		}
	}
	defer func() { _ = resp.Body.Close() }() // EditResponse may have replaced it
	w := e.newAnswerWriter(body, resp)
	started(resp.StatusCode)
	result := Result{Code: resp.StatusCode}
	if err := w.write(e.ctx, resp); err != nil {
		e.conn.SetCut()
		return result, nil
	}
	e.conn.SetAnswered(w.last)
	return result, nil
}

func isRedirect(resp *http.Response) bool {
	return resp.StatusCode >= 300 && resp.StatusCode <= 399 && resp.Header.Get("Location") != ""
}

func refusedRedirect() *http.Response {
	return &http.Response{
		StatusCode: http.StatusBadGateway, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(redirectRefused)), ContentLength: int64(len(redirectRefused)),
	}
}

type answerWriter struct {
	conn     *wire.Conn
	head     []byte
	chunked  bool
	messages *Messages // nil: a plain response
	noBody   bool
	last     bool // the connection closes after it
}

func (e *Exchange) newAnswerWriter(body *wire.BodyStream, resp *http.Response) *answerWriter {
	w := &answerWriter{conn: e.conn}
	head := e.request.Head
	w.last = !body.BeginAnswer() || head.ConnectionClose() || !head.IsHTTP11() || e.conn.Closing()
	w.noBody = e.request.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
	h := resp.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	removeHopByHop(h)
	h.Del("Content-Length")
	addFrontHeaders(h, e.request.Answer)
	h.Add("Content-Security-Policy", documentPolicy)
	if m := e.target.Messages; m != nil && resp.StatusCode == http.StatusOK {
		w.messages, w.last = m, true
		h.Del("Content-Type")
		w.head = m.head(h)
		return w
	}
	switch {
	case resp.ContentLength >= 0 && resp.StatusCode != http.StatusNoContent:
		if resp.StatusCode != http.StatusNotModified || resp.ContentLength > 0 {
			h.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
		}
	case w.noBody:
	case head.IsHTTP11():
		w.chunked = true
		h.Set("Transfer-Encoding", "chunked")
		for name := range resp.Trailer {
			h.Add("Trailer", name)
		}
	}
	if w.last {
		h.Set("Connection", "close")
	}
	w.head = headOf(resp.StatusCode, h)
	return w
}

// documentPolicy is the Content-Security-Policy of proxied responses. It gives backend documents a
// separate origin, so that their scripts cannot read the console's data, such as its token. It is
// added to the backend's own policy. It is set on all responses, because browsers also detect
// documents by their content.
const documentPolicy = "sandbox allow-scripts allow-forms"

func headOf(code int, h http.Header) []byte {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + strconv.Itoa(code) + " " + http.StatusText(code) + "\r\n")
	_ = h.Write(&b) // a buffer never fails
	b.WriteString("\r\n")
	return b.Bytes()
}

var copyBuffers = sync.Pool{New: func() any { return new([copyBufferSize]byte) }}

// write forwards the response as it arrives. If the response has no length and ctx is done, write
// treats it as truncated, even if the backend ended it properly.
func (w *answerWriter) write(ctx context.Context, resp *http.Response) error {
	if _, err := w.conn.Write(w.head); err != nil || w.noBody {
		return err
	}
	if err := w.writeBody(resp.Body, resp.ContentLength); err != nil {
		return err
	}
	if resp.ContentLength < 0 && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if w.messages != nil {
		_, err := w.conn.Write(w.messages.end())
		return err
	}
	if !w.chunked {
		return nil
	}
	var end bytes.Buffer
	end.WriteString("0\r\n")
	_ = resp.Trailer.Write(&end) // a buffer never fails
	end.WriteString("\r\n")
	_, err := w.conn.Write(end.Bytes())
	return err
}

var errWrongLength = errors.New("the body of a response does not have the length in its header")

// writeBody forwards the body. It returns an error if the length differs from Content-Length,
// because the client would wait for more data or misparse the next response.
func (w *answerWriter) writeBody(body io.Reader, length int64) error {
	buf := copyBuffers.Get().(*[copyBufferSize]byte)
	defer copyBuffers.Put(buf)
	const room = 8 // for the chunk size before the data
	for written := int64(0); ; {
		n, err := body.Read(buf[room : len(buf)-2])
		if written += int64(n); length >= 0 && written > length {
			return errWrongLength
		}
		if n > 0 {
			if writeErr := w.writePiece(buf, room, n); writeErr != nil {
				return writeErr
			}
		}
		switch {
		case err == io.EOF && length >= 0 && written != length:
			return errWrongLength
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// writePiece writes the n bytes at buf[from:], framed as a WebSocket message or an HTTP chunk if
// needed.
func (w *answerWriter) writePiece(buf *[copyBufferSize]byte, from, n int) error {
	to := from + n
	if w.messages != nil {
		_, err := w.conn.Write(w.messages.message(buf[from:to]))
		return err
	}
	if w.chunked {
		size := strconv.FormatInt(int64(n), 16) + "\r\n"
		from -= copy(buf[from-len(size):], size)
		to += copy(buf[to:], "\r\n")
	}
	_, err := w.conn.Write(buf[from:to])
	return err
}
