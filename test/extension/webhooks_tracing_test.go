package extension

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	ensure "github.com/troupe-api/troupe/internal/must" // must is a function of this package
	"github.com/troupe-api/troupe/test/client"
)

// A traceCollector receives spans with the OpenTelemetry protocol.
type traceCollector struct {
	collector.UnimplementedTraceServiceServer
	address string

	mu    sync.Mutex
	spans []*traces.Span
	names map[string]bool // service.name of all resources
}

func startCollector(t *testing.T) *traceCollector {
	t.Helper()
	listener := ensure.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	c := &traceCollector{address: listener.Addr().String(), names: map[string]bool{}}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return c
}

func (c *traceCollector) Export(_ context.Context, r *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range r.ResourceSpans {
		c.names[attributes(resource.Resource.Attributes)["service.name"]] = true
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// attributes returns the text of each attribute, whatever its type.
func attributes(list []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			all[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			all[a.Key] = fmt.Sprint(v.IntValue)
		}
	}
	return all
}

func openTraced(t *testing.T, endpoint string, rate int, log *client.Log) webhookSession {
	t.Helper()
	path := t.TempDir() + "/tracing.yaml"
	client.WriteFile(t, path, fmt.Sprintf("{apiVersion: apiserver.config.platform.io/v1, kind: TracingConfiguration, endpoint: %q, samplingRatePerMillion: %d}", endpoint, rate))
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort, config.TracingConfigFile = t.TempDir(), 0, path
	quietControllers(&config)
	ctx, cancel := context.WithTimeout(t.Context(), 2*client.Watchdog)
	t.Cleanup(cancel)
	return webhookSession{client.Session{Server: client.ServeConfig(t, config, log), Ctx: ctx, T: t}, "platform"}
}

// TestTracing checks which requests are traced, and the spans of a request.
func TestTracing(t *testing.T) {
	t.Parallel()
	trace := func(n int) string { return strings.Repeat(fmt.Sprint(n), 32) }
	const parent = "00f067aa0ba902b7"
	for _, test := range []struct {
		name                 string
		rate                 int
		anonymous            bool
		flags                string // of the parent; "" for no parent
		traced, child, links bool
	}{
		{name: "without a parent", traced: false},
		{name: "parent not sampled", flags: "00", traced: false},
		{name: "parent sampled", flags: "01", traced: true, child: true},
		{name: "parent of an unprivileged user", anonymous: true, flags: "01", traced: false},
		{name: "all", rate: 1_000_000, traced: true},
		{name: "all, and a parent", rate: 1_000_000, flags: "01", traced: true, child: true},
		{name: "all, and a parent not sampled", rate: 1_000_000, flags: "00", traced: false},
		{name: "all, and a parent of an unprivileged user", rate: 1_000_000, anonymous: true, flags: "01", traced: true, links: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := startCollector(t)
			s := openTraced(t, c.address, test.rate, &client.Log{})
			caller := s.Client
			if test.anonymous {
				caller = caller.WithoutCertificate(t)
			}
			header := http.Header{"User-Agent": {"traced"}}
			if test.flags != "" {
				header.Set("Traceparent", "00-"+trace(7)+"-"+parent+"-"+test.flags)
			}
			answer := ensure.Get(caller.With(header).Get(s.Ctx, "/version?token=secret"))(t)
			s.Stop(t)
			c.spans = slices.DeleteFunc(c.spans, func(s *traces.Span) bool { return attributes(s.Attributes)["user_agent.original"] != "traced" })
			if !test.traced {
				if len(c.spans) > 0 {
					t.Errorf("got %v, want no spans", c.spans)
				}
				return
			}
			if len(c.spans) != 1 {
				t.Fatalf("got %v, want one span", c.spans)
			}
			span := c.spans[0]
			got := attributes(span.Attributes)
			want := map[string]string{
				"http.request.method": "GET", "http.response.status_code": "200", "http.target": "/version?token=REDACTED", "url.path": "/version",
				"url.scheme": "https", "client.address": "127.0.0.1", "audit-id": answer.Header.Get("Audit-Id"), "user_agent.original": "traced",
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || span.Name != "GET" || span.Kind != traces.Span_SPAN_KIND_SERVER || !c.names["apiserver"] {
				t.Errorf("got %v with attributes %v, want %v", span, got, want)
			}
			if span.StartTimeUnixNano == 0 || span.EndTimeUnixNano < span.StartTimeUnixNano {
				t.Errorf("from %d to %d", span.StartTimeUnixNano, span.EndTimeUnixNano)
			}
			if child := fmt.Sprintf("%x", span.TraceId) == trace(7) && fmt.Sprintf("%x", span.ParentSpanId) == parent; child != test.child {
				t.Errorf("the span continues the trace: %v, want %v", child, test.child)
			}
			if links := len(span.Links) == 1 && fmt.Sprintf("%x", span.Links[0].TraceId) == trace(7); links != test.links {
				t.Errorf("the span has a link: %v, want %v", links, test.links)
			}
		})
	}
}

// TestTracedPath checks that spans limit the length of strings, and replace invalid UTF-8.
func TestTracedPath(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"long": "/" + strings.Repeat("a", 8000), "invalid": "/%ff"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCollector(t)
			s := openTraced(t, c.address, 1_000_000, &client.Log{})
			ensure.Get(s.With(http.Header{"User-Agent": {"traced"}}).Get(s.Ctx, path))(t)
			s.Stop(t)
			c.spans = slices.DeleteFunc(c.spans, func(s *traces.Span) bool { return attributes(s.Attributes)["user_agent.original"] != "traced" })
			if len(c.spans) != 1 || len(attributes(c.spans[0].Attributes)["url.path"]) > 1<<10 {
				t.Errorf("got %v, want one span with short strings", c.spans)
			}
		})
	}
}

