package namespaces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/apiservices"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Controller deletes the content of terminating namespaces. It then removes the server's finalizer
// from spec.finalizers, which completes the deletion of the namespace.
type Controller struct {
	*reconcile.Env
	namespaces, pods reconcile.Client
	extensions       apiservices.Servers // nil if there are none
	grace            time.Duration       // between the deletion of a namespace and of its content

	active  sync.Map // namespaceInstances being drained
	workers sync.WaitGroup
}

// namespaceInstance identifies a namespace by name and uid, so that a worker never deletes the
// content of a new namespace with the same name.
type namespaceInstance struct{ name, uid string }

// New returns a new Controller. servers may be nil. The content of a namespace is deleted after
// grace, so that clients can first finalize namespaces themselves.
func New(env *reconcile.Env, servers apiservices.Servers, grace time.Duration) *Controller {
	return &Controller{Env: env, extensions: servers, grace: grace, namespaces: env.Core("Namespace"), pods: env.Core("Pod")}
}

func (c *Controller) Run(ctx context.Context) {
	defer c.workers.Wait()
	f := reconcile.Informer{Client: c.namespaces, On: reconcile.Updates(func(o *meta.Object) { c.startDrain(ctx, o) })}
	f.Run(ctx)
}

// startDrain starts a worker for a terminating namespace, unless it already has one. Each namespace
// needs its own worker, because draining may wait for finalizers. Later events can be ignored,
// because the worker reads the namespace before each attempt.
func (c *Controller) startDrain(ctx context.Context, o *meta.Object) {
	if !o.Meta.Terminating {
		return
	}
	ns := namespaceInstance{name: o.Key.Name, uid: o.Meta.UID}
	if _, started := c.active.LoadOrStore(ns, true); started {
		return
	}
	c.workers.Go(func() {
		defer c.active.Delete(ns)
		select {
		case <-ctx.Done():
		case <-time.After(c.grace):
			c.drain(ctx, ns)
		}
	})
}

func (c *Controller) drain(ctx context.Context, ns namespaceInstance) {
	reconcile.Poll(ctx, reconcile.MinDrainDelay, reconcile.MaxDrainDelay, func() bool {
		done, err := c.drainOnce(ctx, ns)
		if !done && err != nil && ctx.Err() == nil {
			c.Log.Warn("deleting the content of a namespace failed", "namespace", ns.name, "error", err)
		}
		return done
	})
}

// drainOnce makes one attempt to empty a namespace and reports whether the work is done. It first
// checks the uid, because a client may have finalized the namespace and created a new one with the
// same name. No objects appear during the attempt, because the store rejects creates in terminating
// namespaces.
func (c *Controller) drainOnce(ctx context.Context, ns namespaceInstance) (bool, error) {
	current, object, err := c.read(ctx, ns)
	if current == nil || err != nil {
		return err == nil, err
	}
	left := c.deleteContent(ctx, ns.name, object)
	if !left.isEmpty() {
		return false, errors.Join(left.err(), c.updateConditions(ctx, ns, left))
	}
	if err := c.removeFinalizer(ctx, ns); err != nil {
		return false, err
	}
	// If other finalizers keep the namespace, its conditions must report that the content is
	// deleted.
	err = c.updateConditions(ctx, ns, left)
	return err == nil, err
}

func (c *Controller) read(ctx context.Context, ns namespaceInstance) (*meta.Object, tree.Tree, error) {
	current, object, err := c.namespaces.ReadNamed(ctx, "", ns.name)
	if current != nil && current.Meta.UID != ns.uid {
		return nil, nil, nil
	}
	return current, object, err
}

// deleteContent deletes all objects in a namespace and returns the remaining content. It deletes
// Pods first and other objects only when no Pods remain, because running Pods may depend on objects
// such as NetworkPolicies. If deletion fails for one resource, it continues with the next.
func (c *Controller) deleteContent(ctx context.Context, name string, namespace tree.Tree) *remainingContent {
	left := newRemainingContent()
	c.deleteObjects(ctx, c.pods.Kind, namespace, left)
	if len(left.resources) > 0 {
		return left
	}
	for _, k := range c.Kinds.StorageKinds() {
		if k.Namespaced && k.Storage != c.pods.Storage {
			c.deleteObjects(ctx, k, namespace, left)
		}
	}
	c.deleteExtensionContent(ctx, name, left)
	return left
}

// deleteObjects deletes the objects of one kind in a namespace and adds the remaining objects to
// left.
func (c *Controller) deleteObjects(ctx context.Context, k *schema.Kind, namespace tree.Tree, left *remainingContent) {
	name, resource := namespace.Name(), k.GroupResource()
	content := request.List{Kind: k.Unconverted(), Namespace: name}
	listing, err := c.Store.DeleteCollection(ctx, content, request.Mutation{
		Kind: k, Change: request.Delete{PropagationPolicy: "Background"},
	})
	if err == nil && len(listing.Items) > 0 {
		listing, err = c.Store.List(ctx, content)
	}
	if err != nil {
		left.failures = append(left.failures, fmt.Errorf("%s: %w", resource, err))
		return
	}
	left.add(resource, listing.Items)
	if len(listing.Items) > 0 && !hasFinalizers(listing.Items) && !c.mayTakeTime(k, namespace, listing.Items) {
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
func (c *Controller) mayTakeTime(k *schema.Kind, namespace tree.Tree, objects []*meta.Object) bool {
	if k.Storage != c.pods.Storage {
		return false
	}
	deleted, err := time.Parse(time.RFC3339, namespace.Object("metadata").String("deletionTimestamp"))
	return err != nil || slices.ContainsFunc(objects, func(o *meta.Object) bool {
		pod, err := c.pods.Decode(o)
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
func (c *Controller) removeFinalizer(ctx context.Context, ns namespaceInstance) error {
	current, object, err := c.read(ctx, ns)
	if current == nil || err != nil {
		return err
	}
	left := reconcile.WithoutItem(object.Object("spec").List("finalizers"), c.NamespaceFinalizer())
	return c.namespaces.Patch(ctx, current, "finalize", tree.Tree{"spec": tree.Tree{"finalizers": left}})
}
