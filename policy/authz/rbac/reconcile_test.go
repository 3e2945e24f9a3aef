package rbac_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

var update = flag.Bool("update", false, "write the expected files anew")

type testStore struct {
	*actors.Store
	kinds  *catalog.Catalog
	writes atomic.Int64
}

func (s *testStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	s.writes.Add(1)
	return s.Store.Mutate(ctx, m)
}

func openStore(t testing.TB, naming *meta.Naming) *testStore {
	t.Helper()
	kinds, err := catalog.New(naming)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := persist.Open("/data", persist.Options{FS: vfs.NewMem(), Sync: persist.SyncAlways})
	if err != nil {
		t.Fatal(err)
	}
	s, err := actors.Open(actors.Options{Log: journal, Catalog: kinds, Naming: naming, Tuning: actors.DefaultTuning(),
		Fatal: func(err error) { t.Error("fatal:", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(context.Background()), journal.Close()); err != nil {
			t.Error(err)
		}
	})
	return &testStore{Store: s, kinds: kinds}
}

func (s *testStore) reconcile(t testing.TB) (writes int64) {
	t.Helper()
	s.writes.Store(0)
	if err := rbac.Reconcile(t.Context(), s, s.kinds, rbac.Pages{}); err != nil {
		t.Fatal(err)
	}
	return s.writes.Load()
}

func (s *testStore) kindAndKey(path string) (*schema.Kind, meta.Key) {
	k := key(path)
	k.Group = s.kinds.Naming().Translate(k.Group)
	return s.kinds.Kind(k.Group, "v1", k.Resource), k
}

func (s *testStore) mutate(t *testing.T, path string, m request.Mutation) {
	t.Helper()
	m.Kind, m.Key = s.kindAndKey(path)
	if _, err := s.Store.Mutate(t.Context(), m); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func (s *testStore) patch(t *testing.T, path, body string) {
	t.Helper()
	s.mutate(t, path, request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(body)}})
}

func (s *testStore) get(t *testing.T, path string) tree.Tree {
	t.Helper()
	k, key := s.kindAndKey(path)
	o, err := s.Get(t.Context(), request.Get{Kind: k, Key: key})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	obj, err := codec.DecodeStored(k.Message(), o.JSON)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestDefaultRoles(t *testing.T) {
	for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		s := openStore(t, naming)
		s.reconcile(t)
		var b strings.Builder
		for _, resource := range []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"} {
			k, _ := s.kindAndKey(resource + "/")
			listing, err := s.List(t.Context(), request.List{Kind: k})
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range listing.Items {
				obj, err := codec.DecodeStored(k.Message(), o.JSON)
				if err != nil {
					t.Fatal(err)
				}
				dumpObject(&b, o.Key, obj)
			}
		}
		path := filepath.Join("testdata", naming.Profile+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s is otherwise; run with -update and look at the difference", path)
		}
	}
}

// TestReferenceRoles compares the default roles and bindings with those recorded from
// kube-apiserver 1.35.3, and for certificates and storage migrations with those of 1.37.2.
func TestReferenceRoles(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	decoded, _, err := codec.DecodeAny(text)
	if err != nil {
		t.Fatal(err)
	}
	reference, _ := decoded.(tree.Tree)
	if len(reference) != 139 {
		t.Fatalf("%d roles and bindings are recorded", len(reference))
	}
	s := openStore(t, meta.Kubernetes)
	s.reconcile(t)
	for name, recorded := range reference {
		got, recorded := s.get(t, name), recorded.(tree.Tree)
		ours := tree.Tree{"labels": got.Object("metadata")["labels"], "annotations": got.Object("metadata")["annotations"]}
		for _, field := range []string{"aggregationRule", "roleRef", "rules", "subjects"} {
			ours.CopyField(got, field)
		}
		for _, field := range []string{"labels", "annotations", "aggregationRule", "roleRef", "rules", "subjects"} {
			if has, wants := unordered(ours[field]), unordered(recorded[field]); has != wants {
				t.Errorf("%s: %s are\n%s\nwant\n%s", name, field, has, wants)
			}
		}
	}
}

func unordered(v any) string {
	switch v := v.(type) {
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = unordered(item)
		}
		slices.Sort(items)
		return "[" + strings.Join(items, "\n") + "]"
	case tree.Tree:
		var b strings.Builder
		for _, name := range v.SortedKeys() {
			fmt.Fprintf(&b, "%s: %s ", name, unordered(v[name]))
		}
		return b.String()
	}
	return string(codec.AppendAny(nil, v))
}

func dumpObject(b *strings.Builder, key meta.Key, obj tree.Tree) {
	fmt.Fprintf(b, "%s %s\n", key.Resource, strings.TrimPrefix(key.Namespace+"/"+key.Name, "/"))
	metadata := obj.Object("metadata")
	for _, field := range []string{"labels", "annotations"} {
		for _, name := range metadata.Object(field).SortedKeys() {
			fmt.Fprintf(b, "  %s %s=%s\n", strings.TrimSuffix(field, "s"), name, metadata.Object(field).String(name))
		}
	}
	for _, field := range metadata.Objects("managedFields") {
		fmt.Fprintf(b, "  manager %s\n", field.String("manager"))
	}
	for _, name := range []string{"aggregationRule", "roleRef"} {
		if obj.Has(name) {
			fmt.Fprintf(b, "  %s %s\n", name, codec.AppendAny(nil, obj[name]))
		}
	}
	for _, s := range obj.Objects("subjects") {
		fmt.Fprintf(b, "  to %s %s %s\n", s.String("kind"), s.String("name"), s.String("namespace"))
	}
	for _, r := range obj.Objects("rules") {
		fmt.Fprintf(b, "  %s:", strings.Join(r.Strings("verbs"), " "))
		for _, name := range []string{"apiGroups", "resources", "resourceNames", "nonResourceURLs"} {
			if r.Has(name) {
				fmt.Fprintf(b, " %q", r.Strings(name))
			}
		}
		b.WriteByte('\n')
	}
}

