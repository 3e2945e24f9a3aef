package controllers

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

// roles manages cluster roles in a test store; each of their rules allows one verb.
type roles struct {
	*testStore
	kind *schema.Kind
}

func (r roles) do(name string, m request.Mutation) {
	r.t.Helper()
	m.Kind, m.Key = r.kind, meta.Key{GroupResource: r.kind.Storage, Name: name}
	if _, err := r.Mutate(context.Background(), m); err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
}

// create creates a role with a label and verbs, which aggregates roles with the labels in gathers.
func (r roles) create(name, label, verbs string, gathers ...string) {
	r.t.Helper()
	obj := tree.Tree{"metadata": tree.Tree{"name": name, "labels": tree.Tree{"is": label}}, "rules": rulesFor(verbs)}
	var selectors []any
	for _, g := range gathers {
		selectors = append(selectors, tree.Tree{"matchLabels": tree.Tree{"is": g}})
	}
	if selectors != nil {
		obj["aggregationRule"] = tree.Tree{"clusterRoleSelectors": selectors}
	}
	r.do(name, request.Mutation{Change: request.Create{Object: obj}})
}

func (r roles) patch(name, body string) {
	r.t.Helper()
	r.do(name, request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(body)}})
}

func rulesFor(verbs string) []any {
	list := []any{}
	for _, verb := range strings.Fields(verbs) {
		list = append(list, tree.Tree{"verbs": []any{verb}, "apiGroups": []any{""}, "resources": []any{"pods"}})
	}
	return list
}

// rolesWatch waits until roles allow certain verbs.
type rolesWatch struct {
	roles
	changed chan struct{}
}

func (w *rolesWatch) OnEvent(reconcile.Event) {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *rolesWatch) verbs(name string) string {
	w.t.Helper()
	o := must.Get(w.Get(context.Background(), request.Get{Kind: w.kind, Key: meta.Key{GroupResource: w.kind.Storage, Name: name}}))(w.t)
	obj := must.Get(codec.DecodeStored(w.kind.Message(), o.JSON))(w.t)
	var verbs []string
	for _, rule := range obj.Objects("rules") {
		verbs = append(verbs, rule.Strings("verbs")...)
	}
	return strings.Join(verbs, " ")
}

// waitForVerbs blocks until a role allows exactly these verbs, at most until the test's deadline.
func (w *rolesWatch) waitForVerbs(step, name, want string) {
	w.t.Helper()
	for got := w.verbs(name); got != want; got = w.verbs(name) {
		select {
		case <-w.changed:
		case <-w.t.Context().Done():
			w.t.Fatalf("%s: %s allows %q, not %q", step, name, got, want)
		}
	}
}

func TestAggregation(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	r := roles{w, w.kinds.Kind("rbac.authorization.platform.io", "v1", "clusterroles")}
	r.create("b", "small", "get list")
	r.create("sum", "medium", "", "small")
	ctx, cancel := context.WithCancel(context.Background())
	watch := &rolesWatch{roles: r, changed: make(chan struct{}, 1)}
	var running sync.WaitGroup
	running.Go(func() { NewClusterRoleAggregation(NewEnv(w, w.kinds, slog.New(slog.DiscardHandler))).Run(ctx) })
	running.Go(func() {
		(&reconcile.Informer{Client: NewEnv(w, w.kinds, discardLogger).ClientOf(r.kind), On: watch.OnEvent}).Run(ctx)
	})
	defer running.Wait()
	defer cancel()

	watch.waitForVerbs("what was there", "sum", "get list")
	r.create("a", "small", "watch get")
	watch.waitForVerbs("another, by name and without doubles", "sum", "watch get list")
	r.create("total", "large", "", "medium", "small")
	watch.waitForVerbs("a sum of sums", "total", "watch get list")
	r.patch("b", `{"rules":[]}`)
	watch.waitForVerbs("rules go", "sum", "watch get")
	watch.waitForVerbs("rules go, twice removed", "total", "watch get")
	r.create("c", "other", "delete")
	r.patch("c", `{"metadata":{"labels":{"is":"small"}}}`)
	watch.waitForVerbs("a label comes", "sum", "watch get delete")
	r.patch("c", `{"metadata":{"labels":{"is":"other"}}}`)
	watch.waitForVerbs("a label goes", "total", "watch get")
	r.patch("sum", `{"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}`)
	watch.waitForVerbs("rules of others do not stay", "sum", "watch get")
	r.do("a", request.Mutation{Change: request.Delete{}})
	watch.waitForVerbs("a role goes", "sum", "")
	r.patch("sum", `{"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}`)
	watch.waitForVerbs("rules of others do not stay in an empty sum", "sum", "")
	r.patch("sum", `{"aggregationRule":{"clusterRoleSelectors":[{"matchExpressions":[{"key":"is","operator":"In","values":["other"]}]}]}}`)
	watch.waitForVerbs("the selector changes", "total", "delete")
	r.patch("sum", `{"aggregationRule":null,"rules":[{"verbs":["mine"],"apiGroups":[""],"resources":["pods"]}]}`)
	watch.waitForVerbs("it gathers no more", "total", "mine")
	r.create("self", "small", "", "small")
	r.create("d", "small", "d")
	watch.waitForVerbs("a role does not gather itself", "self", "d")
	r.do("total", request.Mutation{Change: request.Delete{}})
	r.create("last", "last", "", "small")
	watch.waitForVerbs("the last", "last", "d")
	k := r.kind
	if _, err := w.Get(context.Background(), request.Get{Kind: k, Key: meta.Key{GroupResource: k.Storage, Name: "total"}}); !reconcile.IsNotFound(err) {
		t.Error("a role that has gone was made anew")
	}
}
