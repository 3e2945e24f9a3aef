package recording

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
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
	"github.com/troupe-api/troupe/policy/certs"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// A proxy forwards the requests of one command to a server, with the credentials of a kubeconfig.
type proxy struct {
	*httputil.ReverseProxy
	naming *meta.Naming
	kinds  *catalog.Catalog // decodes Protobuf
	redact bool             // replace the values of Secrets in entries
	token  string
	// observe receives all entries in order, before the server or the command receives their
	// content.
	observe func(Entry)
	// before, if set, is called before a request for an object is observed.
	before func(context.Context, target)

	mu  sync.Mutex // guards seq, and orders calls of observe
	seq int
}

func newProxy(server *kubeconfig.Config, naming *meta.Naming, secrets string) (*proxy, error) {
	kinds, err := catalog.New(naming)
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server.Server)
			r.Out.Header.Del("Authorization") // the transport sets that of the kubeconfig
			r.Out.Header.Del("Accept-Encoding")
		},
		// Only HTTP/1.1 supports upgrades, such as for exec.
		Transport:     server.Transport(func() *http.Transport { return &http.Transport{MaxIdleConnsPerHost: 64} }),
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // for watches that the command ends
	}
	return &proxy{ReverseProxy: forward, naming: naming, kinds: kinds, redact: secrets == "redact", token: rand.Text(), seq: 1}, err
}

const kubeconfigText = `apiVersion: v1
kind: Config
current-context: proxy
clusters: [{name: proxy, cluster: {server: "https://%s", certificate-authority-data: %s}}]
users: [{name: proxy, user: {token: %s}}]
contexts: [{name: proxy, context: {cluster: proxy, user: proxy, namespace: %q}}]
`

// serve listens on a free loopback port and returns the kubeconfig for the command. It uses TLS,
// because client-go sends no tokens without it.
func (p *proxy) serve(namespace string) (kubeconfig string, stop func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	identity, err := certs.Store{}.Open([]string{"127.0.0.1"})
	if err != nil {
		return "", nil, errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: p, ErrorLog: p.ErrorLog, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{*identity.Certificate()}, NextProtos: []string{"http/1.1"},
	}}
	go server.ServeTLS(listener, "", "")
	ca := base64.StdEncoding.EncodeToString(identity.Set().CA.CertPEM)
	return fmt.Sprintf(kubeconfigText, listener.Addr(), ca, p.token, namespace), server.Close, nil
}

func (p *proxy) emit(e Entry) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	e.Seq = p.seq
	p.observe(e)
	return e.Seq
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+p.token {
		http.Error(w, "use the kubeconfig in KUBECONFIG", http.StatusUnauthorized)
		return
	}
	e := Entry{Method: r.Method, URI: r.URL.RequestURI()}
	if r.Method == http.MethodPatch {
		e.Type = r.Header.Get("Content-Type")
	}
	t, ok := parseTarget(e)
	if !ok {
		p.ReverseProxy.ServeHTTP(w, r)
		return
	}
	if p.before != nil {
		p.before(r.Context(), t)
	}
	if t.writes() {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			e.Body, err = p.decode(r.Header.Get("Content-Type"), body)
		}
		if err != nil {
			http.Error(w, "troupe: "+err.Error(), http.StatusUnsupportedMediaType)
			return
		}
		e.Body, r.Body = p.redacted(t, e.Body), io.NopCloser(bytes.NewReader(body))
	}
	// Only JSON can be recorded. Clients decode responses by their Content-Type.
	accept := strings.NewReplacer(p.naming.ProtobufMediaType(), "application/json", "application/cbor", "application/json")
	r.Header.Set("Accept", accept.Replace(r.Header.Get("Accept")))
	forward, seq := *p.ReverseProxy, p.emit(e)
	forward.ModifyResponse = func(response *http.Response) error { return p.observeResponse(t, seq, response) }
	forward.ServeHTTP(w, r)
}

func (p *proxy) decode(contentType string, body []byte) (json.RawMessage, error) {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	switch {
	case len(body) == 0:
		return nil, nil
	case mediaType == p.naming.ProtobufMediaType():
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

// observeResponse observes a response. It observes watch events when they are read.
func (p *proxy) observeResponse(t target, seq int, r *http.Response) error {
	e := Entry{Request: seq, Code: r.StatusCode}
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case mediaType != "application/json":
	case t.verb == "watch" && r.StatusCode == http.StatusOK:
		r.Body = &eventReader{ReadCloser: r.Body, each: func(line []byte) {
			var event struct {
				Type   string
				Object json.RawMessage
			}
			if json.Unmarshal(line, &event) == nil {
				p.emit(Entry{Request: seq, Event: event.Type, Body: p.redacted(t, event.Object)})
			}
		}}
	default:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		r.Body, e.Body = io.NopCloser(bytes.NewReader(body)), p.redacted(t, body)
	}
	p.emit(e)
	return nil
}

// An eventReader calls each for every complete line that it has read.
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

// redacted returns a copy of a body for the recording, redacted if necessary.
func (p *proxy) redacted(t target, body json.RawMessage) json.RawMessage {
	if !p.redact || !t.isSecret() {
		return bytes.Clone(body)
	}
	v, err := tree.Decode(body)
	if err != nil {
		return nil
	}
	Redact(v, p.naming)
	return document.JSON(v)
}
