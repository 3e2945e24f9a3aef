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

// cluster is a store with the kinds of evictions. It runs a function before each mutation, as a
// concurrent writer.
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

// put creates an object and sets its status.
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

func (c *cluster) parse(k *schema.Kind, text string) tree.Tree {
	c.t.Helper()
	object, faults, err := codec.DecodeJSON(k.Message(), []byte(text))
	if err != nil || len(faults) > 0 {
		c.t.Fatal(text, faults, err)
	}
	return object
}

// get returns an object, or nil.
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

func TestEvict(t *testing.T) {
	manyPods := strings.TrimSuffix(strings.Repeat(`"p%d":"2030-01-01T00:00:00Z",`, 2001), ",")
	many := make([]any, 2001)
	for i := range many {
		many[i] = i
	}
	for _, c := range []struct {
		name, pod, spec, budget string
		dry                     bool
		code                    int
		says                    string
		gone                    bool
		left                    int64
	}{
		{name: "no budget", pod: ready, gone: true},
		{name: "one is allowed", pod: ready, budget: budgetStatus(1, 3, 2), gone: true},
		{name: "more are allowed", pod: ready, budget: budgetStatus(3, 5, 2), gone: true, left: 2},
		{name: "none is allowed", pod: ready, budget: budgetStatus(0, 2, 2), code: 429, says: "needs 2 healthy pods and has 2 currently"},
		{name: "an old status", pod: ready, budget: `"observedGeneration":0,"disruptionsAllowed":1`, code: 429, says: "is still being processed", left: 1},
		{name: "a failed sync", pod: ready, code: 429, says: "because it failed sync: no scale",
			budget: budgetStatus(0, 2, 2) + `,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"no scale","lastTransitionTime":"2030-01-01T00:00:00Z"}]`},
		{name: "too many that are not gone", pod: ready, budget: budgetStatus(1, 3, 2) + `,"disruptedPods":{` + fmt.Sprintf(manyPods, many...) + `}`, code: 403, says: "map too big", left: 1},
		{name: "it does not run yet", pod: `"phase":"Pending"`, budget: budgetStatus(0, 2, 2), gone: true},
		{name: "it has ended", pod: `"phase":"Failed"`, budget: budgetStatus(0, 2, 2), gone: true},
		{name: "not ready, enough others", pod: unready, budget: budgetStatus(0, 2, 2), gone: true},
		{name: "not ready, too few others", pod: unready, budget: budgetStatus(0, 1, 2), code: 429, says: "has 1 currently"},
		{name: "not ready, and always let go", pod: unready, spec: `,"unhealthyPodEvictionPolicy":"AlwaysAllow"`, budget: budgetStatus(0, 1, 2), gone: true},
		{name: "a dry run", pod: ready, budget: budgetStatus(1, 3, 2), dry: true, left: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newCluster(t)
			s.put(s.pods, "p", podSpec, c.pod)
			if c.budget != "" {
				s.put(s.budgets, "b", budgetSpec+c.spec, c.budget)
			}
			err := operations.NewEvictor(s, s.pods, s.budgets).Evict(t.Context(), operations.Eviction{Key: s.key(s.pods, "p"), DryRun: c.dry})
			checkError(t, err, c.code, c.says)
			if gone := s.get(s.pods, "p") == nil; gone != c.gone {
				t.Errorf("the Pod is gone: %t", gone)
			}
			if c.budget == "" {
				return
			}
			status := s.get(s.budgets, "b").Object("status")
			if left, _ := status.Int("disruptionsAllowed"); left != c.left {
				t.Errorf("the budget allows %d, want %d", left, c.left)
			}
			counted := c.gone && strings.HasSuffix(c.name, "allowed")
			if status.Object("disruptedPods").Has("p") != counted {
				t.Errorf("disrupted Pods: %v", status["disruptedPods"])
			}
		})
	}
}

// checkError compares the code of an error, and texts of its message or causes.
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

// The last disruption is recorded in a condition.
func TestLastDisruption(t *testing.T) {
	s := newCluster(t)
	s.put(s.pods, "p", podSpec, ready)
	s.put(s.budgets, "b", budgetSpec, budgetStatus(1, 3, 2)+`,"conditions":[{"type":"DisruptionAllowed","status":"True","reason":"SufficientPods","message":"","lastTransitionTime":"2020-01-01T00:00:00Z"}]`)
	must.Succeed(t, operations.NewEvictor(s, s.pods, s.budgets).Evict(t.Context(), operations.Eviction{Key: s.key(s.pods, "p")}))
	conditions := s.get(s.budgets, "b").Object("status").Objects("conditions")
	if len(conditions) != 1 || conditions[0].String("status") != "False" || conditions[0].String("reason") != "InsufficientPods" ||
		strings.HasPrefix(conditions[0].String("lastTransitionTime"), "2020") {
		t.Errorf("conditions %v", conditions)
	}
}

func TestBudgetsThatDoNotCount(t *testing.T) {
	s := newCluster(t)
	for _, name := range []string{"p", "q", "r"} {
		s.put(s.pods, name, podSpec, ready)
	}
	s.put(s.budgets, "none", `"minAvailable":1`, budgetStatus(0, 3, 3)) // without a selector it covers nothing
	s.put(s.budgets, "other", `"selector":{"matchLabels":{"app":"db"}}`, budgetStatus(0, 3, 3))
	evictor := operations.NewEvictor(s, s.pods, s.budgets)
	if err := evictor.Evict(t.Context(), operations.Eviction{Key: s.key(s.pods, "p")}); err != nil {
		t.Error(err)
	}
	s.put(s.budgets, "b", budgetSpec, budgetStatus(1, 3, 2))
	s.put(s.budgets, "c", budgetSpec, budgetStatus(1, 3, 2))
	checkError(t, evictor.Evict(t.Context(), operations.Eviction{Key: s.key(s.pods, "q")}), 500, "more than one PodDisruptionBudget")
	if err := operations.NewEvictor(s, s.pods, nil).Evict(t.Context(), operations.Eviction{Key: s.key(s.pods, "q")}); err != nil {
		t.Errorf("without a kind of budgets: %v", err)
	}
	checkError(t, evictor.Evict(t.Context(), operations.Eviction{Key: s.key(s.pods, "p")}), 404, "not found")
	v := operations.Eviction{Key: s.key(s.pods, "r"), Delete: request.Delete{UID: new("other")}}
	checkError(t, operations.NewEvictor(s, s.pods, nil).Evict(t.Context(), v), 409, "UID in the precondition")
}

