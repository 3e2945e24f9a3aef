package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/extensions"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Namespaces deletes the content of terminating namespaces. It then removes the server's finalizer
// from spec.finalizers, which completes the deletion of the namespace.
type Namespaces struct {
	*Env
	namespaces, pods reconcile.Client
	extensions       extensions.Servers // nil if there are none
	grace            time.Duration      // between the delete of a namespace and that of its content

	active  sync.Map // namespaceInstances being drained
	workers sync.WaitGroup
}

// namespaceInstance identifies a namespace by name and uid, so that a worker never deletes the
// content of a new namespace with the same name.
type namespaceInstance struct{ name, uid string }

// NewNamespaces returns a new Namespaces controller. servers may be nil. The content of a namespace
// is deleted after grace, so that clients that finalize namespaces themselves can do so first.
func NewNamespaces(env *Env, servers extensions.Servers, grace time.Duration) *Namespaces {
	return &Namespaces{Env: env, extensions: servers, grace: grace, namespaces: env.Core("Namespace"), pods: env.Core("Pod")}
}

func (n *Namespaces) Run(ctx context.Context) {
	defer n.workers.Wait()
	f := reconcile.Informer{Client: n.namespaces, On: reconcile.Updates(func(o *meta.Object) { n.startDrain(ctx, o) })}
	f.Run(ctx)
}

// startDrain starts a worker for a terminating namespace, unless it has one. Each namespace has its
// own worker, because draining may wait for finalizers. Later events can be ignored, because the
// worker reads the namespace before each attempt.
func (n *Namespaces) startDrain(ctx context.Context, o *meta.Object) {
	if !o.Meta.Terminating {
		return
	}
	ns := namespaceInstance{name: o.Key.Name, uid: o.Meta.UID}
	if _, started := n.active.LoadOrStore(ns, true); started {
		return
	}
	n.workers.Go(func() {
		defer n.active.Delete(ns)
		select {
		case <-ctx.Done():
		case <-time.After(n.grace):
			n.drain(ctx, ns)
		}
	})
}

// Bounds of the delay between two attempts. The delay doubles each time.
const (
	minPollInterval = 20 * time.Millisecond
	maxPollInterval = 5 * time.Second
)

func (n *Namespaces) drain(ctx context.Context, ns namespaceInstance) {
	reconcile.Poll(ctx, minPollInterval, maxPollInterval, func() bool {
		done, err := n.drainOnce(ctx, ns)
		if !done && err != nil && ctx.Err() == nil {
			n.Log.Warn("deleting the content of a namespace failed", "namespace", ns.name, "error", err)
		}
		return done
	})
}

// drainOnce makes one attempt to empty a namespace and reports whether the work is done. It first
// checks the uid, because a client may have finalized the namespace and created a new one with the
// same name. No objects appear during the attempt, because the store rejects creates in terminating
// namespaces.
func (n *Namespaces) drainOnce(ctx context.Context, ns namespaceInstance) (bool, error) {
	current, object, err := n.read(ctx, ns)
	if current == nil || err != nil {
		return err == nil, err
	}
	left := n.deleteContent(ctx, ns.name, object)
	if !left.isEmpty() {
		return false, errors.Join(left.err(), n.updateConditions(ctx, ns, left))
	}
	if err := n.removeFinalizer(ctx, ns); err != nil {
		return false, err
	}
	// If other finalizers keep the namespace, its conditions must report that the content is
	// deleted.
	err = n.updateConditions(ctx, ns, left)
	return err == nil, err
}

func (n *Namespaces) read(ctx context.Context, ns namespaceInstance) (*meta.Object, tree.Tree, error) {
	current, object, err := n.namespaces.ReadNamed(ctx, "", ns.name)
	if current != nil && current.Meta.UID != ns.uid {
		return nil, nil, nil
	}
	return current, object, err
}

// deleteContent deletes all objects in a namespace and returns the remaining content. It deletes
// other objects only when no Pods remain, because running Pods may depend on objects such as
// NetworkPolicies. A failure for one resource does not stop the others.
func (n *Namespaces) deleteContent(ctx context.Context, name string, namespace tree.Tree) *remainingContent {
	left := newRemainingContent()
	n.deleteObjects(ctx, n.pods.Kind, namespace, left)
	if len(left.resources) > 0 {
		return left
	}
	for _, k := range n.Kinds.StorageKinds() {
		if k.Namespaced && k.Storage != n.pods.Storage {
			n.deleteObjects(ctx, k, namespace, left)
		}
	}
	n.deleteExtensionContent(ctx, name, left)
	return left
}

// deleteObjects deletes the objects of one kind in a namespace and adds the remaining ones to left.
func (n *Namespaces) deleteObjects(ctx context.Context, k *schema.Kind, namespace tree.Tree, left *remainingContent) {
	name, resource := namespace.Object("metadata").String("name"), meta.GroupResource{Group: k.Group, Resource: k.Resource}
	content := request.List{Kind: k.Unconverted(), Namespace: name}
	listing, err := n.Store.DeleteCollection(ctx, content, request.Mutation{
		Kind: k, Change: request.Delete{PropagationPolicy: "Background"},
	})
	if err == nil && len(listing.Items) > 0 {
		listing, err = n.Store.List(ctx, content)
	}
	if err != nil {
		left.failures = append(left.failures, fmt.Errorf("%s: %w", resource, err))
		return
	}
	left.add(resource, listing.Items)
	if len(listing.Items) > 0 && !hasFinalizers(listing.Items) && !n.mayTakeTime(k, namespace, listing.Items) {
		left.failures = append(left.failures, unexpectedItems(name, k.Group, k.Version, k.Resource))
	}
}

func unexpectedItems(namespace, group, version, resource string) error {
	return fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %s/%s, Resource=%s", namespace, group, version, resource)
}

func hasFinalizers(objects []*meta.Object) bool {
	return slices.ContainsFunc(objects, func(o *meta.Object) bool { return len(o.Meta.Finalizers) > 0 })
}

// mayTakeTime reports whether objects include a running Pod that is still within its grace period,
// counted from the namespace's deletion. Such Pods are not reported as failures.
func (n *Namespaces) mayTakeTime(k *schema.Kind, namespace tree.Tree, objects []*meta.Object) bool {
	if k.Storage != n.pods.Storage {
		return false
	}
	deleted, err := time.Parse(time.RFC3339, namespace.Object("metadata").String("deletionTimestamp"))
	return err != nil || slices.ContainsFunc(objects, func(o *meta.Object) bool {
		pod, err := n.pods.Decode(o)
		phase := pod.Object("status").String("phase")
		if err != nil || phase == "Succeeded" || phase == "Failed" {
			return false
		}
		grace, _ := pod.Object("spec").Int("terminationGracePeriodSeconds")
		return time.Since(deleted) < time.Duration(grace)*time.Second
	})
}

// removeFinalizer removes the server's finalizer. It returns a conflict if the namespace has
// changed, because a stale write could restore finalizers that other clients have removed.
func (n *Namespaces) removeFinalizer(ctx context.Context, ns namespaceInstance) error {
	current, object, err := n.read(ctx, ns)
	if current == nil || err != nil {
		return err
	}
	left := reconcile.WithoutItem(object.Object("spec").List("finalizers"), n.NamespaceFinalizer())
	return n.namespaces.Patch(ctx, current, "finalize", tree.Tree{"spec": tree.Tree{"finalizers": left}})
}
