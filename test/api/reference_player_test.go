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

// A referencePlayer sends the requests of recordings to a daemon of its own.
type referencePlayer struct {
	url string
	// admin presents the administrator's certificate, stranger none.
	admin, anonymous *http.Transport
}

func start(t *testing.T) *referencePlayer {
	t.Helper()
	server := client.Serve(t, t.TempDir(), func(c *daemon.Config) {
		c.Naming = "kubernetes"
		// The reference was an API server alone: of those that write beside the client, it ran but these two.
		c.Controllers = client.KeepingControllers + ",apiservice-availability-controller,priority-and-fairness-config-producer"
		c.Admission.Disable = []string{"ServiceAccount"} // as the reference did
	})
	return &referencePlayer{server.URL, client.Transport(t, server.TLS), client.Transport(t, server.Anonymous())}
}

// play makes the namespace of the case and plays its steps. It returns one verdict for
// each step, up to the first whose remembered values are missing.
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

// settle sends a request, again and again if its answer is one that settles.
func (p *referencePlayer) settle(t *testing.T, s step, body string) (got referenceAnswer, verdict referenceComparison) {
	t.Helper()
	client.Poll(func() bool {
		got = p.send(t, s.Request, body)
		verdict = compareReference(s.Response, got)
		return !s.Settles || len(verdict.hard) == 0
	})
	return got, verdict
}

// expandPlaceholders replaces the placeholders of what is remembered.
func expandPlaceholders(memory map[string]string, text string) string {
	for name, value := range memory {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// lookup is the text at a dotted path.
func lookup(tree any, path string) (string, bool) {
	for _, name := range strings.Split(path, ".") {
		m, _ := tree.(map[string]any)
		tree = m[name]
	}
	s, ok := tree.(string)
	return s, ok
}

// send sends one request and reads the whole answer.
func (p *referencePlayer) send(t *testing.T, q referenceRequest, body string) referenceAnswer {
	t.Helper()
	var headers []string
	if q.Headers["User-Agent"] == "" {
		headers = append(headers, "User-Agent: ") // net/http would name itself
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

// bodyOf is one document, a list of several, or, if it is no JSON, a string.
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
