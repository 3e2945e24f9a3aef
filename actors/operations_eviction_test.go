package actors_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/operations"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

// cluster is a store with the kinds that evictions need. It can call a function before each
// mutation to simulate a concurrent writer.
type cluster struct {
	*actors.Store
	t             *testing.T
	pods, budgets *schema.Kind
	before        func(m request.Mutation)
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	kinds := must.Get(catalog.New(meta.Platform))(t)
	journal := must.Get(persist.Open("/data", persist.Options{FS: vfs.NewMem(), Sync: persist.SyncAlways}))(t)
	store := must.Get(actors.Open(actors.Options{Log: journal, Catalog: kinds, Naming: meta.Platform, Tuning: actors.DefaultTuning()}))(t)
	t.Cleanup(func() {
		if err := errors.Join(store.Close(context.Background()), journal.Close()); err != nil {
			t.Error(err)
		}
	})
	return &cluster{Store: store, t: t, pods: kinds.Kind("", "v1", "pods"), budgets: kinds.Kind("policy", "v1", "poddisruptionbudgets")}
}

func (c *cluster) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	if c.before != nil {
		c.before(m)
	}
	return c.Store.Mutate(ctx, m)
}

func (c *cluster) key(k *schema.Kind, name string) meta.Key {
	return meta.Key{GroupResource: k.Storage, Namespace: "default", Name: name}
}

func (c *cluster) put(k *schema.Kind, name, spec, status string) {
	c.t.Helper()
	object := c.parse(k, `{"metadata":{"name":"`+name+`","namespace":"default","labels":{"app":"web"}},"spec":{`+spec+`}}`)
	m := request.Mutation{Kind: k, Key: c.key(k, name), Change: request.Create{Object: object}}
	must.Get(c.Store.Mutate(context.Background(), m))(c.t)
	c.setStatus(k, name, status)
}

