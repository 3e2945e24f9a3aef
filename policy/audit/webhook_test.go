package audit_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/remote"
)

type collector struct {
	*httptest.Server
	posts         chan []string // IDs of each accepted list
	mu            sync.Mutex
	responseCodes []int         // codes of the next responses; 0 closes the connection
	gate          chan struct{} // if set, responses wait until it is closed
}

func newCollector(t *testing.T) *collector {
	c := &collector{posts: make(chan []string, 100)}
	c.Server = httptest.NewTLSServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	code, slow := 200, c.gate
	if len(c.responseCodes) > 0 {
		code, c.responseCodes = c.responseCodes[0], c.responseCodes[1:]
	}
	c.mu.Unlock()
	if slow != nil {
		select {
		case <-slow:
		case <-r.Context().Done():
			return
		}
	}
	var list struct {
		Kind, APIVersion string
		Items            []struct{ AuditID, Kind string }
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &list)
	}
	if err != nil || list.Kind != "EventList" || list.APIVersion != "audit.platform.io/v1" {
		code = 400
	}
	if code == 0 {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(code)
	if code == 200 {
		var ids []string
		for _, item := range list.Items {
			ids = append(ids, item.AuditID)
		}
		c.posts <- ids
	}
}

func (c *collector) sink(t *testing.T, o audit.SinkOptions) *audit.Sink {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})
	dir := t.TempDir()
	path := filepath.Join(dir, "kubeconfig")
	text := fmt.Sprintf("clusters: [{name: c, cluster: {server: %q, certificate-authority: ca.crt}}]\n", c.URL)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "ca.crt"), ca, 0o600), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	service, err := remote.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	o.Logger = discardLogger()
	return audit.NewWebhook(service, meta.Platform, time.Millisecond, o)
}

func (c *collector) auditor(t *testing.T, o audit.SinkOptions) *audit.Auditor {
	return audit.New(mustParse(t, onlyComplete), meta.Platform, time.Now, c.sink(t, o))
}

func lostEvents(u *audit.Auditor) string {
	var b strings.Builder
	u.WriteMetrics(&b)
	_, rest, _ := strings.Cut(b.String(), `apiserver_audit_error_total{plugin="webhook"} `)
	n, _, _ := strings.Cut(rest, "\n")
	return n
}

func TestWebhookRecovers(t *testing.T) {
	c := newCollector(t)
	c.responseCodes = []int{500, 0, 429, 503}
	u := c.auditor(t, audit.SinkOptions{Mode: audit.Batch, Batch: audit.BatchOptions{BufferSize: 10, MaxSize: 2, MaxWait: time.Hour}})
	record(u, "a")
	record(u, "b")
	if got := fmt.Sprint(<-c.posts); got != "[a b]" {
		t.Errorf("got %s", got)
	}
	if err := u.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if n := lostEvents(u); n != "0" {
		t.Errorf("%s lost", n)
	}
}

func TestWebhookGivesUp(t *testing.T) {
	for name, fails := range map[string][]int{"it will not do": {400}, "it never does": {500, 500, 500, 500, 500}, "it is elsewhere": {307}} {
		c := newCollector(t)
		c.responseCodes = fails
		u := c.auditor(t, audit.SinkOptions{Mode: audit.Blocking})
		if !record(u, "a") {
			t.Errorf("%s: the request was refused", name)
		}
		if n := lostEvents(u); n != "1" || len(c.posts) != 0 || len(c.responseCodes) != 0 {
			t.Errorf("%s: %s lost, %d posted, %d answers left", name, n, len(c.posts), len(c.responseCodes))
		}
		record(u, "b")
		if got := fmt.Sprint(<-c.posts); got != "[b]" {
			t.Errorf("%s: then %s", name, got)
		}
	}
}

func TestSlowWebhook(t *testing.T) {
	c := newCollector(t)
	c.gate = make(chan struct{})
	u := c.auditor(t, audit.SinkOptions{Mode: audit.Batch, Batch: audit.BatchOptions{BufferSize: 10, MaxSize: 1}})
	for n := range 100 {
		if !record(u, fmt.Sprint(n)) {
			t.Fatal("a request was refused")
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := u.Close(ctx); err == nil || !strings.Contains(err.Error(), "not stored in time") {
		t.Errorf("close: %v", err)
	}
	close(c.gate)
}

func TestWebhookIsFlushed(t *testing.T) {
	c := newCollector(t)
	c.gate = make(chan struct{})
	u := c.auditor(t, audit.SinkOptions{Mode: audit.Batch, Batch: audit.BatchOptions{BufferSize: 100, MaxSize: 1, ThrottleQPS: 0.001, ThrottleBurst: 1}})
	want := map[string]bool{}
	for n := range 9 {
		want[fmt.Sprint([]int{n})] = true
		record(u, fmt.Sprint(n))
	}
	close(c.gate)
	if err := u.Close(context.Background()); err != nil {
		t.Error(err)
	}
	for range 9 {
		delete(want, fmt.Sprint(<-c.posts))
	}
	if len(want) > 0 || lostEvents(u) != "0" {
		t.Errorf("missing %v, lost %s", want, lostEvents(u))
	}
}
