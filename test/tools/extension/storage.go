package main

import (
	"context"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/metrics/pkg/apis/metrics"
)

func usage() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("125m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
}

type nodes struct {
	rest.TableConvertor
	node metrics.NodeMetrics
}

func newNodes() *nodes {
	return &nodes{rest.NewDefaultTableConvertor(metrics.Resource("nodes")), metrics.NodeMetrics{
		ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Timestamp: metav1.NewTime(time.Unix(1, 0)), Window: metav1.Duration{Duration: time.Second}, Usage: usage(),
	}}
}

func (n *nodes) New() runtime.Object     { return &metrics.NodeMetrics{} }
func (n *nodes) NewList() runtime.Object { return &metrics.NodeMetricsList{} }
func (n *nodes) Destroy()                {}
func (n *nodes) NamespaceScoped() bool   { return false }
func (n *nodes) GetSingularName() string { return "node" }
func (n *nodes) Kind() string            { return "NodeMetrics" }

func (n *nodes) List(context.Context, *metainternal.ListOptions) (runtime.Object, error) {
	return &metrics.NodeMetricsList{Items: []metrics.NodeMetrics{n.node}}, nil
}

func (n *nodes) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if name != n.node.Name {
		return nil, errors.NewNotFound(metrics.Resource("nodes"), name)
	}
	return n.node.DeepCopy(), nil
}

// pods serves Pod metrics, which clients create.
type pods struct {
	rest.TableConvertor
	watchers *watch.Broadcaster

	mu      sync.Mutex // guards the following fields
	version int
	items   []metrics.PodMetrics
}

func newPods() *pods {
	return &pods{TableConvertor: rest.NewDefaultTableConvertor(metrics.Resource("pods")), watchers: watch.NewBroadcaster(100, watch.WaitIfChannelFull)}
}

func (p *pods) New() runtime.Object     { return &metrics.PodMetrics{} }
func (p *pods) NewList() runtime.Object { return &metrics.PodMetricsList{} }
func (p *pods) Destroy()                {}
func (p *pods) NamespaceScoped() bool   { return true }
func (p *pods) GetSingularName() string { return "pod" }
func (p *pods) Kind() string            { return "PodMetrics" }

func (p *pods) List(ctx context.Context, _ *metainternal.ListOptions) (runtime.Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := &metrics.PodMetricsList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(p.version)}, Items: []metrics.PodMetrics{}}
	for _, item := range p.items {
		if ns := request.NamespaceValue(ctx); ns == "" || ns == item.Namespace {
			list.Items = append(list.Items, *item.DeepCopy())
		}
	}
	return list, nil
}

func (p *pods) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, item := range p.items {
		if item.Name == name && item.Namespace == request.NamespaceValue(ctx) {
			return item.DeepCopy(), nil
		}
	}
	return nil, errors.NewNotFound(metrics.Resource("pods"), name)
}

// Watch ignores resource versions, and reports only objects created after the watch has started.
func (p *pods) Watch(context.Context, *metainternal.ListOptions) (watch.Interface, error) {
	return p.watchers.Watch()
}

func (p *pods) Create(ctx context.Context, o runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	if err := validate(ctx, o); err != nil {
		return nil, err
	}
	item := o.(*metrics.PodMetrics).DeepCopy()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version++
	item.ResourceVersion, item.Timestamp, item.Window.Duration = strconv.Itoa(p.version), metav1.NewTime(time.Unix(1, 0)), time.Second
	for i := range item.Containers {
		item.Containers[i].Usage = usage()
	}
	p.items = append(p.items, *item)
	if user, ok := request.UserFrom(ctx); ok {
		item.Annotations = map[string]string{"creator": user.GetName()}
	}
	return item, p.watchers.Action(watch.Added, item.DeepCopy())
}