// TestTracedWebhook checks that the span of a write contains those of the store and of webhooks,
// and that webhooks receive the trace.
func TestTracedWebhook(t *testing.T) {
	t.Parallel()
	c, h := startCollector(t), startWebhooks(t, allow)
	s := openTraced(t, "dns:///"+c.address, 0, &client.Log{})
	s.register("ValidatingWebhookConfiguration", "validates", webhookHook{rules: onlyConfigMaps}.text(h))
	s.register("MutatingWebhookConfiguration", "mutates", webhookHook{rules: onlyConfigMaps}.text(h))
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	traced := s.Client.With(http.Header{"Traceparent": {"00-" + id + "-00f067aa0ba902b7-01"}})
	answer := ensure.Get(traced.Create(s.Ctx, configMaps, []byte(configMap("traced", ""))))(t)
	if answer.Code != http.StatusCreated {
		t.Fatal(answer)
	}
	ensure.Get(traced.Get(s.Ctx, configMaps+"/missing"))(t)
	received := h.questions()
	s.Stop(t)
	byID := map[string]*traces.Span{}
	for _, span := range c.spans {
		byID[string(span.SpanId)] = span
	}
	var got []string
	for _, span := range c.spans {
		path := span.Name
		for above := byID[string(span.ParentSpanId)]; above != nil; above = byID[string(above.ParentSpanId)] {
			path = above.Name + " > " + path
		}
		if a := attributes(span.Attributes); a["webhook"] != "" {
			path += " " + a["configuration"] + "/" + a["webhook"]
		}
		got = append(got, path+strings.TrimSuffix(" "+span.Status.GetCode().String(), " STATUS_CODE_UNSET"))
	}
	slices.Sort(got)
	const create, get = "POST /api/v1/namespaces/{:namespace}/configmaps", "GET /api/v1/namespaces/{:namespace}/configmaps/{:name}"
	want := []string{
		get, get + " > Get STATUS_CODE_ERROR",
		create, create + " > Create",
		create + " > Create > Call mutating webhook mutates/hook.example.com",
		create + " > Create > Call validating webhook validates/hook.example.com",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got spans\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(received) != 2 {
		t.Fatalf("the webhooks received %d reviews, want 2", len(received))
	}
	for _, q := range received {
		part := strings.Split(q.header.Get("Traceparent"), "-")
		if len(part) != 4 || part[1] != id || !strings.HasPrefix(byID[string(ensure.Get(hex.DecodeString(part[2]))(t))].GetName(), "Call ") {
			t.Errorf("a webhook received the trace %v", part)
		}
	}
}

// TestTracingWithoutCollector checks that a missing collector affects no request, and that the log
// names it.
func TestTracingWithoutCollector(t *testing.T) {
	t.Parallel()
	listener := ensure.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ensure.Succeed(t, listener.Close())
	var log client.Log
	s := openTraced(t, listener.Addr().String(), 1_000_000, &log)
	s.create(http.StatusCreated, "traced", "")
	s.Stop(t)
	if text := log.String(); !strings.Contains(text, "traces") || !strings.Contains(text, listener.Addr().String()) {
		t.Errorf("the log does not name the collector: %s", text)
	}
}

// TestTracingFile checks the errors of the configuration file.
func TestTracingFile(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: apiserver.config.platform.io/v1\nkind: TracingConfiguration\n"
	for text, want := range map[string]string{
		header: "",
		strings.Replace(header, "v1", "v1beta1", 1) + "samplingRatePerMillion: 100": "",
		header + "endpoint: unix:///run/otel.sock":                                  "",
		header + "samplingRatePerMillion: -1":                                       "samplingRatePerMillion: Invalid value: -1: sampling rate must be positive",
		header + "samplingRatePerMillion: 1000001":                                  "samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million",
		header + "endpoint: https://localhost:4317":                                 `endpoint: Invalid value: "https://localhost:4317": unsupported scheme`,
		header + "sampling: 1":                                                      `unknown field "sampling"`,
		header + "samplingRatePerMillion: all":                                      "samplingRatePerMillion",
		strings.Replace(header, "platform.io", "k8s.io", 1):                         "must be one of",
	} {
		path := t.TempDir() + "/tracing.yaml"
		client.WriteFile(t, path, text)
		config := daemon.Default()
		config.DataDir, config.Serving.SecurePort, config.Ephemeral, config.TracingConfigFile = t.TempDir(), 0, true, path
		d := ensure.Get(daemon.New(config, nil))(t)
		err := d.Start()
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--tracing-config-file "+path)):
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
		ensure.Succeed(t, d.Stop(t.Context()))
	}
}
