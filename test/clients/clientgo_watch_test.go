package clients

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	troupe "github.com/troupe-api/troupe/test/client"
)

// TestInitialEvents checks that a watch sends existing objects, then the bookmark that ends the
// initial events, and then changes.
func TestInitialEvents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		maps := c.CoreV1().ConfigMaps(ns)
		first := must1(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("a")}, metav1.CreateOptions{}))(t)
		all := true
		w := must1(maps.Watch(t.Context(), metav1.ListOptions{
			SendInitialEvents: &all, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		}))(t)
		defer w.Stop()
		expect(t, w, event{watch.Added, first})
		mark := next(t, w)
		o, ok := mark.Object.(*corev1.ConfigMap)
		if mark.Type != watch.Bookmark || !ok || o.Annotations[metav1.InitialEventsAnnotationKey] != "true" || o.ResourceVersion < first.ResourceVersion {
			t.Errorf("%s %s", mark.Type, show(mark.Object))
		}
		second := must1(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("b")}, metav1.CreateOptions{}))(t)
		expect(t, w, event{watch.Added, second})
	})
}

// TestRetriedWatch checks that a RetryWatcher misses no event, although the server ends each watch
// after one second.
func TestRetriedWatch(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		const writes = 12
		maps := c.CoreV1().ConfigMaps(ns)
		first := must1(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("a")}, metav1.CreateOptions{}))(t)
		var watches atomic.Int64
		w := must1(watchtools.NewRetryWatcherWithContext(t.Context(), first.ResourceVersion, &cache.ListWatch{
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				watches.Add(1)
				second := int64(1)
				options.TimeoutSeconds = &second
				return maps.Watch(ctx, options)
			},
		}))(t)
		defer w.Stop()
		var writing sync.WaitGroup
		defer writing.Wait()
		writing.Go(func() {
			for i := range writes {
				troupe.Poll(func() bool { return watches.Load() > int64(i/4) || t.Failed() }) // spread the writes over three watches
				o := &corev1.ConfigMap{ObjectMeta: named(fmt.Sprintf("b-%02d", i))}
				if _, err := maps.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
		for i := range writes {
			e := next(t, w)
			if o, ok := e.Object.(*corev1.ConfigMap); !ok || e.Type != watch.Added || o.Name != fmt.Sprintf("b-%02d", i) {
				t.Fatalf("event %d: %s %s", i, e.Type, show(e.Object))
			}
		}
		if watches.Load() < 2 {
			t.Error("the watch was never ended")
		}
	})
}

// TestExpiredWatch checks that a RetryWatcher ends with 410 Expired, without retrying, when the
// watch history no longer contains its resourceVersion.
func TestExpiredWatch(t *testing.T) {
	t.Parallel()
	var log troupe.Log
	s := must1(Serve(&log, func(c *daemon.Config) {
		c.Watches.HistoryTime, c.Watches.HistoryBytes = daemon.Duration(time.Millisecond), 1
	}))(t)
	defer func() { mustClientGo(t, s.Stop()) }()
	config := s.Config(t, asJSON)
	resources := must1(dynamic.NewForConfig(config))(t)
	at := define(t, config)
	gadgets, maps := resources.Resource(at).Namespace("default"), resources.Resource(configMaps).Namespace("default")
	gadget := must1(gadgets.Create(t.Context(), tree(at.GroupVersion().String(), "Gadget", "a", nil), metav1.CreateOptions{}))(t)
	object := must1(maps.Create(t.Context(), tree("v1", "ConfigMap", "a", nil), metav1.CreateOptions{}))(t)
	forget(t, gadgets, gadget)
	forget(t, maps, object)
	one := fields.OneTermEqualSelector(metav1.ObjectNameField, "a").String()
	typed := func(media string) cache.WatcherWithContext {
		return &cache.ListWatch{WatchFuncWithContext: s.Typed(t, media).CoreV1().ConfigMaps("default").Watch}
	}
	for name, c := range map[string]struct {
		version string
		watcher cache.WatcherWithContext
	}{
		"json":     {object.GetResourceVersion(), typed(asJSON)},
		"protobuf": {object.GetResourceVersion(), typed(asProtobuf)},
		"custom":   {gadget.GetResourceVersion(), &cache.ListWatch{WatchFuncWithContext: gadgets.Watch}},
		"one": {gadget.GetResourceVersion(), &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = one
			return gadgets.Watch(ctx, options)
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := must1(watchtools.NewRetryWatcherWithContext(t.Context(), c.version, c.watcher))(t)
			defer w.Stop()
			e := next(t, w)
			if err := apierrors.FromObject(e.Object); e.Type != watch.Error || !apierrors.IsResourceExpired(err) {
				t.Errorf("%s %v", e.Type, err)
			}
			select {
			case <-w.Done():
			case <-time.After(troupe.Watchdog):
				t.Error("the watch is retried")
			}
		})
	}
}

