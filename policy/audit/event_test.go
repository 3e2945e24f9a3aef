package audit_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

var update = flag.Bool("update", false, "write the golden files")

type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	fail error
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return 0, b.fail
	}
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *buffer) failing(err error) {
	b.mu.Lock()
	b.fail = err
	b.mu.Unlock()
}

var start = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)

func steppingClock() func() time.Time {
	now := start
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func discardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

var jane = &authn.User{
	Name: "jane", UID: "u-1", Groups: []string{"developers", "system:authenticated"},
	Extra: map[string][]string{"scopes": {"a", "b"}, "department": {"x\ny"}},
}

// requests holds the requests for the golden files, which contain the Events of each request at
// every level, in JSON and legacy format.
var requests = []struct {
	name string
	do   func(u *audit.Auditor)
}{
	{"get", func(u *audit.Auditor) {
		a := request("", nil, "get :pods ns/a")
		a.User, a.Version = jane, "v1"
		r := u.Begin(&a, start)
		r.ID, r.URI, r.UserAgent = "id-1", "/api/v1/namespaces/ns/pods/a", "kubectl/v1.35"
		r.SourceIPs = append(r.SourceIPs, netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::1"))
		r.EmitStage(audit.RequestReceived, 0)
		r.SetDecision(authz.Allow, "because")
		setResponse(r, `{"kind":"Pod","metadata":{"name":"a","managedFields":[{"manager":"m"}],"uid":"u"},"spec":{}}`)
		r.EmitStage(audit.ResponseComplete, 200)
		r.Release()
	}},
	{"create", func(u *audit.Auditor) {
		a := request("", nil, "create apps:deployments ns/")
		a.User, a.Version = jane, "v1"
		r := u.Begin(&a, start)
		r.ID, r.URI = "id-2", "/apis/apps/v1/namespaces/ns/deployments?fieldManager=m"
		r.ImpersonatedUser = &authn.User{Name: "john"}
		r.SetHasRequestBody()
		body := "{ \"metadata\" : {\n \"name\":\"a\\u0000\", \"managedFields\":[1] },\t\"spec\":{\"x\":[1,-2.5e3,true,null,\"\x7f\u2028é\"]}}\n"
		r.SetRequestObject(tree.Tree{"metadata": tree.Tree{"name": "a", "uid": "u", "resourceVersion": "7"}})
		r.SetRequest([]byte(body), false)
		r.SetDecision(authz.Allow, "")
		r.SetDeprecated("1.40")
		r.SetStatus(&meta.Status{Code: 422, Reason: meta.ReasonInvalid, Message: `spec.x: Invalid value: "secret"`, Details: &meta.Details{
			Name: "a", Causes: []meta.Cause{{Type: meta.CauseInvalid, Message: `Invalid value: "secret"`, Field: "spec.x"}},
		}})
		setResponse(r, `{"kind":"Status"}`)
		r.EmitStage(audit.ResponseComplete, 422)
		r.Release()
	}},
	{"list", func(u *audit.Auditor) {
		a := request("", nil, "list :nodes")
		a.User, a.Version = &authn.User{Name: "n"}, "v1"
		r := u.Begin(&a, start)
		r.ID, r.URI = "id-3", "/api/v1/nodes"
		setResponse(r, `{"kind":"NodeList","items":[{"metadata":{"managedFields":[{"a":"}"}]}},{"metadata":{"name":"b","managedFields":[]},"spec":{"managedFields":1}}]}`)
		r.EmitStage(audit.ResponseComplete, 200)
		setResponse(r, `{"kind":"Table","rows":[{"cells":[],"object":{"metadata":{"name":"a","managedFields":[]}}}]}`)
		r.EmitStage(audit.ResponseComplete, 200)
		r.Release()
	}},
	{"patch", func(u *audit.Auditor) {
		a := request("", nil, "patch :nodes/status a")
		a.User, a.Version = &authn.User{Name: "n"}, "v1"
		r := u.Begin(&a, start)
		r.ID, r.URI = "id-4", "/api/v1/nodes/a/status"
		r.SetRequest([]byte(`{"metadata":{"managedFields":[]}}`), true)
		r.SetStatus(&meta.Status{Success: true, Code: 200})
		r.EmitStage(audit.ResponseComplete, 200)
		r.Release()
	}},
	{"refused", func(u *audit.Auditor) {
		a := request("", nil, "get /x")
		r := u.Begin(&a, start)
		r.ID, r.URI, r.UserAgent = "id-5\x1b[31m", "/x?\xff\x00\"\\", "a\r\nforged: line\u202e\U000e0001"
		r.SetStatus(&meta.Status{Code: 401, Reason: meta.ReasonUnauthorized, Message: "Authentication failed, attempted: bearer"})
		r.EmitStage(audit.ResponseStarted, 401)
		r.Release()
	}},
	{"panic", func(u *audit.Auditor) {
		a := request("jane", []string{"a", "b"}, "delete :pods ns/a")
		r := u.Begin(&a, start)
		r.ID, r.URI = "id-6", "/api/v1/namespaces/ns/pods/a"
		r.SetStatus(&meta.Status{Code: 500, Reason: meta.ReasonInternalError, Message: "internal error"})
		r.EmitStage(audit.Panic, 500)
		r.Release()
	}},
}

func setResponse(r *audit.Record, doc string) {
	r.SetResponse(len(doc), func() []byte { return []byte(doc) })
}

func TestGoldenEvents(t *testing.T) {
	for _, form := range []struct {
		name, policy string
		legacy       bool
		naming       *meta.Naming
	}{
		{"metadata", "rules: [{level: Metadata}]", false, meta.Platform},
		{"request", "rules: [{level: Request}]", false, meta.Kubernetes},
		{"requestresponse", "omitStages: [RequestReceived]\nrules: [{level: RequestResponse}]", false, meta.Platform},
		{"omitted", "omitManagedFields: true\nrules: [{level: RequestResponse, omitStages: [RequestReceived]}]", false, meta.Platform},
		{"legacy", "rules: [{level: Metadata}]", true, meta.Platform},
	} {
		head := strings.ReplaceAll(policyHead, "platform.io", form.naming.Group("audit")[len("audit."):])
		p := must.Get(decodePolicy(t, form.naming, head+form.policy))(t)
		var b buffer
		u := audit.New(p, form.naming, steppingClock(), audit.NewLog(&b, audit.SinkOptions{Mode: audit.Blocking, Legacy: form.legacy, Logger: discardLogger()}))
		for _, r := range requests {
			r.do(u)
		}
		checkLines(t, form.name, b.String(), form.legacy)
		golden(t, filepath.Join("testdata", form.name+".txt"), b.String())
	}
}

func checkLines(t *testing.T, name, text string, legacy bool) {
	t.Helper()
	for line := range strings.Lines(text) {
		if !legacy && !json.Valid([]byte(line)) {
			t.Errorf("%s: no JSON: %s", name, line)
		}
		for _, c := range strings.TrimSuffix(line, "\n") {
			if c < ' ' || c == 0x7f || c == 0x2028 || c == 0x202e || c == 0xfffd || c == 0xe0001 {
				t.Errorf("%s: %q is in %s", name, c, line)
			}
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

func TestRecordReuse(t *testing.T) {
	var b buffer
	u := audit.New(mustParse(t, "rules: [{level: RequestResponse}]"), meta.Platform, steppingClock(), audit.NewLog(&b, audit.SinkOptions{Mode: audit.Blocking, Logger: discardLogger()}))
	for range 50 {
		requests[1].do(u)
		a := request("", nil, "get /x")
		r := u.Begin(&a, start)
		before := len(b.String())
		r.EmitStage(audit.ResponseComplete, 200)
		const want = `{"kind":"Event","apiVersion":"audit.platform.io/v1","level":"RequestResponse","auditID":"","stage":"ResponseComplete","requestURI":"","verb":"get","user":{},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-21T12:00:00.123456Z","stageTimestamp":"`
		if got := b.String()[before:]; !strings.HasPrefix(got, want) {
			t.Fatalf("got %s, want %s", got, want)
		}
		r.Release()
	}
}

func TestBodiesAreBounded(t *testing.T) {
	var b buffer
	u := audit.New(mustParse(t, "rules: [{level: RequestResponse}]"), meta.Platform, steppingClock(), audit.NewLog(&b, audit.SinkOptions{Mode: audit.Blocking, Logger: discardLogger()}))
	large := `"` + strings.Repeat("x", audit.MaxBody) + `"`
	for _, test := range []struct {
		request, response string
		truncated         bool
	}{{large, "{}", true}, {"{}", large, true}, {"{]\n", "{}", false}} {
		a := request("", nil, "get /x")
		r := u.Begin(&a, start)
		r.SetRequest([]byte(test.request), false)
		setResponse(r, test.response)
		before := len(b.String())
		r.EmitStage(audit.ResponseComplete, 200)
		r.Release()
		got := b.String()[before:]
		if len(got) > 1000 || strings.Contains(got, `"audit.platform.io/truncated":"true"`) != test.truncated {
			t.Errorf("%.10q, %.10q: %.1000s", test.request, test.response, got)
		}
	}
}

func TestLargeEventsAreTruncated(t *testing.T) {
	var short, whole, none buffer
	sink := func(b *buffer, most int) *audit.Sink {
		return audit.NewLog(b, audit.SinkOptions{Mode: audit.Blocking, MaxEventSize: most, Logger: discardLogger()})
	}
	u := audit.New(mustParse(t, "rules: [{level: RequestResponse}]"), meta.Platform, steppingClock(), sink(&short, 1000), sink(&whole, 0), sink(&none, 100))
	a := request("jane", nil, "get /x")
	r := u.Begin(&a, start)
	setResponse(r, `{"a":"`+strings.Repeat("x", 1000)+`"}`)
	if !r.EmitStage(audit.ResponseComplete, 200) {
		t.Error("the request must go on")
	}
	r.Release()
	if got := short.String(); strings.Contains(got, "responseObject") || !strings.Contains(got, `"annotations":{"audit.platform.io/truncated":"true"}`) {
		t.Errorf("the short one: %s", got)
	}
	if got := whole.String(); !strings.Contains(got, "xxxx") || strings.Contains(got, "truncated") {
		t.Errorf("the whole one: %s", got)
	}
	var metrics bytes.Buffer
	u.WriteMetrics(&metrics)
	if none.String() != "" || !strings.Contains(metrics.String(), "apiserver_audit_error_total{plugin=\"log\"} 1\n") {
		t.Errorf("the lost one: %s, %s", none.String(), metrics.String())
	}
}
