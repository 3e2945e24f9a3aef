package controllers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// A mortalStore simulates a crash of its writer: one of the next writes is either lost or lands
// unacknowledged, and no later one lands. Reads continue, because they have no effect.
type mortalStore struct {
	*testStore
	mu    sync.Mutex // guards left and lands
	left  int        // writes until the crash
	lands bool       // whether the last write lands

	dead chan struct{}
}

var errKilled = errors.New("killed")

func newMortalStore(w *testStore, random *rand.Rand) *mortalStore {
	return &mortalStore{testStore: w, left: 1 + random.IntN(5), lands: random.IntN(2) == 0, dead: make(chan struct{})}
}

// write performs or drops one write.
func (m *mortalStore) write(do func() error) error {
	m.mu.Lock()
	m.left--
	left, lands := m.left, m.lands
	m.mu.Unlock()
	switch {
	case left > 0:
		return do()
	case left == 0:
		if lands {
			_ = do()
		}
		close(m.dead)
	}
	return errKilled
}

func (m *mortalStore) Mutate(ctx context.Context, r request.Mutation) (result request.Result, err error) {
	err = m.write(func() error { result, err = m.testStore.Mutate(context.WithoutCancel(ctx), r); return err })
	return result, err
}

func (m *mortalStore) DeleteCollection(ctx context.Context, l request.List, r request.Mutation) (result request.ListResult, err error) {
	if there, err := m.List(ctx, l); err != nil || len(there.Items) == 0 {
		return there, err // not a write
	}
	err = m.write(func() error { result, err = m.testStore.DeleteCollection(context.WithoutCancel(ctx), l, r); return err })
	return result, err
}

// A killedController is a row of TestKills: some work, and a check that it is done.
type killedController struct {
	name    string
	prepare func(w *testStore)
	start   func(w *testStore, store *mortalStore) interface{ Run(context.Context) }
	done    func(w *testStore) bool
}

// paths returns n paths below a prefix.
func paths(n int, prefix string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s%d", prefix, i))
	}
	return all
}

// none reports whether no object exists at the paths.
func (w *testStore) none(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool { return w.get(path) != nil })
}

// family creates owners with dependents over three generations, and deletes the first.
func family(policy string) func(w *testStore) {
	return func(w *testStore) {
		owner := w.create("configmaps/default/owner")
		for i, path := range paths(4, "configmaps/default/child") {
			child := w.createOwned(path, ownerReference(owner, "ConfigMap", i%2 == 0))
			w.createOwned(fmt.Sprintf("secrets/default/grandchild%d", i), ownerReference(child, "ConfigMap", true))
		}
		w.deleteWithPolicy("configmaps/default/owner", policy)
	}
}

func familyHasGone(w *testStore) bool {
	return w.none(append(append(paths(4, "configmaps/default/child"), paths(4, "secrets/default/grandchild")...), "configmaps/default/owner")...)
}

func startCollector(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
	return NewGarbageCollector(NewEnv(store, w.kinds, discardLogger))
}

// tokenSecret creates an empty token Secret of an account.
func (w *testStore) tokenSecret(path, account string) {
	_, key := w.key(path)
	w.mutate(path, request.Mutation{Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{"name": key.Name, "annotations": tree.Tree{"platform.io/service-account.name": account}},
		"type":     "platform.io/service-account-token",
	}}})
}

// bootstrapToken creates a bootstrap token with an expiry.
func (w *testStore) bootstrapToken(id string, ends time.Time) {
	w.mutate("secrets/platform-system/bootstrap-token-"+id, request.Mutation{Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{"name": "bootstrap-token-" + id}, "type": "bootstrap.platform.io/token",
		"data": tree.Tree{
			"token-id": base64Text([]byte(id)), "token-secret": base64Text([]byte("0123456789abcdef")),
			"usage-bootstrap-signing": base64Text([]byte("true")), "expiration": base64Text([]byte(ends.UTC().Format(time.RFC3339))),
		},
	}}})
}

// other returns the kind and key of an object of a group.
func (w *testStore) other(group, version, kind, name string) (*schema.Kind, meta.Key) {
	k := w.kinds.ByGVK(meta.GroupVersionKind{Group: group, Version: version, Kind: kind})
	return k, meta.Key{GroupResource: k.Storage, Name: name}
}

func (w *testStore) createOther(group, version, kind, name string, object tree.Tree) {
	w.t.Helper()
	k, key := w.other(group, version, kind, name)
	object["metadata"] = tree.Tree{"name": name}
	if _, err := w.Mutate(context.Background(), request.Mutation{Kind: k, Key: key, Change: request.Create{Object: object}}); err != nil {
		w.t.Fatal(err)
	}
}