// forget patches an object until the watch history no longer contains o's resourceVersion.
func forget(t *testing.T, objects dynamic.ResourceInterface, o *unstructured.Unstructured) {
	t.Helper()
	then := metav1.ListOptions{ResourceVersion: o.GetResourceVersion(), Limit: 1}
	n := 0
	eventually(t, "the previous state has expired", func(ctx context.Context) (bool, error) {
		for range missedWrites {
			n++
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"n":"%d"}}}`, n)
			if _, err := objects.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				return false, err
			}
		}
		_, err := objects.List(ctx, then)
		return apierrors.IsResourceExpired(err), nil
	}, nil)
}

// TestUntil checks that UntilWithSync returns once an object meets a condition.
func TestUntil(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		maps := c.CoreV1().ConfigMaps(ns)
		o := must1(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("a")}, metav1.CreateOptions{}))(t)
		one := fields.OneTermEqualSelector(metav1.ObjectNameField, "a").String()
		of := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				options.FieldSelector = one
				return maps.List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				options.FieldSelector = one
				return maps.Watch(ctx, options)
			},
		}
		var writing sync.WaitGroup
		defer writing.Wait()
		writing.Go(func() {
			o.Data = map[string]string{"done": "yes"}
			if _, err := maps.Update(t.Context(), o, metav1.UpdateOptions{}); err != nil {
				t.Error(err)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), troupe.Watchdog)
		defer cancel()
		e := must1(watchtools.UntilWithSync(ctx, of, &corev1.ConfigMap{}, nil, func(e watch.Event) (bool, error) {
			o, ok := e.Object.(*corev1.ConfigMap)
			return ok && o.Data["done"] == "yes", nil
		}))(t)
		if e.Object.(*corev1.ConfigMap).Name != "a" {
			t.Errorf("%s", show(e.Object))
		}
	})
}

// TestPager checks that all pages of a list come from one resource version.
func TestPager(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		const objects = 25
		maps := c.CoreV1().ConfigMaps(ns)
		for i := range objects {
			must1(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("a-%02d", i), Labels: selector.MatchLabels}}, metav1.CreateOptions{}))(t)
		}
		chunks := 0
		pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			if chunks++; chunks == 2 { // later chunks still show the deleted object
				if err := maps.Delete(ctx, "a-20", metav1.DeleteOptions{}); err != nil {
					return nil, err
				}
			}
			return maps.List(ctx, options)
		})
		pages.PageSize = 10
		var seen []string
		err := pages.EachListItem(t.Context(), metav1.ListOptions{LabelSelector: "app=a"}, func(o runtime.Object) error {
			seen = append(seen, o.(*corev1.ConfigMap).Name)
			return nil
		})
		mustClientGo(t, err)
		if len(seen) != objects || chunks != 3 || seen[20] != "a-20" {
			t.Errorf("%d chunks, %v", chunks, seen)
		}
		list, paged, err := pages.List(t.Context(), metav1.ListOptions{LabelSelector: "app=a"})
		mustClientGo(t, err)
		if whole, ok := list.(*metav1.List); ok && (!paged || len(whole.Items) != objects-1) {
			t.Errorf("paged %t, %d items", paged, len(whole.Items))
		}
	})
}
