package policy

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

func show(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func dangling(f *flowcontrolv1.FlowSchema) string {
	for _, c := range f.Status.Conditions {
		if c.Type == flowcontrolv1.FlowSchemaConditionDangling {
			return string(c.Status) + " " + c.Reason
		}
	}
	return ""
}

func (s *flowControlServer) level(t testing.TB, name string) types.UID {
	t.Helper()
	return must(s.PriorityLevelConfigurations().Get(context.Background(), name, metav1.GetOptions{}))(t).UID
}

// TestClassification checks that response headers contain the UIDs of the FlowSchema and priority
// level, even with status 403 or 404.
func TestClassification(t *testing.T) {
	t.Parallel()
	s := serveFlowControl(t, nil)
	for _, c := range []struct{ user, method, path, schema, level string }{
		{"admin", "GET", "/api/v1/namespaces/default/pods", "exempt", "exempt"},
		{"jane", "GET", "/readyz", "probes", "exempt"},
		{"jane", "GET", "/api/v1/namespaces/default/pods", "global-default", "global-default"},
		{"jane", "DELETE", "/api/v1/namespaces/default/pods/none", "global-default", "global-default"},
		{"system:node:a", "GET", "/api/v1/nodes/a", "system-node-high", "node-high"},
		{"system:node:a", "GET", "/api/v1/pods?limit=1", "system-nodes", "system"},
		{"system:kube-scheduler", "GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x", "system-leader-election", "leader-election"},
		{"system:kube-scheduler", "GET", "/api/v1/pods", "kube-scheduler", "workload-high"},
		{"system:serviceaccount:kube-system:a", "GET", "/api/v1/pods", "kube-system-service-accounts", "workload-high"},
		{"system:serviceaccount:default:a", "GET", "/api/v1/pods", "service-accounts", "workload-low"},
	} {
		a := s.as(t.Context(), t, c.user, c.method, c.path)
		schema := must(s.FlowSchemas().Get(t.Context(), c.schema, metav1.GetOptions{}))(t).UID
		if a.header.Get(schemaHeader) != string(schema) || a.header.Get(levelHeader) != string(s.level(t, c.level)) {
			t.Errorf("%s %s %s: %d %v, want %s", c.user, c.method, c.path, a.code, a.header, c.schema)
		}
	}
	var watch http.Header
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if w, err := s.FlowSchemas().Watch(ctx, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	} else {
		<-w.ResultChan()
		w.Stop()
	}
	if a := s.as(ctx, t, "jane", "GET", "/api/v1/namespaces?watch=true&timeoutSeconds=1"); a.header.Get(schemaHeader) == "" {
		t.Errorf("a watch has no headers: %v", watch)
	}
}

// slow is a request that occupies its seat for three seconds, because its resource version is never
// reached.
const slow = "/api/v1/namespaces/default/configmaps/x?resourceVersion=9000000000000000"

// TestRefusals checks that a priority level rejects requests when its seats are taken or, if it has
// queues, when the queues are full. Other flows and priority levels are not affected.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := serveFlowControl(t, nil)
	must(s.PriorityLevelConfigurations().Create(t.Context(), levelWith("no-queues", 8, 0, 0), metav1.CreateOptions{}))(t)
	must(s.PriorityLevelConfigurations().Create(t.Context(), levelWith("queues", 8, 2, 3), metav1.CreateOptions{}))(t)
	must(s.FlowSchemas().Create(t.Context(), schemaFor("a", "no-queues", 50, "hasty"), metav1.CreateOptions{}))(t)
	must(s.FlowSchemas().Create(t.Context(), schemaFor("b", "queues", 51, "patient"), metav1.CreateOptions{}))(t)
	for user, level := range map[string]string{"hasty": "no-queues", "patient": "queues"} {
		codes := map[int]int{}
		var mu sync.Mutex // guards codes
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				a := s.as(t.Context(), t, user, "GET", slow)
				mu.Lock()
				defer mu.Unlock()
				codes[a.code]++
				if a.code != 429 {
					return
				}
				var status metav1.Status
				if err := json.Unmarshal([]byte(a.body), &status); err != nil || status.Reason != metav1.StatusReasonTooManyRequests || a.header.Get("Retry-After") == "" ||
					a.header.Get(levelHeader) != string(s.level(t, level)) {
					t.Errorf("%s %v", a.body, a.header)
				}
			})
		}
		all.Wait()
		// Each level has two seats. A level with queues accepts three more requests of this flow.
		if served := codes[504]; codes[429]+served != 12 || codes[429] < 5 || served < 2 || level == "queues" && served < 4 {
			t.Errorf("%s: %v", user, codes)
		}
		if a := s.as(t.Context(), t, "jane", "GET", "/api/v1/namespaces/default/configmaps"); a.code != 200 {
			t.Errorf("another user: %d %s", a.code, a.body)
		}
	}
	metrics := s.as(t.Context(), t, "admin", "GET", "/metrics").body
	for _, want := range []string{
		`apiserver_flowcontrol_rejected_requests_total{flow_schema="a",priority_level="no-queues",reason="concurrency-limit"} `,
		`apiserver_flowcontrol_rejected_requests_total{flow_schema="b",priority_level="queues",reason="queue-full"} `,
		`apiserver_flowcontrol_dispatched_requests_total{flow_schema="b",priority_level="queues"} `,
		`apiserver_flowcontrol_nominal_limit_seats{priority_level="queues"} 2`,
		`apiserver_flowcontrol_current_executing_seats{flow_schema="a",priority_level="no-queues"} 0`,
		`apiserver_flowcontrol_request_wait_duration_seconds_bucket{flow_schema="b",priority_level="queues",execute="true",le="+Inf"} `,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics: no %s", want)
		}
	}
}

