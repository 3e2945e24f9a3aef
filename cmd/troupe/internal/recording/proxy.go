package recording

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// A Proxy forwards the requests of one command to a server, with the credentials of a kubeconfig.
type Proxy struct {
	Server *kubeconfig.Config
	Naming *meta.Naming
	Redact bool // replace the values of Secrets in entries
	// Observe receives all entries in order, before the server or the command receives what they
	// contain. The proxy does not use the entry afterwards.
	Observe func(Entry)
	// Before is called before a request for an object is observed. It may be nil.
	Before func(context.Context, target)

	kinds   *catalog.Catalog // decodes Protobuf
	token   string
	forward *httputil.ReverseProxy

	mu  sync.Mutex // guards seq, and orders calls of Observe
	seq int
}

// start listens on a free loopback port. It returns the kubeconfig for the command.
func (p *Proxy) start() (kubeconfig []byte, stop func() error, err error) {
	if p.kinds, err = catalog.New(p.Naming); err != nil {
		return nil, nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	p.seq, p.token = 1, rand.Text()
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(p.Server.Server)
			r.Out.Header.Del("Authorization") // the transport sets that of the kubeconfig
			r.Out.Header.Del("Accept-Encoding")
		},
		// Only HTTP/1.1 allows upgrades, such as for exec.
		Transport:     p.Server.Transport(func() *http.Transport { return &http.Transport{MaxIdleConnsPerHost: 64} }),
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			reject(w, http.StatusBadGateway, fmt.Sprintf("%s: %v", p.Server.Server, err))
		},
		ModifyResponse: p.observeResponse,
	}
	server := &http.Server{Handler: p, ErrorLog: p.forward.ErrorLog}
	go server.Serve(listener)
	config := document.JSON(tree.Tree{
		"apiVersion": "v1", "kind": "Config", "current-context": "proxy",
		"clusters": []any{tree.Tree{"name": "proxy", "cluster": tree.Tree{"server": "http://" + listener.Addr().String()}}},
		"users":    []any{tree.Tree{"name": "proxy", "user": tree.Tree{"token": p.token}}},
		"contexts": []any{tree.Tree{"name": "proxy", "context": tree.Tree{"cluster": "proxy", "user": "proxy", "namespace": p.Server.Namespace}}},
	})
	return config, server.Close, nil
}

func reject(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(document.JSON(tree.Tree{
		"kind": "Status", "apiVersion": "v1", "metadata": tree.Tree{}, "status": "Failure", "code": code,
		"reason": strings.ReplaceAll(http.StatusText(code), " ", ""), "message": "troupe: " + message,
	}))
}

func (p *Proxy) emit(e Entry) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	e.Seq = p.seq
	p.Observe(e)
	return e.Seq
}

type callKey struct{}

// A call is an observed request, in the context of its response.
type call struct {
	target
	seq int
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+p.token)) != 1 {
		reject(w, http.StatusUnauthorized, "use the kubeconfig in KUBECONFIG")
		return
	}
	e := Entry{Method: r.Method, URI: r.URL.RequestURI()}
	if r.Method == http.MethodPatch {
		e.Type = r.Header.Get("Content-Type")
	}
	t, ok := parseTarget(e)
	if !ok {
		p.forward.ServeHTTP(w, r)
		return
	}
	if p.Before != nil {
		p.Before(r.Context(), t)
	}
	if r.Body != nil && t.writes() {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			e.Body, err = p.decode(r.Header.Get("Content-Type"), body)
		}
		if err != nil {
			reject(w, http.StatusUnsupportedMediaType, err.Error())
			return
		}
		e.Body = p.redacted(t, e.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	// Only JSON can be recorded. Clients decode responses by their Content-Type.
	accept := strings.NewReplacer(p.Naming.ProtobufMediaType(), "application/json", "application/cbor", "application/json")
	r.Header.Set("Accept", accept.Replace(r.Header.Get("Accept")))
	p.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callKey{}, call{t, p.emit(e)})))
}

// decode returns a request body as JSON.
func (p *Proxy) decode(contentType string, body []byte) (json.RawMessage, error) {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	switch {
	case len(body) == 0:
		return nil, nil
	case mediaType == p.Naming.ProtobufMediaType():
		e, err := codec.UnwrapEnvelope(body)
		if err != nil {
			return nil, err
		}
		message := p.kinds.Message("meta.v1." + e.Kind) // DeleteOptions
		if k := p.kinds.ByGVK(meta.ParseGVK(e.APIVersion, e.Kind)); k != nil {
			message = k.Message()
		}
		if message == nil {
			return nil, fmt.Errorf("cannot record %s %s in Protobuf: use JSON", e.APIVersion, e.Kind)
		}
		t, _, err := codec.DecodeProtobuf(message, e.Raw)
		if err != nil {
			return nil, err
		}
		t["kind"], t["apiVersion"] = e.Kind, e.APIVersion
		return document.JSON(t), nil
	case strings.HasSuffix(mediaType, "yaml"):
		t, err := document.ParseYAML(body)
		return document.JSON(t), err
	case !json.Valid(body):
		return nil, fmt.Errorf("cannot record a body of type %q: use JSON", contentType)
	}
	return body, nil
}

// observeResponse observes a response, and makes its events observed when they are read.
func (p *Proxy) observeResponse(r *http.Response) error {
	c, ok := r.Request.Context().Value(callKey{}).(call)
	if !ok {
		return nil
	}
	e := Entry{Request: c.seq, Code: r.StatusCode}
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case mediaType != "application/json":
	case c.verb == "watch" && r.StatusCode == http.StatusOK:
		r.Body = &eventReader{ReadCloser: r.Body, each: func(line []byte) { p.observeEvent(c, line) }}
	default:
		body, err := io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return err
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", fmt.Sprint(len(body)))
		e.Body = p.redacted(c.target, body)
	}
	p.emit(e)
	return nil
}

func (p *Proxy) observeEvent(c call, line []byte) {
	var event struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if json.Unmarshal(line, &event) == nil {
		p.emit(Entry{Request: c.seq, Event: event.Type, Body: p.redacted(c.target, event.Object)})
	}
}

// An eventReader calls each with every complete line that it has read.
type eventReader struct {
	io.ReadCloser
	each func(line []byte)
	line []byte
}

func (r *eventReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	for part := range bytes.Lines(b[:n]) {
		r.line = append(r.line, part...)
		if bytes.HasSuffix(part, []byte("\n")) {
			r.each(r.line)
			r.line = r.line[:0]
		}
	}
	return n, err
}

// redacted returns a body as it may be recorded.
func (p *Proxy) redacted(t target, body json.RawMessage) json.RawMessage {
	if !p.Redact || !t.isSecret() || len(body) == 0 {
		return bytes.Clone(body)
	}
	v, err := tree.Decode(body)
	if err != nil {
		return nil
	}
	Redact(v, p.Naming)
	return document.JSON(v)
}
