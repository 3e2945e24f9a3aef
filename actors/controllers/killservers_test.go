package controllers

import (
	"context"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/actors/controllers/workloads"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// roots returns the certificates of a CA.
func (w *testStore) roots() []byte {
	w.t.Helper()
	certificate, _ := w.authorityFiles()
	text, err := os.ReadFile(certificate)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// absentServer is an extension server that does not respond.
type absentServer struct{}

func (absentServer) Probe(context.Context, tree.Tree) Unavailability {
	return Unavailability{Reason: "FailedDiscoveryCheck", Message: "nobody answers"}
}

func (absentServer) Notify(context.Context, func(namespace, name string)) error { return nil }

// killedServers are the controllers of the server's own objects and of expired ones.
var killedServers = []killedController{
	{"csrcleaner", func(w *testStore) {
		w.each(4, "certificates.platform.io/v1/CertificateSigningRequest", nodeRequest(w))
		for _, name := range paths(4, "r") {
			w.decide(name, "Denied", "2020-01-01T00:00:00Z")
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return certificates.NewCleaner(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return len(w.all("certificates.platform.io/v1/CertificateSigningRequest")) == 0
	}},
	{"cluster-authentication-trust", func(*testStore) {}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		roots := w.roots()
		return NewExtensionAuthentication(NewEnv(store, w.kinds, discardLogger), func() (ExtensionTrust, error) { return ExtensionTrust{ClientCA: roots}, nil })
	}, func(w *testStore) bool {
		return strings.Contains(w.dataOf("configmaps/platform-system/extension-apiserver-authentication", "client-ca-file"), "BEGIN CERTIFICATE")
	}},
	{"apiserver service", func(*testStore) {}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		_, key := w.key("services/default/platform")
		own := NewAPIServerService(NewEnv(store, w.kinds, discardLogger), APIServerAddress{
			Service: key, ClusterIP: netip.MustParseAddr("10.96.0.1"), IP: netip.MustParseAddr("192.0.2.1"), Port: 6443,
		})
		return running{func(ctx context.Context) { _ = own.Ensure(ctx) }, own} // it fails where its life ends
	}, func(w *testStore) bool {
		return w.count("v1/Service", 1, holds("10.96.0.1")) == 1 && w.count("v1/Endpoints", 1, holds("192.0.2.1", "6443")) == 1 &&
			w.count("discovery.platform.io/v1/EndpointSlice", 1, holds("192.0.2.1", "6443")) == 1
	}},
	{"apiserver identity", func(w *testStore) {
		w.make("coordination.platform.io/v1/Lease", `{"metadata":{"name":"gone"}}`) // a foreign Lease, which stays
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewAPIServerIdentity(NewEnv(store, w.kinds, discardLogger), "host")
	}, func(w *testStore) bool {
		return w.count("coordination.platform.io/v1/Lease", 1, holds("apiserver.platform.io/identity", "holderIdentity")) == 1
	}},
	{"apiservice-availability", func(w *testStore) {
		w.each(4, "apiregistration.platform.io/v1/APIService", `{"metadata":{"name":"v1.g$.example.com"},"spec":{"group":"g$.example.com","version":"v1","groupPriorityMinimum":1,"versionPriority":1,
			"service":{"namespace":"default","name":"s"}}}`)
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewAPIServiceAvailability(NewEnv(store, w.kinds, discardLogger), absentServer{}, NewAPIServiceMetrics())
	}, func(w *testStore) bool {
		return w.count("apiregistration.platform.io/v1/APIService", 4, holds("FailedDiscoveryCheck")) == 4
	}},
	{"legacy-service-account-token-cleaner", func(w *testStore) {
		w.create("serviceaccounts/default/robot")
		var references []any
		for _, path := range paths(4, "secrets/default/s") {
			w.tokenSecret(path, "robot")
			references = append(references, tree.Tree{"name": path[len("secrets/default/"):]})
		}
		w.mutate("serviceaccounts/default/robot", request.Mutation{Change: request.Update{Object: tree.Tree{
			"metadata": tree.Tree{"name": "robot"}, "secrets": references,
		}}})
		w.mutate("configmaps/platform-system/"+legacyTokenTracking, request.Mutation{Change: request.Create{Object: tree.Tree{
			"metadata": tree.Tree{"name": legacyTokenTracking}, "data": tree.Tree{"since": "2020-01-01"},
		}}})
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		c := NewLegacyTokenCleaner(NewEnv(store, w.kinds, discardLogger), time.Hour)
		c.now = func() time.Time { return time.Now().AddDate(1, 0, 0) }
		return c
	}, func(w *testStore) bool {
		return w.count("v1/Secret", 4, holds("legacy-token-invalid-since")) == 4
	}},
	{"persistentvolume-protection", func(w *testStore) {
		const volume = `{"metadata":{"name":"$NAME","finalizers":["platform.io/pv-protection"]},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}}`
		w.each(3, "v1/PersistentVolume", strings.ReplaceAll(volume, "$NAME", "going$"))
		w.each(3, "v1/PersistentVolume", strings.Replace(strings.ReplaceAll(volume, "$NAME", "bare$"), `,"finalizers":["platform.io/pv-protection"]`, "", 1))
		for _, name := range paths(3, "going") {
			w.deleteOther("v1/PersistentVolume", name)
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewVolumeProtection(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return len(w.all("v1/PersistentVolume")) == 3 && w.count("v1/PersistentVolume", 3, holds("pv-protection")) == 3
	}},
	{"volumeattributesclass-protection", func(w *testStore) {
		w.each(4, "storage.platform.io/v1/VolumeAttributesClass", `{"metadata":{"name":"c$","finalizers":["platform.io/vac-protection"]},"driverName":"d","parameters":{"a":"b"}}`)
		for _, name := range paths(4, "c") {
			w.deleteOther("storage.platform.io/v1/VolumeAttributesClass", name)
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewAttributesClassProtection(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool { return len(w.all("storage.platform.io/v1/VolumeAttributesClass")) == 0 }},
	{"scheduler", func(w *testStore) {
		w.each(2, "v1/Node", strings.Replace(goodNode, `"status":{`, `"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"},"capacity":{"cpu":"4","memory":"8Gi","pods":"10"},`, 1))
		w.each(6, "v1/Pod", `{"metadata":{"name":"p$"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	}, workload((*workloads.Group).Scheduler), func(w *testStore) bool {
		return w.count("v1/Pod", 6, func(t tree.Tree) bool { return t.Object("spec").String("nodeName") != "" }) == 6
	}},
}

// decide approves or denies a certificate request at a given time.
func (w *testStore) decide(name, condition, at string) {
	w.t.Helper()
	k := w.kindOf("certificates.platform.io/v1/CertificateSigningRequest")
	_, err := w.Mutate(context.Background(), request.Mutation{
		Kind: k, Key: meta.Key{GroupResource: k.Storage, Name: name}, Subresource: "approval",
		Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"status":{"conditions":[{"type":"` + condition + `","status":"True","reason":"R","lastUpdateTime":"` + at + `"}]}}`)},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// deleteOther deletes a cluster-scoped object.
func (w *testStore) deleteOther(kind, name string) {
	w.t.Helper()
	k := w.kindOf(kind)
	if _, err := w.Mutate(context.Background(), request.Mutation{Kind: k, Key: meta.Key{GroupResource: k.Storage, Name: name}, Change: request.Delete{}}); err != nil {
		w.t.Fatal(err)
	}
}
