package controllers

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	mathrand "math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/actors/controllers/apiservices"
	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/actors/controllers/crd"
	"github.com/troupe-api/troupe/actors/controllers/disruption"
	"github.com/troupe-api/troupe/actors/controllers/flowcontrol"
	"github.com/troupe-api/troupe/actors/controllers/garbagecollector"
	"github.com/troupe-api/troupe/actors/controllers/namespaces"
	"github.com/troupe-api/troupe/actors/controllers/network/addresses"
	"github.com/troupe-api/troupe/actors/controllers/network/endpoints"
	"github.com/troupe-api/troupe/actors/controllers/nodes"
	"github.com/troupe-api/troupe/actors/controllers/policies"
	"github.com/troupe-api/troupe/actors/controllers/tokens"
	"github.com/troupe-api/troupe/actors/controllers/volumes"
	"github.com/troupe-api/troupe/actors/controllers/workloads"
	"github.com/troupe-api/troupe/actors/controllers/workloads/autoscaler"
	"github.com/troupe-api/troupe/actors/controllers/workloads/job"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission/quota"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/certs"
)

// A mortalStore simulates a crash of its writer. One of the next writes is either lost or committed
// without a response, and all later writes are lost. Reads still work.
type mortalStore struct {
	*testStore
	mu    sync.Mutex // guards the fields below
	left  int        // writes until the crash
	lands bool       // whether the last write is committed

	dead chan struct{}
}

var errKilled = errors.New("killed")

func newMortalStore(w *testStore, random *mathrand.Rand) *mortalStore {
	return &mortalStore{testStore: w, left: 1 + random.IntN(5), lands: random.IntN(2) == 0, dead: make(chan struct{})}
}

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

func paths(n int, prefix string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s%d", prefix, i))
	}
	return all
}

type controller interface{ Run(context.Context) }

type together []controller

func (all together) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, c := range all {
		running.Go(func() { c.Run(ctx) })
	}
}

type running struct {
	begin func(ctx context.Context)
	controller
}

func (r running) Run(ctx context.Context) {
	r.begin(ctx)
	r.controller.Run(ctx)
}

type leads struct{}

func (leads) Holder(context.Context) (string, <-chan struct{}) { return "", nil }

