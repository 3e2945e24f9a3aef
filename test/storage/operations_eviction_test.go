package storage

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// pods and budgets are collections in a namespace.
func pods(ns string) string    { return "/api/v1/namespaces/" + ns + "/pods" }
func budgets(ns string) string { return "/apis/policy/v1/namespaces/" + ns + "/poddisruptionbudgets" }

// wantCode fails the test unless the answer has a code.
func wantCode(t *testing.T, code int) func(a client.Answer, err error) client.Answer {
	t.Helper()
	return func(a client.Answer, err error) client.Answer {
		t.Helper()
		must.Succeed(t, err)
		if a.Code != code {
			t.Fatalf("want %d, got %s", code, a)
		}
		return a
	}
}

// textOperations is JSON as a body.
func textOperations(format string, args ...any) []byte { return fmt.Appendf(nil, format, args...) }

// withoutBudgets leaves the status of budgets to the tests.
func withoutBudgets(c *daemon.Config) { c.Controllers += ",-disruption-controller" }

// newPod makes a Pod with a status.
func newPod(t *testing.T, s *client.Server, ns, name, status string) {
	t.Helper()
	wantCode(t, 201)(s.Create(t.Context(), pods(ns), textOperations(`{"metadata":{"name":%q,"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, name)))
	wantCode(t, 200)(s.Patch(t.Context(), pods(ns)+"/"+name+"/status", textOperations(`{"status":%s}`, status)))
}

// newBudget makes a budget for the Pods with the label app=a.
func newBudget(t *testing.T, s *client.Server, ns, name, spec, status string) {
	t.Helper()
	wantCode(t, 201)(s.Create(t.Context(), budgets(ns), textOperations(`{"metadata":{"name":%q},"spec":{"selector":{"matchLabels":{"app":"a"}}%s}}`, name, spec)))
	wantCode(t, 200)(s.Patch(t.Context(), budgets(ns)+"/"+name+"/status", textOperations(`{"status":%s}`, status)))
}

func evict(t *testing.T, s *client.Server, ns, name, query, options string) client.Answer {
	t.Helper()
	a := must.Get(s.Create(t.Context(), pods(ns)+"/"+name+"/eviction"+query,
		textOperations(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%q}%s}`, name, options)))(t)
	return a
}

const (
	ready   = `{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`
	unready = `{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}`
)

// statusOperations is a budget's status, seen at generation 1.
func statusOperations(allowed, healthy, desired int) string {
	return fmt.Sprintf(`{"observedGeneration":1,"disruptionsAllowed":%d,"currentHealthy":%d,"desiredHealthy":%d,"expectedPods":%d}`, allowed, healthy, desired, healthy)
}