// TestWaitIsBounded checks that a request waits in a queue for at most a quarter of its timeout.
func TestWaitIsBounded(t *testing.T) {
	t.Parallel()
	s := serveFlowControl(t, nil)
	none := levelWith("none", 0, 4, 5)
	must(s.PriorityLevelConfigurations().Create(t.Context(), none, metav1.CreateOptions{}))(t)
	must(s.FlowSchemas().Create(t.Context(), schemaFor("none", "none", 50, "nobody"), metav1.CreateOptions{}))(t)
	if a := s.as(t.Context(), t, "nobody", "GET", "/api/v1/namespaces/default/configmaps?timeout=400ms"); a.code != 429 {
		t.Errorf("%d %s", a.code, a.body)
	}
	if m := s.as(t.Context(), t, "admin", "GET", "/metrics").body; !strings.Contains(m, `priority_level="none",reason="time-out"} 1`) {
		t.Error("the time-out is not counted")
	}
	// Once the priority level is deleted, its FlowSchema no longer matches, and requests use
	// another one.
	if err := s.PriorityLevelConfigurations().Delete(t.Context(), "none", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if a := s.as(t.Context(), t, "nobody", "GET", "/api/v1/namespaces/default/configmaps"); a.code != 200 || a.header.Get(levelHeader) != string(s.level(t, "global-default")) {
		t.Errorf("after the level has gone: %d %s", a.code, a.body)
	}
}

// TestDumps checks that the server has the same flow control debug tables as kube-apiserver.
func TestDumps(t *testing.T) {
	t.Parallel()
	s := serveFlowControl(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { s.as(ctx, t, "jane", "GET", slow) })
	const at = "/debug/api_priority_and_fairness/"
	var requests string
	eventually(t, "the request is shown", func() bool {
		requests = s.as(t.Context(), t, "admin", "GET", at+"dump_requests?includeRequestDetails=1").body
		return strings.Contains(requests, "configmaps")
	})
	for _, want := range []string{"PriorityLevelName,", "FlowDistingsher,", "UserName,", "global-default,", "jane,", "/api/v1/namespaces/default/configmaps/x,"} {
		if !strings.Contains(requests, want) {
			t.Errorf("no %q in\n%s", want, requests)
		}
	}
	if a := s.as(t.Context(), t, "admin", "GET", at+"dump_priority_levels"); !strings.Contains(a.body, "workload-low,") || !strings.Contains(a.body, "DispatchedRequests,") || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%v\n%s", a.header, a.body)
	}
	if a := s.as(t.Context(), t, "admin", "GET", at+"dump_queues"); !strings.Contains(a.body, "NextDispatchR,") || !strings.Contains(a.body, "global-default,") {
		t.Errorf("%s", a.body)
	}
}

// TestFlowControlSwitchedOff checks that flow control objects exist but have no effect if flow
// control is disabled.
func TestFlowControlSwitchedOff(t *testing.T) {
	t.Parallel()
	s := serveFlowControl(t, func(c *daemon.Config) { c.Serving.PriorityAndFairness = false })
	s.level(t, "catch-all")
	a := s.as(t.Context(), t, "jane", "GET", "/api/v1/namespaces/default/configmaps")
	if a.code != 200 || a.header.Get(schemaHeader) != "" || s.as(t.Context(), t, "admin", "GET", "/debug/api_priority_and_fairness/dump_queues").code != 404 {
		t.Errorf("%d %v", a.code, a.header)
	}
}

// TestPlatformNames checks objects, headers and API groups in the platform profile.
func TestPlatformNames(t *testing.T) {
	t.Parallel()
	s := serveFlowControl(t, func(c *daemon.Config) { c.Naming = "platform" })
	a := s.as(t.Context(), t, "admin", "GET", "/apis/flowcontrol.apiserver.platform.io/v1/flowschemas/platform-controller-manager")
	if a.code != 200 || !strings.Contains(a.body, `"apf.platform.io/autoupdate-spec":"true"`) || !strings.Contains(a.body, `"system:platform-controller-manager"`) ||
		a.header.Get("X-Platform-Pf-FlowSchema-Uid") == "" || a.header.Get("X-Platform-Pf-PriorityLevel-Uid") == "" {
		t.Errorf("%d %s %v", a.code, a.body, a.header)
	}
}
