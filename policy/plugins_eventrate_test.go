package policy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

const eventLimits = "apiVersion: eventratelimit.admission.platform.io/v1alpha1\nkind: Configuration\nlimits: "

func newEventChain(t *testing.T, now *time.Time, limits string) *admission.Chain {
	t.Helper()
	config := must.Get(decodeConfig(t, meta.Platform, "EventRateLimit", eventLimits+limits))(t)
	return newChain(t, nil, meta.Platform, admission.PluginConfig{Enabled: []string{"EventRateLimit"}}, plugins.EventRateLimit(config, func() time.Time { return *now }))
}

func TestEventRateLimit(t *testing.T) {
	now := time.Now()
	for _, c := range readCases[[]struct {
		Limits string
		Events []struct {
			After int // milliseconds
			About string
			Fault string // message of the 429 error; "" if admitted
		}
	}](t, "admission/eventrate") {
		chain := newEventChain(t, &now, c.Limits)
		for i, e := range c.Events {
			now = now.Add(time.Duration(e.After) * time.Millisecond)
			event := parseTree(t, `{"involvedObject":{"apiVersion":"v1","kind":"Pod","name":"`+e.About+`","namespace":"ns","uid":"u"},"source":{"component":"c","host":"h"}}`)
			if err := admit(newAttributes(t, chain, "/events", nil, event, request.Mutation{DryRun: true})); err != nil {
				t.Errorf("%v, event %d: a dry run is refused: %v", c.Limits, i, err)
			}
			err := admit(newAttributes(t, chain, "/events", nil, event, request.Mutation{}))
			if e.Fault == "" {
				if err != nil {
					t.Errorf("%v, event %d: %v", c.Limits, i, err)
				}
				continue
			}
			status := meta.AsStatus(err)
			if err == nil || status.Code != http.StatusTooManyRequests || status.Reason != meta.ReasonTooManyRequests || status.Message != "Too many requests: "+e.Fault {
				t.Errorf("%v, event %d: got %v, want %q", c.Limits, i, err, e.Fault)
			}
		}
	}
}

func TestEventRateLimitOfRepeatedRequest(t *testing.T) {
	now := time.Now()
	chain := newEventChain(t, &now, "[{type: Server, qps: 1, burst: 2}]")
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

func TestEventLimits(t *testing.T) {
	checkFaults(t, "admission/eventlimits", func(text string) error {
		_, err := decodeConfig(t, meta.Platform, "EventRateLimit", text)
		return err
	})
	config := must.Get(decodeConfig(t, meta.Kubernetes, "EventRateLimit", strings.Replace(eventLimits, "platform", "k8s", 1)+"[{type: User, qps: 1, burst: 2}]"))(t)
	if size, _ := config.Objects("limits")[0].Int("cacheSize"); size != 4096 {
		t.Errorf("got %v", config)
	}
}
