package clients

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/consistencydetector"

	"github.com/troupe-api/troupe/test/client"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// An informerKind creates an informer for a namespace's ConfigMaps, and a function that lists them.
type informerKind struct {
	media string
	make  func(t *testing.T, config *rest.Config, ns string) (cache.SharedIndexInformer, func(context.Context) (runtime.Object, error))
}

var informerKinds = map[string]informerKind{
	"json":     {asJSON, typedInformer},
	"protobuf": {asProtobuf, typedInformer},
	"dynamic":  {asJSON, dynamicInformer},
	"metadata": {asProtobuf, metadataInformer},
}

func typedInformer(t *testing.T, config *rest.Config, ns string) (cache.SharedIndexInformer, func(context.Context) (runtime.Object, error)) {
	c := must1(kubernetes.NewForConfig(config))(t)
	factory := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithNamespace(ns))
	return factory.Core().V1().ConfigMaps().Informer(), func(ctx context.Context) (runtime.Object, error) {
		return c.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{})
	}
}

func dynamicInformer(t *testing.T, config *rest.Config, ns string) (cache.SharedIndexInformer, func(context.Context) (runtime.Object, error)) {
	c := must1(dynamic.NewForConfig(config))(t)
	return dynamicinformer.NewFilteredDynamicInformer(c, configMaps, ns, 0, cache.Indexers{}, nil).Informer(), func(ctx context.Context) (runtime.Object, error) {
		return c.Resource(configMaps).Namespace(ns).List(ctx, metav1.ListOptions{})
	}
}

func metadataInformer(t *testing.T, config *rest.Config, ns string) (cache.SharedIndexInformer, func(context.Context) (runtime.Object, error)) {
	c := must1(metadata.NewForConfig(config))(t)
	return metadatainformer.NewFilteredMetadataInformer(c, configMaps, ns, 0, cache.Indexers{}, nil).Informer(), func(ctx context.Context) (runtime.Object, error) {
		return c.Resource(configMaps).Namespace(ns).List(ctx, metav1.ListOptions{})
	}
}

// TestInformers checks that informer caches equal a list, with and without streamed initial
// events. With streaming, client-go's consistency detector also compares them with a list.
func TestInformers(t *testing.T) {
	t.Parallel()
	ownClientGoFeatures(t)
	defer consistencydetector.SetDataConsistencyDetectionForWatchListEnabledForTest(true)()
	for _, streamed := range []bool{true, false} {
		t.Run(fmt.Sprintf("streamed=%t", streamed), func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streamed)
			for name, k := range informerKinds {
				t.Run(name, func(t *testing.T) {
					k.check(t, streamed)
				})
			}
		})
	}
}

// check writes objects before and after an informer starts, and compares its cache with a list.
func (k informerKind) check(t *testing.T, streamed bool) {
	ns := clientGoServer(t).Namespace(t)
	maps := clientGoServer(t).Typed(t, asProtobuf).CoreV1().ConfigMaps(ns)
	write := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			o := &corev1.ConfigMap{ObjectMeta: named(fmt.Sprintf("a-%02d", i)), Data: map[string]string{"a": "b"}}
			must1(maps.Create(t.Context(), o, metav1.CreateOptions{}))(t)
		}
	}
	write(0, 10)
	var traffic Traffic
	informer, list := k.make(t, traffic.Of(clientGoServer(t).Config(t, k.media)), ns)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	waiting, stop := context.WithTimeout(ctx, client.Watchdog)
	defer stop()
	if !cache.WaitForCacheSync(waiting.Done(), informer.HasSynced) {
		t.Fatalf("not synced: %v", traffic.With(""))
	}
	if found := len(informer.GetStore().List()); found != 10 {
		t.Errorf("synced with %d objects", found)
	}
	if streams := len(traffic.With("sendInitialEvents=true")); (streams == 1) != streamed || streams > 1 {
		t.Errorf("%d streams: %v", streams, traffic.With(""))
	}
	write(10, 20)
	for i := range 5 {
		mustClientGo(t, maps.Delete(t.Context(), fmt.Sprintf("a-%02d", i*3), metav1.DeleteOptions{}))
		o := must1(maps.Get(t.Context(), fmt.Sprintf("a-%02d", i*3+1), metav1.GetOptions{}))(t)
		o.Data["a"], o.Labels = "c", selector.MatchLabels
		must1(maps.Update(t.Context(), o, metav1.UpdateOptions{}))(t)
	}
	waitInSync(t, informer, list)
	if watches := len(traffic.With("watch=true")); watches > 2 {
		t.Errorf("%d watches: %v", watches, traffic.With(""))
	}
}

func waitInSync(t *testing.T, informer cache.SharedIndexInformer, list func(context.Context) (runtime.Object, error)) {
	t.Helper()
	all := must1(list(t.Context()))(t)
	items := must1(meta.ExtractList(all))(t)
	var differs string
	eventually(t, "the cache is the list", func(context.Context) (bool, error) {
		differs = difference(informer.GetStore(), items)
		return differs == "", nil
	}, func() string { return differs })
}

// difference describes the first difference between a cache and a list's items. It returns "" if
// there is none.
func difference(store cache.Store, items []runtime.Object) string {
	if cached := store.List(); len(cached) != len(items) {
		return fmt.Sprintf("%d are cached, %d listed", len(cached), len(items))
	}
	for _, item := range items {
		key, err := cache.MetaNamespaceKeyFunc(item)
		if err != nil {
			return err.Error()
		}
		cached, found, err := store.GetByKey(key)
		if err != nil || !found || !equality.Semantic.DeepEqual(cached, item) {
			return fmt.Sprintf("listed\n%s, cached\n%s", show(item), show(cached))
		}
	}
	return ""
}

// TestFactory checks that informers for many kinds sync concurrently, with resyncs.
func TestFactory(t *testing.T) {
	t.Parallel()
	c, ns := clientGoServer(t).Typed(t, asProtobuf), clientGoServer(t).Namespace(t)
	factory := informers.NewSharedInformerFactoryWithOptions(c, time.Second, informers.WithNamespace(ns))
	for _, resource := range []schema.GroupVersionResource{
		configMaps,
		{Version: "v1", Resource: "pods"}, {Version: "v1", Resource: "services"}, {Version: "v1", Resource: "nodes"},
		{Version: "v1", Resource: "namespaces"}, {Version: "v1", Resource: "secrets"}, {Version: "v1", Resource: "events"},
		{Group: "apps", Version: "v1", Resource: "deployments"}, {Group: "apps", Version: "v1", Resource: "replicasets"},
		{Group: "apps", Version: "v1", Resource: "statefulsets"}, {Group: "batch", Version: "v1", Resource: "jobs"},
		{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, {Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
		{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}, {Group: "events.k8s.io", Version: "v1", Resource: "events"},
	} {
		must1(factory.ForResource(resource))(t)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer factory.Shutdown()
	defer cancel()
	factory.Start(ctx.Done())
	waiting, stop := context.WithTimeout(ctx, client.Watchdog)
	defer stop()
	for kind, synced := range factory.WaitForCacheSync(waiting.Done()) {
		if !synced {
			t.Errorf("%v is not synced", kind)
		}
	}
}

// clientGoFeatures serializes tests that change client-go's feature gates, because the gates are
// global to the process.
var clientGoFeatures sync.Mutex

func ownClientGoFeatures(t *testing.T) {
	clientGoFeatures.Lock()
	t.Cleanup(clientGoFeatures.Unlock)
}
