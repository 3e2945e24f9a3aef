package storage

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/transcript"
)

// TestOperations replays transcripts about evictions, bindings, Events, reviews and component
// statuses.
func TestOperations(t *testing.T) {
	t.Parallel()
	tokens := map[string]string{"root": "root-token", "jane": "jane-token"}
	transcript.RunServer(t, "testdata/operations", func(c *daemon.Config) {
		c.Controllers += ",-disruption-controller" // leaves the status of PodDisruptionBudgets to the tests
		c.Authentication.TokenAuthFile = filepath.Join(t.TempDir(), "tokens.csv")
		client.WriteFile(t, c.Authentication.TokenAuthFile, "root-token,root,0,\"system:masters\"\njane-token,jane,u1,\"dev,ops\"\n")
	}, transcript.Options{Tokens: tokens})
}

// TestEvictionsTogether checks that concurrent evictions use each allowed disruption exactly once.
func TestEvictionsTogether(t *testing.T) {
	t.Parallel()
	const asked, allowed = 12, 5
	const pods, budgets = "/api/v1/namespaces/default/pods", "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
	s := client.Open(t, func(c *daemon.Config) { c.Controllers += ",-disruption-controller" })
	for i := range asked {
		name := fmt.Sprint("p", i)
		s.Send(201, "POST", pods, client.JSON, `{"metadata":{"name":"`+name+`","labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		s.Send(200, "PATCH", pods+"/"+name+"/status", client.MergePatch, `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
	}
	s.Send(201, "POST", budgets, client.JSON, `{"metadata":{"name":"b"},"spec":{"selector":{"matchLabels":{"app":"a"}}}}`)
	s.Send(200, "PATCH", budgets+"/b/status", client.MergePatch,
		fmt.Sprintf(`{"status":{"observedGeneration":1,"disruptionsAllowed":%d,"currentHealthy":%d,"desiredHealthy":%d,"expectedPods":%[2]d}}`, allowed, asked, asked-allowed))
	evicted := each(asked, func(i int) bool {
		name := fmt.Sprint("p", i)
		a, err := s.Create(s.Ctx, pods+"/"+name+"/eviction", []byte(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"`+name+`"}}`))
		if err != nil || a.Code != 201 && a.Code != 429 {
			t.Errorf("%s, %v", a, err)
		}
		return a.Code == 201
	})
	if list := must.Get(s.List(s.Ctx, pods, nil))(t); evicted != allowed || len(list.Items) != asked-allowed {
		t.Errorf("%d pods were evicted, want %d, and %d are left", evicted, allowed, len(list.Items))
	}
}