func TestReconcile(t *testing.T) {
	const (
		discovery = "clusterroles/system:discovery"
		bound     = "clusterrolebindings/system:discovery"
		local     = "roles/platform-system/extension-apiserver-authentication-reader"
		paths     = `{"verbs":["get"],"nonResourceURLs":["/mine"]}`
	)
	s := openStore(t, meta.Platform)
	if n := s.reconcile(t); n < 100 {
		t.Fatalf("%d writes of an empty store", n)
	}
	if n := s.reconcile(t); n != 0 {
		t.Fatalf("%d writes of an unchanged store", n)
	}
	tests := []struct {
		name   string
		change func()
		writes int64
		check  func() bool
	}{
		{"a role and a binding are deleted", func() {
			s.mutate(t, discovery, request.Mutation{Change: request.Delete{}})
			s.mutate(t, bound, request.Mutation{Change: request.Delete{}})
			s.mutate(t, local, request.Mutation{Change: request.Delete{}})
		}, 3, func() bool {
			return count(s.get(t, discovery), "rules") == 1 && count(s.get(t, bound), "subjects") == 1 && count(s.get(t, local), "rules") == 1
		}},
		{"rules are replaced", func() { s.patch(t, discovery, `{"rules":[`+paths+`]}`) }, 1,
			func() bool { return count(s.get(t, discovery), "rules") == 12 }}, // one more rule per missing path
		{"there is more than must be", func() {
			s.patch(t, "clusterroles/system:basic-user", `{"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}`)
		}, 0,
			func() bool { return count(s.get(t, "clusterroles/system:basic-user"), "rules") == 1 }},
		{"labels go", func() { s.patch(t, discovery, `{"metadata":{"labels":null,"annotations":{"mine":"x"}}}`) }, 1, func() bool {
			obj := s.get(t, discovery)
			return obj.Object("metadata", "labels").String("platform.io/bootstrapping") != "" && obj.Object("metadata", "annotations").String("mine") == "x"
		}},
		{"a label has another value", func() { s.patch(t, discovery, `{"metadata":{"labels":{"platform.io/bootstrapping":"mine"}}}`) }, 0, func() bool {
			return s.get(t, discovery).Object("metadata", "labels").String("platform.io/bootstrapping") == "mine"
		}},
		{"a role is protected", func() {
			s.patch(t, discovery, `{"rules":[],"metadata":{"annotations":{"rbac.authorization.platform.io/autoupdate":"false"}}}`)
		}, 0, func() bool { return count(s.get(t, discovery), "rules") == 0 }},
		{"subjects are replaced", func() { s.patch(t, bound, `{"subjects":[{"kind":"User","name":"jane"}]}`) }, 1,
			func() bool { return count(s.get(t, bound), "subjects") == 2 }},
		{"a binding is of another role", func() {
			s.mutate(t, bound, request.Mutation{Change: request.Delete{}})
			s.mutate(t, bound, request.Mutation{Change: request.Create{Object: parseTree(t, binding("ClusterRole/other", "User:jane"))}})
		}, 2, func() bool {
			obj := s.get(t, bound)
			return obj.Object("roleRef").String("name") == "system:discovery" && count(obj, "subjects") == 1
		}},
		{"a role gathers no more", func() { s.patch(t, "clusterroles/view", `{"aggregationRule":null,"rules":[`+paths+`]}`) }, 1,
			func() bool {
				return count(s.get(t, "clusterroles/view").Object("aggregationRule"), "clusterRoleSelectors") == 1
			}},
		{"a gathering role has rules", func() {
			s.patch(t, "clusterroles/view", `{"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`)
		}, 0, func() bool { return count(s.get(t, "clusterroles/view"), "rules") == 1 }},
		{"a role gathers that should not", func() {
			s.patch(t, "clusterroles/system:heapster", `{"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`)
		}, 1, func() bool { return !s.get(t, "clusterroles/system:heapster").Has("aggregationRule") }},
	}
	for _, test := range tests {
		test.change()
		if n := s.reconcile(t); n != test.writes {
			t.Errorf("%s: %d writes, want %d", test.name, n, test.writes)
		}
		if !test.check() {
			t.Errorf("%s: not as it should be", test.name)
		}
		if n := s.reconcile(t); n != 0 {
			t.Errorf("%s: %d writes of what was repaired", test.name, n)
		}
	}
}

func BenchmarkReconcileNew(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := openStore(b, meta.Kubernetes)
		b.StartTimer()
		s.reconcile(b)
	}
}

func BenchmarkReconcileUnchanged(b *testing.B) {
	s := openStore(b, meta.Kubernetes)
	s.reconcile(b)
	for b.Loop() {
		s.reconcile(b)
	}
}