func TestEviction(t *testing.T) {
	t.Parallel()
	const (
		refused    = "Cannot evict pod as it would violate the pod's disruption budget."
		exhausted  = "The disruption budget b needs 2 healthy pods and has 2 currently"
		processing = "The disruption budget b is still being processed by the server."
	)
	s := client.Serve(t, t.TempDir(), withoutBudgets)
	for i, c := range []struct {
		name, pod, spec, status string // of the Pod, and of the budget b
		query, options          string
		code                    int
		contains, retry         string
		gone                    bool
		left                    float64 // disruptions that the budget still allows
	}{
		{name: "no budget", pod: ready, code: 201, gone: true},
		{name: "allowed", pod: ready, status: statusOperations(2, 3, 1), code: 201, gone: true, left: 1},
		{name: "last", pod: ready, status: statusOperations(1, 3, 2), code: 201, gone: true},
		{name: "exhausted", pod: ready, status: statusOperations(0, 2, 2), code: 429, contains: exhausted},
		{name: "not seen", pod: ready, status: `{"observedGeneration":0,"disruptionsAllowed":5}`, code: 429, contains: processing, retry: "10", left: 5},
		{name: "pending", pod: `{"phase":"Pending"}`, status: statusOperations(0, 2, 2), code: 201, gone: true},
		{name: "succeeded", pod: `{"phase":"Succeeded"}`, status: statusOperations(0, 2, 2), code: 201, gone: true},
		{name: "failed", pod: `{"phase":"Failed"}`, status: statusOperations(0, 2, 2), code: 201, gone: true},
		{name: "unready and enough healthy", pod: unready, status: statusOperations(0, 2, 2), code: 201, gone: true},
		{name: "unready and too few healthy", pod: unready, status: statusOperations(0, 1, 2), code: 429, contains: "has 1 currently"},
		{name: "unready is let go", pod: unready, spec: `,"unhealthyPodEvictionPolicy":"AlwaysAllow"`, status: statusOperations(0, 1, 2), code: 201, gone: true},
		{name: "dry run", pod: ready, status: statusOperations(2, 3, 1), query: "?dryRun=All", code: 201, left: 2},
		{name: "dry run in the body", pod: ready, status: statusOperations(2, 3, 1), options: `,"deleteOptions":{"dryRun":["All"]}`, code: 201, left: 2},
		{name: "other pod of that name", pod: ready, options: `,"deleteOptions":{"preconditions":{"uid":"x"}}`, code: 409, contains: "UID in the precondition (x)"},
		{name: "other version", pod: `{"phase":"Pending"}`, options: `,"deleteOptions":{"preconditions":{"resourceVersion":"1"}}`, code: 409, contains: "ResourceVersion in the precondition (1)"},
		{name: "bad options", pod: ready, options: `,"deleteOptions":{"propagationPolicy":"Up"}`, code: 422, contains: `propagationPolicy: Unsupported value: \"Up\"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := fmt.Sprint("n", i)
			wantCode(t, 201)(s.Create(t.Context(), "/api/v1/namespaces", textOperations(`{"metadata":{"name":%q}}`, ns)))
			newPod(t, s, ns, "p", c.pod)
			if c.status != "" {
				newBudget(t, s, ns, "b", c.spec, c.status)
			}
			a := evict(t, s, ns, "p", c.query, c.options)
			if a.Code != c.code || !strings.Contains(string(a.Body), c.contains) || a.Header.Get("Retry-After") != c.retry {
				t.Errorf("got %s and Retry-After %q", a, a.Header.Get("Retry-After"))
			}
			if a.Code == 429 && !strings.Contains(string(a.Body), refused) {
				t.Errorf("got %s", a)
			}
			left := map[bool]int{true: 404, false: 200}[c.gone]
			wantCode(t, left)(s.Get(t.Context(), pods(ns)+"/p"))
			if c.status == "" {
				return
			}
			st, _ := wantCode(t, 200)(s.Get(t.Context(), budgets(ns)+"/b")).Object()["status"].(map[string]any)
			if st["disruptionsAllowed"] != c.left {
				t.Errorf("the budget allows %v, want %v", st["disruptionsAllowed"], c.left)
			}
			disrupted, _ := st["disruptedPods"].(map[string]any)
			if _, told := disrupted["p"]; told != (c.name == "allowed" || c.name == "last") {
				t.Errorf("disrupted: %v", st["disruptedPods"])
			}
		})
	}
}

func TestEvictionOfNothing(t *testing.T) {
	t.Parallel()
	const ns = "default"
	s := client.Serve(t, t.TempDir(), withoutBudgets)
	if a := evict(t, s, ns, "p", "", ""); a.Code != 404 {
		t.Errorf("got %s", a)
	}
	newPod(t, s, ns, "p", ready)
	wantCode(t, 400)(s.Create(t.Context(), pods(ns)+"/p/eviction", textOperations(`{"metadata":{"name":"q"}}`)))
	newBudget(t, s, ns, "b", "", statusOperations(1, 1, 0))
	newBudget(t, s, ns, "c", "", statusOperations(1, 1, 0))
	if a := evict(t, s, ns, "p", "", ""); a.Code != 500 || !strings.Contains(string(a.Body), "more than one PodDisruptionBudget") {
		t.Errorf("got %s", a)
	}
	wantCode(t, 200)(s.Get(t.Context(), pods(ns)+"/p"))
}

// TestEvictionsTogether spends every disruption once, however many ask at a time.
func TestEvictionsTogether(t *testing.T) {
	t.Parallel()
	const ns, asked, allowed = "default", 12, 5
	s := client.Serve(t, t.TempDir(), withoutBudgets)
	for i := range asked {
		newPod(t, s, ns, fmt.Sprint("p", i), ready)
	}
	newBudget(t, s, ns, "b", "", statusOperations(allowed, asked, asked-allowed))
	codes := make([]int, asked)
	var running sync.WaitGroup
	for i := range codes {
		running.Go(func() { codes[i] = evict(t, s, ns, fmt.Sprint("p", i), "", "").Code })
	}
	running.Wait()
	count := map[int]int{}
	for _, code := range codes {
		count[code]++
	}
	if count[201] != allowed || count[429] != asked-allowed {
		t.Errorf("codes %v, want %d times 201", count, allowed)
	}
	list, err := s.List(t.Context(), pods(ns), nil)
	if err != nil || len(list.Items) != asked-allowed {
		t.Errorf("%d pods are left, %v", len(list.Items), err)
	}
}

func TestBindings(t *testing.T) {
	t.Parallel()
	const ns = "default"
	s := client.Serve(t, t.TempDir(), withoutBudgets)
	newPod(t, s, ns, "p", `{"phase":"Pending"}`)
	const bindings = "/api/v1/namespaces/default/bindings"
	wantCode(t, 201)(s.Create(t.Context(), bindings, textOperations(`{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`)))
	spec, _ := wantCode(t, 200)(s.Get(t.Context(), pods(ns)+"/p")).Object()["spec"].(map[string]any)
	if spec["nodeName"] != "n" {
		t.Errorf("the pod is on %v", spec["nodeName"])
	}
	wantCode(t, 404)(s.Create(t.Context(), bindings, textOperations(`{"metadata":{"name":"q"},"target":{"kind":"Node","name":"n"}}`)))
	wantCode(t, 400)(s.Create(t.Context(), bindings, textOperations(`{"target":{"kind":"Node","name":"n"}}`)))
}