// says reports whether an object exists and its JSON contains all texts.
func (w *testStore) says(group, version, kind, name string, texts ...string) bool {
	k, key := w.other(group, version, kind, name)
	o, err := w.Get(context.Background(), request.Get{Kind: k, Key: key})
	return err == nil && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(string(o.JSON), text) })
}

var killedControllers = []killedController{
	{"namespace", func(w *testStore) {
		w.create("namespaces/n")
		for _, path := range append(paths(4, "configmaps/n/c"), paths(4, "secrets/n/s")...) {
			w.create(path)
		}
		w.delete("namespaces/n")
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return w.newNamespaces(store)
	},
		func(w *testStore) bool { return w.none(append(paths(4, "configmaps/n/c"), "namespaces/n")...) }},
	{"garbage, background", family("Background"), startCollector, familyHasGone},
	{"garbage, foreground", family("Foreground"), startCollector, familyHasGone},
	{"garbage, orphan", family("Orphan"), startCollector, func(w *testStore) bool {
		return w.none("configmaps/default/owner") && !slices.ContainsFunc(paths(4, "configmaps/default/child"), func(path string) bool {
			o := w.get(path)
			return o == nil || len(o.Meta.OwnerReferences) > 0
		})
	}},
	{"serviceaccount", func(w *testStore) {
		for _, path := range paths(6, "namespaces/n") {
			w.create(path)
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewServiceAccounts(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return !slices.ContainsFunc(paths(6, "n"), func(n string) bool { return w.get("serviceaccounts/"+n+"/default") == nil })
	}},
	{"serviceaccount-token", func(w *testStore) {
		w.create("serviceaccounts/default/robot")
		for _, path := range paths(4, "secrets/default/filled") {
			w.tokenSecret(path, "robot")
		}
		for _, path := range paths(4, "secrets/default/lost") {
			w.tokenSecret(path, "nobody")
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		t := w.tokens("one")
		t.Store = store
		return t
	}, func(w *testStore) bool {
		return w.none(paths(4, "secrets/default/lost")...) && !slices.ContainsFunc(paths(4, "secrets/default/filled"), func(path string) bool {
			return !strings.Contains(string(w.get(path).JSON), `"`+serviceaccount.TokenKey+`":"`)
		})
	}},
	{"serviceaccount-token-secret", func(w *testStore) {
		for _, path := range paths(4, "serviceaccounts/default/robot") {
			w.create(path)
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewTokenSecrets(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		all, err := w.List(context.Background(), request.List{Kind: w.kind("secrets"), Namespace: "default"})
		if len(all.Items) > 4 {
			w.t.Errorf("%d Secrets for 4 accounts", len(all.Items))
		}
		return err == nil && !slices.ContainsFunc(paths(4, "serviceaccounts/default/robot"), func(path string) bool {
			return len(w.storedTree(path).List("secrets")) != 1
		})
	}},
	{"token-cleaner", func(w *testStore) {
		for _, id := range paths(5, "abcde") {
			w.bootstrapToken(id, time.Now().Add(-time.Hour))
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewTokenCleaner(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool { return w.none(paths(5, "secrets/platform-system/bootstrap-token-abcde")...) }},
	{"bootstrap-signer", func(w *testStore) {
		for _, id := range paths(3, "abcde") {
			w.bootstrapToken(id, time.Now().Add(time.Hour))
		}
		w.mutate("configmaps/platform-public/cluster-info", request.Mutation{Change: request.Create{Object: tree.Tree{
			"metadata": tree.Tree{"name": "cluster-info"}, "data": tree.Tree{"kubeconfig": "x"},
		}}})
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewBootstrapSigner(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return len(w.storedTree("configmaps/platform-public/cluster-info").Object("data")) == 4
	}},
	{"persistentvolumeclaim-protection", func(w *testStore) {
		for _, path := range paths(4, claims+"/default/going") {
			w.createWith(path, claimObject())
			w.delete(path)
		}
		for _, path := range paths(3, claims+"/default/bare") {
			claim := claimObject()
			delete(claim, "finalizers")
			w.createWith(path, claim)
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewVolumeClaimProtection(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return w.none(paths(4, claims+"/default/going")...) && !slices.ContainsFunc(paths(3, claims+"/default/bare"), func(path string) bool {
			return len(w.get(path).Meta.Finalizers) == 0
		})
	}},
	{"clusterrole-aggregation", func(w *testStore) {
		r := roles{w, w.kinds.ByGVK(meta.GroupVersionKind{Group: "rbac.authorization.platform.io", Version: "v1", Kind: "ClusterRole"})}
		r.create("a", "x", "get")
		for _, name := range paths(4, "all") {
			r.create(name, "y", "", "x")
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewClusterRoleAggregation(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return !slices.ContainsFunc(paths(4, "all"), func(name string) bool {
			return !w.says("rbac.authorization.platform.io", "v1", "ClusterRole", name, `"verbs":["get"]`)
		})
	}},
	{"events", func(w *testStore) {
		for _, path := range paths(6, "events/default/e") {
			w.createEvent(path, time.Now())
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewEventExpiry(NewEnv(store, w.kinds, discardLogger), time.Millisecond)
	}, func(w *testStore) bool { return w.none(paths(6, "events/default/e")...) }},
	{"definitions", func(w *testStore) {
		for _, group := range paths(3, "g") {
			w.createOther("apiextensions.platform.io", "v1", "CustomResourceDefinition", "things."+group+".example.com", tree.Tree{
				"spec": tree.Tree{"group": group + ".example.com", "scope": "Namespaced", "names": tree.Tree{"plural": "things", "kind": "Thing"},
					"versions": []any{tree.Tree{"name": "v1", "served": true, "storage": true, "schema": tree.Tree{"openAPIV3Schema": tree.Tree{"type": "object"}}}}},
			})
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewDefinitions(store, w.kinds, discardLogger)
	}, func(w *testStore) bool {
		return !slices.ContainsFunc(paths(3, "g"), func(group string) bool {
			return !w.says("apiextensions.platform.io", "v1", "CustomResourceDefinition", "things."+group+".example.com", `"type":"Established"`)
		})
	}},
	{"validatingadmissionpolicy-status", func(w *testStore) {
		for _, name := range paths(4, "p") {
			w.createOther("admissionregistration.platform.io", "v1", "ValidatingAdmissionPolicy", name, tree.Tree{
				"spec": tree.Tree{"validations": []any{tree.Tree{"expression": "true"}}, "matchConstraints": tree.Tree{"resourceRules": []any{
					tree.Tree{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"pods"}, "operations": []any{"CREATE"}}}}},
			})
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewPolicyStatus(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return !slices.ContainsFunc(paths(4, "p"), func(name string) bool {
			return !w.says("admissionregistration.platform.io", "v1", "ValidatingAdmissionPolicy", name, `"observedGeneration":1`)
		})
	}},
	{"storage-version-migrator", func(w *testStore) {
		for _, path := range paths(8, "configmaps/default/c") {
			w.staleUpTo.Store(w.create(path).Version)
		}
		w.createMigration("m", "", "configmaps")
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewStorageVersionMigrator(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return w.saysOfMigration("m", `"type":"Succeeded"`) && !slices.ContainsFunc(paths(8, "configmaps/default/c"), func(path string) bool {
			return w.get(path).Version <= w.staleUpTo.Load()
		})
	}},
	{"apiservice-registration", func(*testStore) {}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewAPIServiceRegistration(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return !slices.ContainsFunc([]string{"v1.", "v1.apps", "v1.batch", "v1.storage.platform.io"}, func(name string) bool {
			return !w.says("apiregistration.platform.io", "v1", "APIService", name)
		})
	}},
	{"system objects", func(*testStore) {}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewSystemObjects(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return w.says("scheduling.platform.io", "v1", "PriorityClass", "system-node-critical") && w.says("scheduling.platform.io", "v1", "PriorityClass", "system-cluster-critical")
	}},
}

// TestKills kills every controller around some of its writes, and checks that its successor
// finishes the work. make soak repeats that many times.
func TestKills(t *testing.T) {
	t.Parallel()
	const most = 200
	rounds, end := uint64(2), time.Now()
	if text := os.Getenv("TROUPE_SOAK"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		end = end.Add(d)
	}
	var survived atomic.Int64
	t.Cleanup(func() { t.Logf("tried: %d times a controller finished what a killed one had begun", survived.Load()) })
	for _, c := range slices.Concat(killedControllers, killedGroups, killedPolicies, killedServers) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(0); seed < rounds || seed < most && time.Now().Before(end); seed++ {
				if c.survive(t, rand.New(rand.NewPCG(seed, 0))); t.Failed() {
					t.Fatalf("with seed %d", seed)
				}
				survived.Add(1)
			}
		})
	}
}

// survive runs one life after the other until the work is done.
func (c *killedController) survive(t *testing.T, random *rand.Rand) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	c.prepare(w)
	tick, watchdog := time.NewTicker(time.Millisecond), time.After(5*time.Minute)
	defer tick.Stop()
	for done := false; !done; {
		store := newMortalStore(w, random)
		stop := runControllers(c.start(w, store))
		for alive := true; alive && !done; {
			select {
			case <-store.dead:
				alive = false
			case <-tick.C:
				done = c.done(w)
			case <-watchdog:
				stop()
				t.Fatal("the work is not done")
			}
		}
		stop()
	}
}