// A Pod that is not deleted at once gets a condition with the reason. A dry run, and an eviction of
// another Pod of that name, do not change it.
func TestEvictedPodSaysSo(t *testing.T) {
	for _, c := range []struct {
		name, phase string
		v           operations.Eviction
		code        int
		marked      bool
	}{
		{name: "running", phase: ready, marked: true},
		{name: "pending", phase: `"phase":"Pending"`, marked: true},
		{name: "a dry run", phase: ready, v: operations.Eviction{DryRun: true}},
		{name: "another one", phase: ready, v: operations.Eviction{Delete: request.Delete{UID: new("other")}}, code: 409},
		{name: "one without a uid", phase: ready, v: operations.Eviction{Delete: request.Delete{UID: new("")}}, code: 409, marked: true},
		{name: "one without a version", phase: ready, v: operations.Eviction{Delete: request.Delete{ResourceVersion: new("")}}, marked: true},
		{name: "one without a version, in a dry run", phase: ready, v: operations.Eviction{DryRun: true, Delete: request.Delete{ResourceVersion: new("")}}, code: 409},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newCluster(t)
			s.put(s.pods, "p", podSpec, c.phase)
			must.Get(s.Store.Mutate(t.Context(), request.Mutation{Kind: s.pods, Key: s.key(s.pods, "p"),
				Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"metadata":{"finalizers":["e.com/f"]}}`)}}))(t)
			c.v.Key = s.key(s.pods, "p")
			checkError(t, operations.NewEvictor(s, s.pods, s.budgets).Evict(t.Context(), c.v), c.code, "")
			target := tree.FindCondition(s.get(s.pods, "p").Object("status"), "DisruptionTarget")
			if marked := target.String("status") == "True" && target.String("reason") == "EvictionByEvictionAPI"; marked != c.marked {
				t.Errorf("the condition is %v", target)
			}
		})
	}
}

// A budget that others change meanwhile is read again, and spent once.
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
	must.Succeed(t, operations.NewEvictor(s, s.pods, s.budgets).Evict(t.Context(), operations.Eviction{Key: s.key(s.pods, "p")}))
	if left, _ := s.get(s.budgets, "b").Object("status").Int("disruptionsAllowed"); left != 3 || tries != 3 || s.get(s.pods, "p") != nil {
		t.Errorf("%d tries leave %d", tries, left)
	}
}

// A Pod that starts to run between its check and its deletion is counted.
func TestPodBeginsToRunMeanwhile(t *testing.T) {
	s := newCluster(t)
	s.put(s.pods, "p", podSpec, `"phase":"Pending"`)
	s.put(s.budgets, "b", budgetSpec, budgetStatus(0, 2, 2))
	s.before = func(m request.Mutation) {
		s.before = nil
		s.setStatus(s.pods, "p", ready)
	}
	err := operations.NewEvictor(s, s.pods, s.budgets).Evict(t.Context(), operations.Eviction{Key: s.key(s.pods, "p")})
	checkError(t, err, 429, "needs 2 healthy pods")
	if s.get(s.pods, "p") == nil {
		t.Error("the Pod is gone")
	}
}

// A Pod that becomes ready between its check and its deletion is not evicted for free.
func TestPodBecomesReadyMeanwhile(t *testing.T) {
	s := newCluster(t)
	s.put(s.pods, "p", podSpec, unready)
	s.put(s.budgets, "b", budgetSpec, budgetStatus(0, 2, 2))
	s.before = func(m request.Mutation) {
		s.before = nil
		s.setStatus(s.pods, "p", ready)
	}
	err := operations.NewEvictor(s, s.pods, s.budgets).Evict(t.Context(), operations.Eviction{Key: s.key(s.pods, "p")})
	checkError(t, err, 429, "is still being processed")
	if s.get(s.pods, "p") == nil {
		t.Error("the Pod is gone")
	}
}

// A client's own precondition fails at once; the end of the request stops retries.
func TestEvictionGivesUp(t *testing.T) {
	s := newCluster(t)
	s.put(s.pods, "p", podSpec, `"phase":"Pending"`)
	tries := 0
	s.before = func(request.Mutation) { tries++ }
	v := operations.Eviction{Key: s.key(s.pods, "p"), Delete: request.Delete{ResourceVersion: new("1")}}
	checkError(t, operations.NewEvictor(s, s.pods, s.budgets).Evict(t.Context(), v), 409, "ResourceVersion in the precondition (1)")
	if tries != 1 {
		t.Errorf("%d tries", tries)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.before = func(m request.Mutation) {
		cancel()
		s.setStatus(s.pods, "p", fmt.Sprintf(`"phase":"Pending","podIP":"10.0.0.%d"`, tries))
		tries++
	}
	if err := operations.NewEvictor(s, s.pods, s.budgets).Evict(ctx, operations.Eviction{Key: s.key(s.pods, "p")}); err == nil || tries != 2 {
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
