package flowcontrol

import (
	"context"
	"strconv"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/api/flowcontrol"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Configuration maintains the server's FlowSchemas and PriorityLevelConfigurations, and the
// Dangling condition of all FlowSchemas.
//
// The server always controls the spec of a mandatory object. For a suggested object, the
// auto-update annotation decides. Without the annotation, the server controls the spec until a
// client changes it. Mandatory and suggested objects are recreated after deletion. Annotated
// objects that the server no longer defines are deleted.
type Configuration struct {
	*reconcile.Controller[key]
	kinds      map[resource]reconcile.Client // Clients of the producer
	maintained map[key]flowcontrol.Object
	annotation string
	ready      chan struct{} // closed when the desired objects have been written

	mu       sync.Mutex           // guards the fields below
	levelOf  map[string]meta.Text // the priority level of each FlowSchema
	existing map[string]bool      // priority levels
}

type resource string

const (
	schemas resource = "FlowSchema"
	levels  resource = "PriorityLevelConfiguration"
)

// A key identifies one object in the work queue, which merges rapid changes into one sync.
type key struct {
	resource resource
	name     string
}

// Field managers: producer writes the objects, and consumer writes the Dangling condition.
const (
	// The names match kube-apiserver, because clients rely on them.
	producer = "api-priority-and-fairness-config-producer-v1"
	consumer = "api-priority-and-fairness-config-consumer-v1"
)

// NewConfiguration returns a new Configuration. It does nothing if the kinds are not served.
func NewConfiguration(env *reconcile.Env) *Configuration {
	c := &Configuration{
		kinds: map[resource]reconcile.Client{}, maintained: map[key]flowcontrol.Object{}, annotation: env.Translate(flowcontrol.AutoUpdateAnnotation),
		ready: make(chan struct{}), levelOf: map[string]meta.Text{}, existing: map[string]bool{},
	}
	for r, objects := range map[resource][]flowcontrol.Object{schemas: flowcontrol.FlowSchemas(env.Naming), levels: flowcontrol.PriorityLevels()} {
		c.kinds[r] = env.Client("flowcontrol.apiserver.platform.io", "v1", string(r)).As(producer)
		for _, o := range objects {
			c.maintained[key{r, o.Name}] = o
		}
	}
	c.Controller = reconcile.New(env, "", c.sync, "", "")
	c.Failed = c.report
	c.Watch(c.kinds[levels], c.onLevel)
	c.Watch(c.kinds[schemas], c.onSchema)
	return c
}

// Ready returns a channel that is closed after the first attempt to write the server's objects. If
// the attempt fails, the server uses the mandatory objects that are built into policy/flowcontrol.
func (c *Configuration) Ready() <-chan struct{} { return c.ready }

func (c *Configuration) Run(ctx context.Context) {
	if c.kinds[schemas].Kind == nil || c.kinds[levels].Kind == nil {
		close(c.ready)
		return // the group is disabled
	}
	c.ensureAll(ctx)
	close(c.ready)
	c.Controller.Run(ctx)
}

func (c *Configuration) report(k key, err error) {
	c.Log.Warn("cannot reconcile the flow control configuration", "kind", k.resource, "name", k.name, "error", err)
}

// ensureAll creates missing objects before the first request. It creates priority levels first, so
// that no FlowSchema is dangling. Writes run in parallel to share disk syncs.
func (c *Configuration) ensureAll(ctx context.Context) {
	for _, r := range []resource{levels, schemas} {
		var all []key
		for k := range c.maintained {
			if k.resource == r {
				all = append(all, k)
			}
		}
		// Failures are retried and not returned, so that the other objects are still written.
		_ = reconcile.ForEachParallel(all, func(k key) error {
			if err := c.sync(ctx, k); err != nil {
				c.report(k, err)
				c.Add(k)
			}
			return nil
		})
	}
}

// onLevel records which levels exist. When a level appears or disappears, it enqueues the schemas
// that refer to it.
func (c *Configuration) onLevel(e reconcile.Event) {
	name := e.Key.Name
	c.Add(key{levels, name})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.existing[name] == !e.Deleted {
		return
	}
	if e.Deleted {
		delete(c.existing, name)
	} else {
		c.existing[name] = true
	}
	for schema, level := range c.levelOf {
		if level.String() == name {
			c.Add(key{schemas, schema})
		}
	}
}

// onSchema enqueues every changed schema, even a deleted one, because sync may have to recreate it.
func (c *Configuration) onSchema(e reconcile.Event) {
	name := e.Key.Name
	c.Add(key{schemas, name})
	if e.Deleted {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.levelOf, name)
	}
}

func (c *Configuration) sync(ctx context.Context, k key) error {
	o, err := c.ensure(ctx, k)
	if err != nil || o == nil || k.resource != schemas {
		return err
	}
	return c.syncDangling(ctx, o)
}

// ensure creates, updates or deletes an object and returns the result, or nil. The annotation
// determines whether the server (true) or an operator (false) owns the spec. Without a valid
// annotation, generation 1 means that no client has changed the spec. ensure then stores the
// decision in the annotation, because server updates also raise the generation.
func (c *Configuration) ensure(ctx context.Context, k key) (*meta.Object, error) {
	want, maintained := c.maintained[k]
	kind := c.kinds[k.resource]
	o, obj, err := kind.Read(ctx, kind.Key("", k.name))
	switch {
	case err != nil:
		return nil, err
	case o == nil && maintained:
		return c.create(ctx, kind, want)
	case o == nil:
		return nil, nil
	}
	// annotated is nil if the annotation has a valid value.
	auto, annotated := strconv.ParseBool(obj.Annotations().String(c.annotation))
	if !maintained {
		if annotated == nil && auto {
			return nil, kind.Delete(ctx, o)
		}
		return o, nil
	}
	update := want.Mandatory || annotated == nil && auto || annotated != nil && o.Meta.Generation == 1
	annotate := annotated != nil || auto != update
	respec := update && !tree.SemanticEqual(wanted(k, want, obj.Object("spec")), obj.Object("spec"))
	if !annotate && !respec {
		return o, nil
	}
	obj = obj.Copy()
	if respec {
		obj["spec"] = tree.Clone(wanted(k, want, obj.Object("spec")))
	}
	obj.EnsureObject("metadata", "annotations")[c.annotation] = strconv.FormatBool(update)
	return kind.Update(ctx, "", obj)
}

// wanted returns the desired spec of an object. Operators may change only the exempt field of the
// exempt level.
func wanted(k key, want flowcontrol.Object, have tree.Tree) tree.Tree {
	if k.resource != levels || k.name != flowcontrol.Exempt || !have.Has("exempt") {
		return want.Spec
	}
	spec := want.Spec.Copy()
	spec["exempt"] = have["exempt"]
	return spec
}

// create creates the object want. If the object already exists, create returns no error, because
// the watch event of its creation triggers another sync.
func (c *Configuration) create(ctx context.Context, kind reconcile.Client, want flowcontrol.Object) (*meta.Object, error) {
	o, err := kind.Create(ctx, tree.Tree{
		"metadata": tree.Tree{"name": want.Name, "annotations": tree.Tree{c.annotation: "true"}}, "spec": tree.Clone(want.Spec),
	})
	return o, reconcile.Except(err, reconcile.IsAlreadyExists)
}