func (c *cluster) setStatus(k *schema.Kind, name, status string) {
	c.t.Helper()
	must.Get(c.Store.Mutate(context.Background(), request.Mutation{Kind: k, Key: c.key(k, name), Subresource: "status",
		Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"status":{` + status + `}}`)}}))(c.t)
}

func (c *cluster) evict(ctx context.Context, v operations.Eviction) error {
	v.Key = c.key(c.pods, "p")
	return operations.NewEvictor(c, c.pods, c.budgets).Evict(ctx, v)
}

func (c *cluster) parse(k *schema.Kind, text string) tree.Tree {
	c.t.Helper()
	object, faults, err := codec.DecodeJSON(k.Message(), []byte(text))
	if err != nil || len(faults) > 0 {
		c.t.Fatal(text, faults, err)
	}
	return object
}

func (c *cluster) get(k *schema.Kind, name string) tree.Tree {
	c.t.Helper()
	o, err := c.Get(context.Background(), request.Get{Kind: k, Key: c.key(k, name)})
	if err != nil {
		return nil
	}
	return must.Get(codec.DecodeStored(k.Message(), o.JSON))(c.t)
}

const (
	podSpec    = `"containers":[{"name":"c","image":"i"}]`
	ready      = `"phase":"Running","conditions":[{"type":"Ready","status":"True"}]`
	unready    = `"phase":"Running","conditions":[{"type":"Ready","status":"False"}]`
	budgetSpec = `"selector":{"matchLabels":{"app":"web"}}`
)

func budgetStatus(allowed, healthy, desired int) string {
	return fmt.Sprintf(`"observedGeneration":1,"expectedPods":3,"disruptionsAllowed":%d,"currentHealthy":%d,"desiredHealthy":%d`, allowed, healthy, desired)
}

// TestEvictionsThatDoNotEnd checks that a budget rejects evictions while too many evicted Pods
// still exist.
func TestEvictionsThatDoNotEnd(t *testing.T) {
	disrupted := strings.Builder{}
	for i := range 2001 {
		fmt.Fprintf(&disrupted, `"p%d":"2030-01-01T00:00:00Z",`, i)
	}
	s := newCluster(t)
	s.put(s.pods, "p", podSpec, ready)
	s.put(s.budgets, "b", budgetSpec, budgetStatus(1, 3, 2)+`,"disruptedPods":{`+strings.TrimSuffix(disrupted.String(), ",")+`}`)
	checkError(t, s.evict(t.Context(), operations.Eviction{}), 403, "map too big")
	if left, _ := s.get(s.budgets, "b").Object("status").Int("disruptionsAllowed"); left != 1 || s.get(s.pods, "p") == nil {
		t.Errorf("the budget allows %d", left)
	}
	if err := operations.NewEvictor(s, s.pods, nil).Evict(t.Context(), operations.Eviction{Key: s.key(s.pods, "p")}); err != nil {
		t.Errorf("without a kind of budgets: %v", err)
	}
}

func checkError(t *testing.T, err error, code int, says string) {
	t.Helper()
	if err == nil {
		if code != 0 {
			t.Errorf("no error, want %d %s", code, says)
		}
		return
	}
	status := meta.AsStatus(err)
	text := status.Message
	if status.Details != nil {
		text += fmt.Sprint(status.Details.Causes)
	}
	if status.Code != code || !strings.Contains(text, says) {
		t.Errorf("%d %s, want %d %s", status.Code, text, code, says)
	}
}

// TestBudgetChangesMeanwhile checks that a concurrently changed budget is read again and
// decremented only once.
func TestBudgetChangesMeanwhile(t *testing.T) {
	s := newCluster(t)
	s.put(s.pods, "p", podSpec, ready)
	s.put(s.budgets, "b", budgetSpec, budgetStatus(2, 4, 2))
	tries := 0
	s.before = func(m request.Mutation) {
		if m.Kind != s.budgets {
			return
		}
		if tries++; tries <= 2 {
			s.setStatus(s.budgets, "b", fmt.Sprintf(`"disruptionsAllowed":%d`, 2+tries))
		}
	}
	must.Succeed(t, s.evict(t.Context(), operations.Eviction{}))
	if left, _ := s.get(s.budgets, "b").Object("status").Int("disruptionsAllowed"); left != 3 || tries != 3 || s.get(s.pods, "p") != nil {
		t.Errorf("%d tries leave %d", tries, left)
	}
}

// TestPodChangesMeanwhile checks that a Pod that becomes ready between the check and the deletion
// counts against the budget.
func TestPodChangesMeanwhile(t *testing.T) {
	for before, says := range map[string]string{`"phase":"Pending"`: "needs 2 healthy pods", unready: "is still being processed"} {
		s := newCluster(t)
		s.put(s.pods, "p", podSpec, before)
		s.put(s.budgets, "b", budgetSpec, budgetStatus(0, 2, 2))
		s.before = func(request.Mutation) {
			s.before = nil
			s.setStatus(s.pods, "p", ready)
		}
		checkError(t, s.evict(t.Context(), operations.Eviction{}), 429, says)
		if s.get(s.pods, "p") == nil {
			t.Errorf("the Pod is gone: %s", before)
		}
	}
}

// TestEvictionGivesUp checks that an eviction is not retried if the client's precondition fails,
// and that retries stop when the request is canceled.
func TestEvictionGivesUp(t *testing.T) {
	s := newCluster(t)
	s.put(s.pods, "p", podSpec, `"phase":"Pending"`)
	tries := 0
	s.before = func(request.Mutation) { tries++ }
	v := operations.Eviction{Delete: request.Delete{ResourceVersion: new("1")}}
	checkError(t, s.evict(t.Context(), v), 409, "ResourceVersion in the precondition (1)")
	if tries != 1 {
		t.Errorf("%d tries", tries)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.before = func(m request.Mutation) {
		cancel()
		s.setStatus(s.pods, "p", fmt.Sprintf(`"phase":"Pending","podIP":"10.0.0.%d"`, tries))
		tries++
	}
	if err := s.evict(ctx, operations.Eviction{}); err == nil || tries != 2 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

func TestReadEviction(t *testing.T) {
	options := func(text string) tree.Tree {
		v, _, err := codec.DecodeAny([]byte(`{"deleteOptions":{` + text + `}}`))
		must.Succeed(t, err)
		return v.(tree.Tree)
	}
	precondition := func(p *string) string {
		if p == nil {
			return ""
		}
		return strconv.Quote(*p)
	}
	for _, c := range []struct {
		options, want string
		code          int
		says          string
	}{
		{options: ``, want: "-  false"},
		{options: `"gracePeriodSeconds":0`, want: "0  false"},
		{options: `"preconditions":{"uid":"u","resourceVersion":"7"},"dryRun":["All"]`, want: `- "u""7" true`},
		{options: `"preconditions":{"uid":"","resourceVersion":""}`, want: `- """" false`},
		{options: `"propagationPolicy":"Foreground"`, want: "-  false Foreground"},
		{options: `"orphanDependents":true`, want: "-  false Orphan"},
		{options: `"orphanDependents":false`, want: "-  false Background"},
		{options: `"orphanDependents":true,"propagationPolicy":"Orphan"`, code: 422, says: "cannot be both set"},
		{options: `"propagationPolicy":"Up"`, code: 422, says: "Unsupported value"},
		{options: `"dryRun":["Some"]`, code: 422, says: "dryRun[0]"},
	} {
		v, err := operations.ReadEviction(meta.Key{Name: "p"}, options(c.options), meta.Platform)
		if err != nil || c.code != 0 {
			checkError(t, err, c.code, c.says)
			continue
		}
		grace := "-"
		if v.Delete.GracePeriodSeconds != nil {
			grace = fmt.Sprint(*v.Delete.GracePeriodSeconds)
		}
		got := strings.TrimSpace(fmt.Sprintf("%s %s%s %t %s", grace, precondition(v.Delete.UID), precondition(v.Delete.ResourceVersion), v.DryRun, v.Delete.PropagationPolicy))
		if got != c.want || v.Key.Name != "p" {
			t.Errorf("%s: %q, want %q", c.options, got, c.want)
		}
	}
}
