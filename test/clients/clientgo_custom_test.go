package clients

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
)

// define creates a CRD for the kind Gadget, with a status subresource, in a new API group.
func define(t *testing.T, config *rest.Config) schema.GroupVersionResource {
	t.Helper()
	at := schema.GroupVersionResource{Group: clientGoServer(t).Namespace(t) + ".example.com", Version: "v1", Resource: "gadgets"}
	number := extensions.JSONSchemaProps{Type: "integer"}
	part := extensions.JSONSchemaProps{Type: "object", Properties: map[string]extensions.JSONSchemaProps{"size": number}}
	_, err := must1(definitions.NewForConfig(config))(t).CustomResourceDefinitions().Create(t.Context(), &extensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: at.Resource + "." + at.Group},
		Spec: extensions.CustomResourceDefinitionSpec{
			Group: at.Group, Scope: extensions.NamespaceScoped,
			Names: extensions.CustomResourceDefinitionNames{Plural: at.Resource, Kind: "Gadget"},
			Versions: []extensions.CustomResourceDefinitionVersion{{
				Name: at.Version, Served: true, Storage: true,
				Schema: &extensions.CustomResourceValidation{OpenAPIV3Schema: &extensions.JSONSchemaProps{
					Type: "object", Properties: map[string]extensions.JSONSchemaProps{"spec": part, "status": part},
				}},
				Subresources: &extensions.CustomResourceSubresources{Status: &extensions.CustomResourceSubresourceStatus{}},
			}},
		},
	}, metav1.CreateOptions{})
	mustClientGo(t, err)
	return at
}

// TestCustomKind checks that a controller can discover a new custom kind, watch it, and update the
// status of its objects.
func TestCustomKind(t *testing.T) {
	t.Parallel()
	for _, media := range []string{asJSON, asProtobuf} {
		t.Run(media, func(t *testing.T) {
			config, ns := clientGoServer(t).Config(t, media), clientGoServer(t).Namespace(t)
			at := define(t, config)
			mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(must1(discovery.NewDiscoveryClientForConfig(config))(t)))
			mapping := must1(mapper.RESTMapping(schema.GroupKind{Group: at.Group, Kind: "Gadget"}))(t)
			if mapping.Resource != at || mapping.Scope != meta.RESTScopeNamespace {
				t.Fatalf("mapped to %v", mapping)
			}
			client := must1(dynamic.NewForConfig(config))(t)
			factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, ns, nil)
			informer := factory.ForResource(at)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			control(ctx, t, client.Resource(at).Namespace(ns), informer.Informer())
			factory.Start(ctx.Done())
			factory.WaitForCacheSync(ctx.Done())

			gadgets := client.Resource(at).Namespace(ns)
			for i := range 10 {
				o := tree(at.GroupVersion().String(), "Gadget", fmt.Sprint("g", i), map[string]any{"spec": map[string]any{"size": int64(i + 1)}})
				must1(gadgets.Create(ctx, o, metav1.CreateOptions{}))(t)
			}
			settled := func(size func(i int) int64) {
				t.Helper()
				eventually(t, "status follows spec", func(ctx context.Context) (bool, error) {
					list, err := gadgets.List(ctx, metav1.ListOptions{})
					for i := range list.Items {
						got, _, _ := unstructured.NestedInt64(list.Items[i].Object, "status", "size")
						if want := size(i); got != want || list.Items[i].GetGeneration() > 2 {
							return false, err
						}
					}
					return len(list.Items) == 10, err
				}, nil)
			}
			settled(func(i int) int64 { return int64(i + 1) })
			must1(gadgets.Patch(ctx, "g0", types.MergePatchType, []byte(`{"spec":{"size":42}}`), metav1.PatchOptions{}))(t)
			settled(func(i int) int64 { return map[bool]int64{true: 42, false: int64(i + 1)}[i == 0] })
			heads := must1(must1(metadata.NewForConfig(config))(t).Resource(at).Namespace(ns).List(ctx, metav1.ListOptions{}))(t)
			if len(heads.Items) != 10 {
				t.Errorf("metadata of %d", len(heads.Items))
			}
		})
	}
}

// control starts a controller that copies spec.size to status.size.
func control(ctx context.Context, t *testing.T, client dynamic.ResourceInterface, informer cache.SharedIndexInformer) {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	add := func(o any) { queue.Add(o.(*unstructured.Unstructured).GetName()) }
	must1(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }}))(t)
	context.AfterFunc(ctx, queue.ShutDown)
	go func() {
		for {
			name, over := queue.Get()
			if over {
				return
			}
			if err := reconcile(ctx, client, name); err != nil {
				queue.AddRateLimited(name)
			}
			queue.Done(name)
		}
	}()
}

func reconcile(ctx context.Context, client dynamic.ResourceInterface, name string) error {
	o, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	want, _, _ := unstructured.NestedInt64(o.Object, "spec", "size")
	if got, _, _ := unstructured.NestedInt64(o.Object, "status", "size"); got == want {
		return nil
	}
	if err := unstructured.SetNestedField(o.Object, want, "status", "size"); err != nil {
		return err
	}
	_, err = client.UpdateStatus(ctx, o, metav1.UpdateOptions{})
	return err
}
