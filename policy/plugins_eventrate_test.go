package policy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

func TestEventRateLimit(t *testing.T) {
	now := time.Now()
	const pod = `{"involvedObject":{"apiVersion":"v1","kind":"Pod","name":"%s","namespace":"ns","uid":"u"},"source":{"component":"c","host":"h"}}`
	about := func(name string) string { return fmt.Sprintf(pod, name) }
	type step struct {
		wait time.Duration
		new  string
		want string // message of a 429; "" if admitted
	}
	for _, c := range []struct {
		limits []plugins.EventLimit
		steps  []step
	}{
		{nil, []step{{0, "{}", ""}}},
		{[]plugins.EventLimit{{Type: plugins.ServerLimit, QPS: 2, Burst: 3}}, []step{
			{0, "{}", ""}, {0, "{}", ""}, {0, "{}", ""}, {0, "{}", "limit reached on type Server for key "},
			{400 * time.Millisecond, "{}", "limit reached on type Server for key "}, {100 * time.Millisecond, "{}", ""}, {time.Hour, "{}", ""}, {0, "{}", ""}, {0, "{}", ""},
			{0, "{}", "limit reached on type Server for key "},
		}},
		{[]plugins.EventLimit{{Type: plugins.NamespaceLimit, QPS: 1, Burst: 1}, {Type: plugins.UserLimit, QPS: 1, Burst: 1}}, []step{
			{0, "{}", ""}, {0, "{}", "[limit reached on type Namespace for key ns, limit reached on type User for key jane]"},
		}},
		{[]plugins.EventLimit{{Type: plugins.SourceAndObjectLimit, QPS: 1, Burst: 1, CacheSize: 2}}, []step{
			{0, about("a"), ""}, {0, about("a"), "limit reached on type SourceAndObject for key chPodnsauv1"}, {0, about("b"), ""},
			{0, about("a"), "limit reached on type SourceAndObject for key chPodnsauv1"},
			{0, about("c"), ""}, // evicts b, the least recently used
			{0, about("a"), "limit reached on type SourceAndObject for key chPodnsauv1"},
			{0, about("b"), ""},
		}},
	} {
		chain := newChain(t, storedObjects{}, plugins.EventRateLimit(c.limits, func() time.Time { return now }))
		for i, s := range c.steps {
			now = now.Add(s.wait)
			if err := admit(t, chain, "/events", nil, parseTree(t, s.new), &request.Mutation{DryRun: true}); err != nil {
				t.Errorf("%v, step %d: a dry run is refused: %v", c.limits, i, err)
			}
			err := admit(t, chain, "/events", nil, parseTree(t, s.new), &request.Mutation{})
			if s.want == "" {
				if err != nil {
					t.Errorf("%v, step %d: %v", c.limits, i, err)
				}
				continue
			}
			status := meta.AsStatus(err)
			if err == nil || status.Code != http.StatusTooManyRequests || status.Reason != meta.ReasonTooManyRequests || status.Message != "Too many requests: "+s.want {
				t.Errorf("%v, step %d: got %v, want %q", c.limits, i, err, s.want)
			}
		}
	}
}

// TestEventRateLimitOfRepeatedRequest tests that a request takes its tokens once, even if it is
// recomputed after a conflict.
func TestEventRateLimitOfRepeatedRequest(t *testing.T) {
	now := time.Now()
	chain := newChain(t, storedObjects{}, plugins.EventRateLimit([]plugins.EventLimit{{Type: plugins.ServerLimit, QPS: 1, Burst: 2}}, func() time.Time { return now }))
	repeats := func() (err error) {
		m := &request.Mutation{Kind: kind("", "events"), Key: meta.Key{Namespace: "ns", Name: "o"}}
		m.Admission = chain.For(jane, m.Kind, "", "ns")
		for range 5 {
			if _, failed := request.NewAttributes(t.Context(), m, tree.Tree{}, tree.Tree{}).AdmitLast(); failed != nil {
				err = failed
			}
		}
		return err
	}
	for i := range 2 {
		if err := repeats(); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
	if repeats() == nil {
		t.Error("a third request has found a token")
	}
}

func TestParseEventLimits(t *testing.T) {
	const head = `"apiVersion":"eventratelimit.admission.platform.io/v1alpha1","kind":"Configuration"`
	for _, c := range []struct{ text, want, faults string }{
		{"", "", "limits: must not be empty"},
		{`{` + head + `}`, "", "limits: must not be empty"},
		{`{"kind":"X","limits":[{"type":"Server","qps":1,"burst":2}]}`, "", "apiVersion: \"\" is not eventratelimit.admission.platform.io/v1alpha1\nkind: \"X\" is not Configuration"},
		{`{` + head + `,"limits":[{"type":"Server","qps":1,"burst":2,"cacheSize":-1},{"type":"User","qps":3,"burst":4,"cacheSize":5}]}`, "[{Server 1 2 -1} {User 3 4 5}]", ""},
		{`{` + head + `,"x":1,"limits":[{"type":"Pod","y":1,"burst":-2,"qps":"3"}]}`, "",
			"x: there is no such field\nlimits[0].y: there is no such field\nlimits[0].qps: must be a whole number\n" +
				"limits[0].type: \"Pod\" is none of Namespace, Server, SourceAndObject, User\nlimits[0].burst: must be positive\nlimits[0].qps: must be positive"},
		{`{` + head + `,"limits":[{"type":"User","qps":9999999999,"burst":1,"cacheSize":-1}]}`, "",
			"limits[0].qps: 9999999999 is too large\nlimits[0].cacheSize: must not be negative"},
	} {
		limits, err := plugins.ParseEventLimits(parseTree(t, c.text), meta.Platform)
		if c.faults == "" && (err != nil || fmt.Sprint(limits) != c.want) || c.faults != "" && (err == nil || err.Error() != c.faults) {
			t.Errorf("%s: got %v, %v", c.text, limits, err)
		}
	}
	if _, err := plugins.ParseEventLimits(parseTree(t, strings.ReplaceAll(`{`+head+`,"limits":[{"type":"Server","qps":1,"burst":2}]}`, "platform.io", "k8s.io")), meta.Kubernetes); err != nil {
		t.Error(err)
	}
}