func authorityFiles(t testing.TB) (certificate, key string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must.Succeed(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	must.Succeed(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	must.Succeed(t, err)
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key")
	must.Succeed(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must.Succeed(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600))
	return certificate, key
}

// storedObjects lists the objects from which a quota ledger computes the initial usage. They do not
// change during the test.
type storedObjects struct{ w *testStore }

func (o storedObjects) list(r meta.GroupResource) (*schema.Kind, []*meta.Object, uint64, error) {
	for _, k := range o.w.kinds.StorageKinds() {
		if k.Storage == r {
			list, err := o.w.List(context.Background(), request.List{Kind: k})
			return k, list.Items, list.Version, err
		}
	}
	return nil, nil, 0, nil
}

func (o storedObjects) Get(meta.GroupResource, string, string) *policy.Object { return nil }

func (o storedObjects) Inform(_ context.Context, r meta.GroupResource, onChange func(policy.Change)) error {
	k, all, _, err := o.list(r)
	for _, object := range all {
		t, err := codec.DecodeStored(k.Message(), object.JSON)
		if err != nil {
			return err
		}
		onChange(policy.Change{Object: &policy.Object{Key: object.Key, Meta: object.Meta, Tree: t}})
	}
	return err
}

func (o storedObjects) Scan(_ context.Context, r meta.GroupResource, namespace string, visit func(*schema.Kind, *meta.Object)) (uint64, error) {
	k, all, version, err := o.list(r)
	for _, object := range all {
		if object.Key.Namespace == namespace {
			visit(k, object)
		}
	}
	return version, err
}

func (o storedObjects) Version() uint64 { return o.w.Version() }

func (o storedObjects) AwaitVersion(ctx context.Context, version uint64) error {
	return o.w.AwaitVersion(ctx, version)
}

type podMetrics struct{ body string }

func (podMetrics) Resources() ([]apiservices.Resource, []string) { return nil, nil }

func (m podMetrics) Do(context.Context, apiservices.Request) (int, []byte, error) {
	return 200, []byte(m.body), nil
}

func usage() podMetrics {
	var items []string
	for _, name := range paths(2, "pod") {
		items = append(items, `{"metadata":{"name":"`+name+`"},"timestamp":"`+time.Now().UTC().Format(time.RFC3339)+`","window":"30s","containers":[{"name":"c","usage":{"memory":"200Mi"}}]}`)
	}
	return podMetrics{`{"items":[` + strings.Join(items, ",") + `]}`}
}

type absentServer struct{}

func (absentServer) Probe(context.Context, tree.Tree) apiservices.Unavailability {
	return apiservices.Unavailability{Reason: "FailedDiscoveryCheck", Message: "nobody answers"}
}

func (absentServer) Notify(context.Context, func(namespace, name string)) error { return nil }

// of adapts a constructor that needs no store to the map killed.
func of[C controller](create func(*Env) C) func(*Env, *testStore) controller {
	return func(e *Env, _ *testStore) controller { return create(e) }
}

func workload(of ...func(*workloads.Group) workloads.Controller) func(*Env, *testStore) controller {
	return func(e *Env, _ *testStore) controller {
		g := workloads.NewGroup(e, leads{})
		var all together
		for _, f := range of {
			all = append(all, f(g))
		}
		return all
	}
}

// killed maps the controller names in testdata/kills.txt to constructors.
var killed = map[string]func(*Env, *testStore) controller{
	"apiservice-registration":          of(apiservices.NewRegistration),
	"bootstrap-signer":                 of(tokens.NewBootstrapSigner),
	"clusterrole-aggregation":          of(policies.NewClusterRoleAggregation),
	"csrcleaner":                       of(certificates.NewCleaner),
	"cronjob":                          workload((*workloads.Group).CronJobs),
	"daemonset":                        workload((*workloads.Group).DaemonSets),
	"deployment":                       workload((*workloads.Group).Deployments, (*workloads.Group).ReplicaSets),
	"disruption":                       of(disruption.NewBudgets),
	"endpointslicemirroring":           of(endpoints.NewMirror),
	"ephemeral-volume":                 of(volumes.NewEphemeral),
	"garbage":                          of(garbagecollector.New),
	"job":                              workload((*workloads.Group).Jobs),
	"persistentvolume-binder":          of(volumes.NewBinder),
	"persistentvolume-protection":      of(volumes.NewVolumeProtection),
	"persistentvolumeclaim-protection": of(func(e *Env) controller { return volumes.NewClaimProtection(e, true) }),
	"priority-and-fairness":            of(flowcontrol.NewConfiguration),
	"replicationcontroller":            workload((*workloads.Group).ReplicationControllers),
	"scheduler":                        workload((*workloads.Group).Scheduler),
	"serviceaccount":                   of(tokens.NewDefaultAccounts),
	"serviceaccount-token-secret":      of(tokens.NewSecretCreator),
	"statefulset":                      workload((*workloads.Group).StatefulSets),
	"system objects":                   of(apiserver.NewSystemObjects),
	"taint-eviction":                   of(nodes.NewTaintEviction),
	"token-cleaner":                    of(tokens.NewBootstrapCleaner),
	"ttl-after-finished":               of(job.NewTTLAfterFinished),
	"validatingadmissionpolicy-status": of(policies.NewAdmissionPolicyStatus),
	"volumeattributesclass-protection": of(volumes.NewAttributesClassProtection),
	"apiserver identity":               func(e *Env, _ *testStore) controller { return apiserver.NewIdentity(e, "host") },
	"cluster-info": func(e *Env, _ *testStore) controller {
		return tokens.NewClusterInfo(e, func() []byte { return []byte("here") })
	},
	"csrapproving": func(e *Env, _ *testStore) controller { return certificates.NewApprover(e, authz.AlwaysAllow{}) },
	"definitions": func(e *Env, _ *testStore) controller {
		return crd.New(e.Store.(crd.Store), e.Kinds, discardLogger)
	},
	"endpoints":     func(e *Env, _ *testStore) controller { return endpoints.NewEndpoints(endpoints.NewBackends(e)) },
	"endpointslice": func(e *Env, _ *testStore) controller { return endpoints.NewSlices(endpoints.NewBackends(e)) },
	"events":        func(e *Env, _ *testStore) controller { return apiserver.NewEventExpiry(e, time.Millisecond) },
	"namespace":     func(e *Env, _ *testStore) controller { return namespaces.New(e, nil, 0) },
	"root-ca": func(e *Env, _ *testStore) controller {
		return certificates.NewRootCAPublisher(e, func() []byte { return []byte("roots") })
	},
	"apiservice-availability": func(e *Env, _ *testStore) controller {
		return apiservices.NewAvailability(e, absentServer{}, apiservices.NewMetrics())
	},
	"cluster-authentication-trust": func(e *Env, w *testStore) controller {
		certificate, _ := authorityFiles(w.t)
		roots, err := os.ReadFile(certificate)
		return apiserver.NewExtensionAuthentication(e, func() (apiserver.ExtensionTrust, error) { return apiserver.ExtensionTrust{ClientCA: roots}, err })
	},
	"csrsigning": func(e *Env, w *testStore) controller {
		ca, _, err := certs.LoadAuthority(authorityFiles(w.t))
		must.Succeed(w.t, err)
		return certificates.NewSigner(e, certificates.Authorities{NodeClient: ca}, time.Hour)
	},
	"apiserver service": func(e *Env, w *testStore) controller {
		_, key := w.key("services/default/platform")
		own := apiserver.NewService(e, apiserver.Address{
			Service: key, ClusterIP: netip.MustParseAddr("10.96.0.1"), IP: netip.MustParseAddr("192.0.2.1"), Port: 6443,
		})
		return running{func(ctx context.Context) { _ = own.Ensure(ctx) }, own} // it fails when the store has crashed
	},
	"horizontalpodautoscaler": workload(func(g *workloads.Group) workloads.Controller {
		return g.Autoscalers(usage(), autoscaler.Options{Period: 5 * time.Millisecond, Tolerance: 0.1})
	}),
	"legacy token tracking": func(e *Env, _ *testStore) controller {
		t := tokens.NewLegacyTracking(e)
		for _, name := range paths(4, "s") { // clients use a token again
			t.Used("default", name)
		}
		return t
	},
	"legacy-service-account-token-cleaner": func(e *Env, _ *testStore) controller {
		c := tokens.NewLegacyCleaner(e, time.Hour)
		c.Now = func() time.Time { return time.Now().AddDate(1, 0, 0) }
		return c
	},
	"node-ipam": func(e *Env, _ *testStore) controller {
		return nodes.NewIPAM(e, []nodes.NodeRange{{Range: netip.MustParsePrefix("10.0.0.0/21"), Bits: 24}}, nil)
	},
	"nodelifecycle": func(e *Env, _ *testStore) controller {
		const soon = 5 * time.Millisecond
		return nodes.NewLifecycle(e, nodes.LifecycleOptions{Period: soon, Grace: soon, StartupGrace: soon})
	},
	"podgc": func(e *Env, _ *testStore) controller {
		return nodes.NewPodGC(e, nodes.PodGCOptions{Period: time.Millisecond, Quarantine: time.Millisecond})
	},
	"resourcequota": func(e *Env, w *testStore) controller {
		ledger := quota.New(meta.Platform, discardLogger, false)
		return running{func(ctx context.Context) {
			objects := storedObjects{w}
			if err := ledger.Follower(objects).Follow(ctx, objects); err != nil && ctx.Err() == nil {
				w.t.Error(err)
			}
		}, policies.NewResourceQuotas(e, ledger)}
	},
	"service-cidr": func(e *Env, w *testStore) controller {
		ranges, err := allocation.ParseRanges("10.96.0.0/16")
		must.Succeed(w.t, err)
		ports, err := allocation.ParsePortRange("30000-30009")
		must.Succeed(w.t, err)
		return addresses.NewServiceCIDRs(e, allocation.NewServiceAllocator(ranges, ports, meta.Key{}, meta.Platform))
	},
	"serviceaccount-token": func(e *Env, w *testStore) controller {
		return newSecretFiller(w.t, e, "one")
	},
	"storage-version-migrator": func(e *Env, w *testStore) controller {
		w.staleUpTo.CompareAndSwap(0, w.Version())
		return apiserver.NewStorageVersionMigrator(e)
	},
}

// TestKills crashes every controller around some of its writes, and checks that the controllers
// finish their work after a restart. make soak runs it for many rounds.
func TestKills(t *testing.T) {
	t.Parallel()
	const most = 200
	rounds, end := uint64(2), time.Now()
	if text := os.Getenv("TROUPE_SOAK"); text != "" {
		d, err := time.ParseDuration(text)
		must.Succeed(t, err)
		end = end.Add(d)
	}
	all := readManifests(t, "testdata/kills.txt")
	for name := range killed {
		if !slices.ContainsFunc(all, func(m manifest) bool { return m.controller() == name }) {
			t.Errorf("%s is not killed", name)
		}
	}
	var survived atomic.Int64
	t.Cleanup(func() { t.Logf("tried: %d times a controller finished what a killed one had begun", survived.Load()) })
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(0); seed < rounds || seed < most && time.Now().Before(end); seed++ {
				if m.survive(t, mathrand.New(mathrand.NewPCG(seed, 0))); t.Failed() {
					t.Fatalf("with seed %d", seed)
				}
				survived.Add(1)
			}
		})
	}
}

func (m *manifest) survive(t *testing.T, random *mathrand.Rand) {
	w := newTestStore(t)
	w.perform(m.changes...)
	tick, watchdog := time.NewTicker(time.Millisecond), time.After(5*time.Minute)
	defer tick.Stop()
	for done := false; !done; {
		store := newMortalStore(w, random)
		stop := runControllers(killed[m.controller()](NewEnv(store, w.kinds, discardLogger), w))
		for alive := true; alive && !done; {
			select {
			case <-store.dead:
				alive = false
			case <-tick.C:
				done = w.isDone(m.done)
			case <-watchdog:
				stop()
				t.Fatal("the work is not done")
			}
		}
		stop()
	}
	all, err := w.List(t.Context(), request.List{Kind: w.kind("configmaps")})
	must.Succeed(t, err)
	for _, o := range all.Items {
		if o.Version <= w.staleUpTo.Load() {
			t.Errorf("%s is not migrated", o.Key.Name)
		}
	}
}
