package http_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/audit"
)

type auditLog struct {
	mu   sync.Mutex
	text bytes.Buffer
	fail error
}

func (l *auditLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return 0, l.fail
	}
	return l.text.Write(b)
}

type auditEvent struct {
	AuditID, Stage, Verb, RequestURI string
	User                             struct{ Username string }
	ResponseStatus                   struct {
		Code            int
		Message, Reason string
	}
	Annotations map[string]string
}

func (l *auditLog) takeEvents(t *testing.T) (events []auditEvent) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		var e auditEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		events = append(events, e)
	}
	l.text.Reset()
	return events
}

func serveAudited(t *testing.T, mode audit.Mode) (*testServer, *auditLog) {
	t.Helper()
	p := audit.NewPolicy(tree.Tree{"rules": []any{tree.Tree{"level": "Metadata"}}})
	log := &auditLog{}
	sink := audit.NewLog(log, audit.SinkOptions{Mode: mode, Logger: slog.New(slog.DiscardHandler)})
	return serve(t, func(o *http.Options) { o.Audit = audit.New(p, meta.Platform, time.Now, sink) }), log
}

func TestPanicIsAudited(t *testing.T) {
	f, log := serveAudited(t, audit.Blocking)
	f.store.beforeGet = func() { panic("secret") }
	resp, _ := f.do("GET", configMapsPath+"/a", "")
	events := log.takeEvents(t)
	if len(events) != 2 || events[0].Stage != "RequestReceived" || events[1].Stage != "Panic" {
		t.Fatalf("%+v", events)
	}
	e := events[1]
	if e.ResponseStatus.Code != 500 || e.ResponseStatus.Reason != "InternalError" || strings.Contains(e.ResponseStatus.Message, "secret") ||
		e.User.Username != "admin" || e.Annotations["authorization.platform.io/decision"] != "allow" {
		t.Errorf("%+v", e)
	}
	if id := resp.Header.Get("Audit-Id"); id != e.AuditID || id != events[0].AuditID || id == "" {
		t.Errorf("the answer has the id %q", id)
	}
	if resp.Header.Get("Cache-Control") == "" {
		t.Error("the answer to a panic lacks the common headers")
	}
}

func TestStrictAuditRefuses(t *testing.T) {
	for mode, want := range map[audit.Mode]int{audit.Blocking: 404, audit.BlockingStrict: 500} {
		f, log := serveAudited(t, mode)
		log.fail = errors.New("disk full")
		asked := false
		f.store.beforeGet = func() { asked = true }
		resp, body := f.do("GET", configMapsPath+"/a", "")
		if resp.StatusCode != want || strings.Contains(body, "disk") || asked != (want == 404) {
			t.Errorf("%s: %d %s, asked %t", mode, resp.StatusCode, body, asked)
		}
	}
}

// TestRefusalsAreAudited tests that rejected credentials are audited with the attempted
// authentication methods, and that malformed requests are not audited.
func TestRefusalsAreAudited(t *testing.T) {
	f, log := serveAudited(t, audit.Blocking)
	for _, test := range []struct{ path, header, message string }{
		{configMapsPath, "Bearer bad", "Authentication failed, attempted: bearer"},
		{configMapsPath, "bEARER bad", "Authentication failed, attempted: bearer"},
		{configMapsPath + "?access_token=x", "Bearer bad", "Authentication failed, attempted: bearer, access_token"},
	} {
		f.do("GET", test.path, "", "Authorization", test.header)
		events := log.takeEvents(t)
		if len(events) != 1 || events[0].Stage != "ResponseStarted" || events[0].ResponseStatus.Code != 401 || events[0].ResponseStatus.Message != test.message || events[0].User.Username != "" {
			t.Errorf("%s: %+v", test.header, events)
		}
		if strings.Contains(events[0].RequestURI, "=x") {
			t.Errorf("the token is in %s", events[0].RequestURI)
		}
	}
	f.do("GET", "/a/../b", "")
	if events := log.takeEvents(t); len(events) != 0 {
		t.Errorf("what is no request was audited: %+v", events)
	}
}

func TestWatchIsAudited(t *testing.T) {
	f, log := serveAudited(t, audit.Blocking)
	resp := must.Get(f.client.Get(f.url + configMapsPath + "?watch=1"))(t)
	stages := func(events []auditEvent) (text string) {
		for _, e := range events {
			text += " " + e.Stage
		}
		return text
	}
	if got := stages(log.takeEvents(t)); got != " RequestReceived ResponseStarted" {
		t.Errorf("at the beginning:%s", got)
	}
	resp.Body.Close()
	f.stop() // waits for the end of the watch
	if got := stages(log.takeEvents(t)); got != " ResponseComplete" {
		t.Errorf("at the end:%s", got)
	}
}
