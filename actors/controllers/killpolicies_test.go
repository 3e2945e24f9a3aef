package controllers

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/actors/controllers/extensions"
	"github.com/troupe-api/troupe/actors/controllers/nodes"
	"github.com/troupe-api/troupe/actors/controllers/workloads"
	"github.com/troupe-api/troupe/actors/controllers/workloads/autoscaler"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission/quota"
	"github.com/troupe-api/troupe/policy/certs"
)

// authorityFiles returns the files of a CA's certificate and key.
func (w *testStore) authorityFiles() (certificate, key string) {
	w.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		w.t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		w.t.Fatal(err)
	}
	dir := w.t.TempDir()
	for name, block := range map[string]*pem.Block{"ca.crt": {Type: "CERTIFICATE", Bytes: der}, "ca.key": {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	return filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key")
}

func (w *testStore) authority() *certs.Authority {
	w.t.Helper()
	ca, _, err := certs.LoadAuthority(w.authorityFiles())
	if err != nil {
		w.t.Fatal(err)
	}
	return ca
}

// storedObjects is the store from which a quota ledger starts. No object changes meanwhile.
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

// Get is not needed here.
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

// podMetrics is a metrics server that reports the memory usage of Pods.
type podMetrics struct{ body string }

func (podMetrics) Resources() ([]extensions.Resource, []string) { return nil, nil }

func (m podMetrics) Do(context.Context, extensions.Request) (int, []byte, error) {
	return 200, []byte(m.body), nil
}

// usage reports the usage of two Pods.
func usage() podMetrics {
	var items []string
	for _, name := range paths(2, "pod") {
		items = append(items, `{"metadata":{"name":"`+name+`"},"timestamp":"`+time.Now().UTC().Format(time.RFC3339)+`","window":"30s","containers":[{"name":"c","usage":{"memory":"200Mi"}}]}`)
	}
	return podMetrics{`{"items":[` + strings.Join(items, ",") + `]}`}
}

// running runs a controller beside its dependency, such as a ledger that follows the objects.
type running struct {
	begin func(ctx context.Context)
	then  interface{ Run(context.Context) }
}

func (r running) Run(ctx context.Context) {
	r.begin(ctx)
	r.then.Run(ctx)
}

var killedPolicies = []killedController{
	{"csrsigning", func(w *testStore) {
		w.each(4, "certificates.platform.io/v1/CertificateSigningRequest", nodeRequest(w))
		for _, name := range paths(4, "r") {
			w.decide(name, "Approved", time.Now().UTC().Format(time.RFC3339))
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return certificates.NewSigner(NewEnv(store, w.kinds, discardLogger), certificates.Authorities{NodeClient: w.authority()}, time.Hour)
	}, func(w *testStore) bool {
		return w.count("certificates.platform.io/v1/CertificateSigningRequest", 4, func(t tree.Tree) bool {
			return t.Object("status").Has("certificate")
		}) == 4
	}},
	{"node-ipam", func(w *testStore) { w.each(6, "v1/Node", goodNode) }, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return nodes.NewIPAM(NewEnv(store, w.kinds, discardLogger), []nodes.NodeRange{{Range: netip.MustParsePrefix("10.0.0.0/21"), Bits: 24}}, nil)
	}, func(w *testStore) bool {
		parts := map[string]bool{}
		all := w.all("v1/Node")
		for _, t := range all {
			part := t.Object("spec").String("podCIDR")
			if part == "" {
				return false
			}
			parts[part] = true
		}
		if len(parts) != len(all) {
			w.t.Errorf("%d nodes share %d ranges", len(all), len(parts))
		}
		return true
	}},
	{"resourcequota", func(w *testStore) {
		w.each(4, "v1/ResourceQuota", `{"metadata":{"name":"q$"},"spec":{"hard":{"configmaps":"10","secrets":"$"}}}`)
		for _, path := range paths(3, "configmaps/default/c") {
			w.create(path)
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		ledger := quota.New(meta.Platform, discardLogger, false)
		return running{func(ctx context.Context) {
			objects := storedObjects{w}
			if err := ledger.Follower(objects).Follow(ctx, objects); err != nil && ctx.Err() == nil {
				w.t.Error(err)
			}
		}, NewResourceQuotas(NewEnv(store, w.kinds, discardLogger), ledger)}
	}, func(w *testStore) bool {
		return w.count("v1/ResourceQuota", 4, func(t tree.Tree) bool {
			status := t.Object("status")
			return status.Object("used").String("configmaps") == "3" && status.Object("used").String("secrets") == "0" && status.Object("hard").String("configmaps") == "10"
		}) == 4
	}},
	{"horizontalpodautoscaler", func(w *testStore) {
		w.each(2, "v1/Pod", runningPod)
		w.make("apps/v1/ReplicaSet", `{"metadata":{"name":"rs"},"spec":{"replicas":2,`+podTemplate+`},"status":{"replicas":2}}`)
		w.make("autoscaling/v2/HorizontalPodAutoscaler", `{"metadata":{"name":"a"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs"},"maxReplicas":9,
			"metrics":[{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"100Mi"}}}]}}`)
	}, workload(func(g *workloads.Group) workloads.Controller {
		return g.Autoscalers(usage(), autoscaler.Options{Period: 5 * time.Millisecond, Tolerance: 0.1})
	}), func(w *testStore) bool {
		w.count("apps/v1/ReplicaSet", 0, func(t tree.Tree) bool { n, _ := t.Object("spec").Int("replicas"); return n != 2 && n != 4 })
		return w.count("apps/v1/ReplicaSet", 1, holds(`"replicas":4`)) == 1 &&
			w.count("autoscaling/v2/HorizontalPodAutoscaler", 1, holds(`"desiredReplicas":4`)) == 1
	}},
}
