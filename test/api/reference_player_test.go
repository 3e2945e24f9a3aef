package api

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A referencePlayer replays recorded requests against its own server.
type referencePlayer struct {
	url string
	// admin presents the administrator's certificate. anonymous presents none.
	admin, anonymous *http.Transport
}

func start(t *testing.T) *referencePlayer {
	t.Helper()
	server := client.Serve(t, t.TempDir(), func(c *daemon.Config) {
		c.Naming = "kubernetes"
		// The reference was a kube-apiserver without kube-controller-manager. These two were its
		// only controllers that write without a request.
		c.Controllers = client.KeepingControllers + ",apiservice-availability-controller,priority-and-fairness-config-producer"
		c.Admission.Disable = []string{"ServiceAccount"} // as in the reference
	})
	return &referencePlayer{server.URL, client.Transport(t, server.TLS), client.Transport(t, server.Anonymous())}
}

// play creates the namespace of a recorded case and sends its requests. It returns one comparison
// per step. It stops early if a response lacks a value that a later step needs.
func (p *referencePlayer) play(t *testing.T, c recorded) []referenceComparison {
	t.Helper()
	namespace := `{"metadata":{"name":"` + namespaceOf(c.Name) + `"}}`
	if got := p.send(t, referenceRequest{Method: "POST", Path: "/api/v1/namespaces"}, namespace); got.Code != 201 {
		t.Fatalf("making the namespace: %d %v", got.Code, got.Body)
	}
	memory := map[string]string{}
	var verdicts []referenceComparison
	for _, s := range c.Steps {
		body := expandPlaceholders(memory, s.Request.text(t, c.Name))
		s.Request.Path = expandPlaceholders(memory, s.Request.Path)
		got, verdict := p.settle(t, s, body)
		verdicts = append(verdicts, verdict)
		for name, path := range s.Request.Remember {
			value, ok := lookup(got.Body, path)
			if !ok {
				return verdicts
			}
			memory[name] = value
		}
	}
	return verdicts
}

// settle sends a request. If s.Settles is set, it repeats the request until the response agrees
// with the recording.
func (p *referencePlayer) settle(t *testing.T, s step, body string) (got referenceAnswer, verdict referenceComparison) {
	t.Helper()
	client.Poll(func() bool {
		got = p.send(t, s.Request, body)
		verdict = compareReference(s.Response, got)
		return !s.Settles || len(verdict.hard) == 0
	})
	return got, verdict
}

func expandPlaceholders(memory map[string]string, text string) string {
	for name, value := range memory {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

func lookup(tree any, path string) (string, bool) {
	for _, name := range strings.Split(path, ".") {
		m, _ := tree.(map[string]any)
		tree = m[name]
	}
	s, ok := tree.(string)
	return s, ok
}

func (p *referencePlayer) send(t *testing.T, q referenceRequest, body string) referenceAnswer {
	t.Helper()
	var headers []string
	if q.Headers["User-Agent"] == "" {
		headers = append(headers, "User-Agent: ") // net/http would send its own
	}
	if body != "" && q.Headers["Content-Type"] == "" {
		headers = append(headers, "Content-Type: application/json")
	}
	for name, value := range q.Headers {
		headers = append(headers, name+": "+value)
	}
	transport := p.admin
	if q.Headers["Authorization"] != "" {
		transport = p.anonymous
	}
	a := client.Exchange(t, transport, q.Method, p.url+q.Path, body, headers...)
	return referenceAnswer{
		Code: a.Code, ContentType: a.Header.Get("Content-Type"), Warning: a.Header.Get("Warning"), Allow: a.Header.Get("Allow"), Body: bodyOf(a.Body),
	}
}

// bodyOf decodes a body as JSON. Several documents become a list, and a body that is not JSON
// becomes a string.
func bodyOf(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	var docs []any
	for {
		var doc any
		err := d.Decode(&doc)
		if err == io.EOF {
			break
		}
		if err != nil {
			return string(text)
		}
		docs = append(docs, doc)
	}
	switch len(docs) {
	case 0:
		return string(text)
	case 1:
		return docs[0]
	}
	return docs
}
