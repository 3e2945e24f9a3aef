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

// Namespaces deletes the content of namespaces that are being deleted, and then removes the server's
// finalizer from spec.finalizers, which completes the delete.
type Namespaces struct {
	*Env
	namespaces, pods reconcile.Client
	extensions       extensions.Servers // nil for none
	grace            time.Duration      // between the delete of a namespace and that of its content

	active  sync.Map // namespaceInstances that are being drained
	workers sync.WaitGroup
}

// namespaceInstance identifies a namespace by name and uid. Once it is deleted, a namespace of the
// same name may be created, whose content its worker must not delete.
type namespaceInstance struct{ name, uid string }

// NewNamespaces returns the controller. servers are the servers that extend the API; nil for none. The
// content of a namespace is deleted after the grace, so that a client may remove the finalizer itself
// before that, as it has to where nothing else does.
func NewNamespaces(env *Env, servers extensions.Servers, grace time.Duration) *Namespaces {
	return &Namespaces{Env: env, extensions: servers, grace: grace, namespaces: env.Core("Namespace"), pods: env.Core("Pod")}
}

// Run runs the controller until the context ends.
func (n *Namespaces) Run(ctx context.Context) {
	defer n.workers.Wait()
	f := reconcile.Informer{Client: n.namespaces, On: reconcile.Updates(func(o *meta.Object) { n.startDrain(ctx, o) })}
	f.Run(ctx)
}

// startDrain starts a worker for a namespace that is being deleted. However many events
// there are for it, a namespace has one worker at a time.
//
// A worker of its own for each namespace, since emptying one may take as long as the finalizers in it.
// Later events need not be handled: the worker looks at the store again before each attempt.
func (n *Namespaces) startDrain(ctx context.Context, o *meta.Object) {
	if !o.Meta.Terminating {
		return
	}
	ns := namespaceInstance{name: o.Key.Name, uid: o.Meta.UID}
	// The uid is part of the key, so a new namespace of the name gets its worker while the former one's still ends.
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

// The delay between two attempts to empty a namespace in which objects have finalizers; it doubles
// from the minimum to the maximum.
const (
	minPollInterval = 20 * time.Millisecond
	maxPollInterval = 5 * time.Second
)

// drain empties a namespace, and retries while objects in it have finalizers.
// The pause grows, since a finalizer that has stayed for long is likely to stay longer.
func (n *Namespaces) drain(ctx context.Context, ns namespaceInstance) {
	reconcile.Poll(ctx, minPollInterval, maxPollInterval, func() bool {
		done, err := n.drainOnce(ctx, ns)
		if !done && err != nil && ctx.Err() == nil {
			n.Log.Warn("emptying a namespace", "namespace", ns.name, "error", err)
		}
		return done
	})
}

// drainOnce makes one attempt to empty a namespace, and reports whether it is done. It checks first
// that the namespace still exists: after a finalize request by somebody else, its name may belong to a
// new one.
//
// New objects cannot appear meanwhile, because the store refuses creates in a namespace that is being
// deleted.
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
	// If other finalizers keep the namespace, its conditions have to say that its content is gone.
	err = n.updateConditions(ctx, ns, left)
	return err == nil, err
}

// read returns the namespace if it still is the one that is being drained; nil otherwise.
func (n *Namespaces) read(ctx context.Context, ns namespaceInstance) (*meta.Object, tree.Tree, error) {
	current, object, err := n.namespaces.ReadNamed(ctx, "", ns.name)
	if current != nil && current.Meta.UID != ns.uid {
		return nil, nil, nil
	}
	return current, object, err
}

// deleteContent deletes the objects of all namespaced kinds in a namespace, and returns what remains. Pods go first, and
// nothing else goes before them: they may rely on it until they have ended, as on what limits their traffic. If one
// resource fails, the others are deleted nevertheless.
func (n *Namespaces) deleteContent(ctx context.Context, name string, namespace tree.Tree) *remainingContent {
	left := newRemainingContent()
	n.deleteObjects(ctx, n.pods.Kind, namespace, left)
	// Pods are left: everything else waits for the next attempt.
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

// deleteObjects deletes the objects of one kind in a namespace.
//
// The list after the deletes tells what has stayed. Kinds that nothing was found of are not listed again.
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

// unexpectedItems says that objects have stayed which nothing holds.
func unexpectedItems(namespace, group, version, resource string) error {
	return fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %s/%s, Resource=%s", namespace, group, version, resource)
}

// hasFinalizers tells whether any object waits for somebody else. Such content may stay for long, and is no failure.
func hasFinalizers(objects []*meta.Object) bool {
	return slices.ContainsFunc(objects, func(o *meta.Object) bool { return len(o.Meta.Finalizers) > 0 })
}

// mayTakeTime reports whether objects are Pods of which one has not ended yet, and has some of its grace period left since
// its namespace was deleted.
// Such Pods are no fault that the conditions of the namespace should tell of.
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

// removeFinalizer removes the server's finalizer from spec.finalizers, through the sub-resource
// finalize.
//
// It is written only if the namespace is as it was read, so that two writers cannot put back each other's finalizers.
func (n *Namespaces) removeFinalizer(ctx context.Context, ns namespaceInstance) error {
	current, object, err := n.read(ctx, ns)
	if current == nil || err != nil {
		return err
	}
	left := reconcile.WithoutItem(object.Object("spec").List("finalizers"), n.NamespaceFinalizer())
	return n.namespaces.Patch(ctx, current, "finalize", tree.Tree{"spec": tree.Tree{"finalizers": left}})
}
