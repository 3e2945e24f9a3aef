package flowcontrol

import (
	"context"
	"strconv"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog/flowcontrol"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Configuration keeps the flow schemas and priority levels of the server as they should be, and the condition Dangling of all
// schemas.
//
// Mandatory objects always have the spec of the server. Suggested ones have it as long as their annotation says so or, without
// one, until somebody changes their spec. Both are made again when they are deleted. What bears the annotation and is no
// longer an object of the server, goes.
type Configuration struct {
	*reconcile.Controller[key]
	kinds      map[resource]reconcile.Client // which write as the producer
	maintained map[key]flowcontrol.Object
	annotation string
	ready      chan struct{} // closed when the objects that are to exist have been written

	mu       sync.Mutex           // guards the rest
	levelOf  map[string]meta.Text // the priority level that each FlowSchema names
	existing map[string]bool      // priority levels
}

// A resource is one of the two kinds that are kept, by the name of the kind.
type resource string

const (
	schemas resource = "FlowSchema"
	levels  resource = "PriorityLevelConfiguration"
)

// A key names one object. The queue holds keys and not objects, so that changes that come in quick succession are one
// piece of work, done by the newest state.
type key struct {
	resource resource
	name     string
}

// The names under which the objects and the condition are written.
const (
	// They are the field managers of the API server that clients know.
	producer = "api-priority-and-fairness-config-producer-v1"
	consumer = "api-priority-and-fairness-config-consumer-v1"
)

// NewConfiguration returns the controller. It does nothing where the kinds are not served. Both kinds are looked up
// here once; a kind that is not served is nil.
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

// Ready is closed when the objects of the server are there. It is closed as well if some could not be made, as the
// report tells: a server that cannot write them still serves, by the mandatory objects that the package
// policy/flowcontrol has built in.
func (c *Configuration) Ready() <-chan struct{} { return c.ready }

// Run runs the controller until the context ends. The informers end with the same context, and Run returns after
// them.
func (c *Configuration) Run(ctx context.Context) {
	if c.kinds[schemas].Kind == nil || c.kinds[levels].Kind == nil {
		close(c.ready)
		return // the group is disabled
	}
	c.ensureAll(ctx)
	close(c.ready)
	c.Controller.Run(ctx)
}

// report logs what could not be done. The queue tries it again, so this is a warning and not an error.
func (c *Configuration) report(k key, err error) {
	c.Log.Warn("the configuration of flow control is not as it should be", "kind", k.resource, "name", k.name, "error", err)
}

// ensureAll makes what is missing at the start, before the first request: levels first, so that no schema is found dangling. All
// writes share few syncs of the disk.
func (c *Configuration) ensureAll(ctx context.Context) {
	for _, r := range []resource{levels, schemas} {
		var all []key
		for k := range c.maintained {
			if k.resource == r {
				all = append(all, k)
			}
		}
		// A failure of one object must not keep the others from being made, so it is reported and queued instead of
		// returned.
		_ = reconcile.ForEachParallel(all, func(k key) error {
			if err := c.sync(ctx, k); err != nil {
				c.report(k, err)
				c.Add(k)
			}
			return nil
		})
	}
}

// onLevel notes which levels there are: schemas that name one are looked at again. Only its coming and going matters
// to schemas: a change of its spec does not, and would otherwise have every schema of the level read once more.
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

// onSchema queues a schema that has changed. One that is gone is queued as well, since the server may have to make it
// again.
func (c *Configuration) onSchema(e reconcile.Event) {
	name := e.Key.Name
	c.Add(key{schemas, name})
	if e.Deleted {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.levelOf, name)
	}
}

// sync brings one object to what it should be, and the condition of a schema.
func (c *Configuration) sync(ctx context.Context, k key) error {
	o, err := c.ensure(ctx, k)
	if err != nil || o == nil || k.resource != schemas {
		return err
	}
	return c.syncDangling(ctx, o)
}

// ensure makes, changes or deletes an object, if it should be, and returns what it is then; nil if there is none.
//
// Who decides about the spec is kept in the annotation: true leaves it to the server, false to operators. Without an
// annotation that can be read, a generation of 1 shows that nobody has changed the spec since it was made; the answer
// is then written down, as generations go on to rise with changes of the server itself.
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
	// annotated is the error of reading it: nil if there is an annotation that says true or false.
	auto, annotated := strconv.ParseBool(obj.Object("metadata", "annotations").String(c.annotation))
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

// wanted is the spec that an object should have. What the exempt level has and lends is for operators to say.
// Everything else of the mandatory levels is refused by validation, so nothing else is kept.
func wanted(k key, want flowcontrol.Object, have tree.Tree) tree.Tree {
	if k.resource != levels || k.name != flowcontrol.Exempt || !have.Has("exempt") {
		return want.Spec
	}
	spec := want.Spec.Copy()
	spec["exempt"] = have["exempt"]
	return spec
}

// create makes an object that is missing. Somebody else may be faster: their object is looked at when its event comes.
func (c *Configuration) create(ctx context.Context, kind reconcile.Client, want flowcontrol.Object) (*meta.Object, error) {
	o, err := kind.Create(ctx, tree.Tree{
		"metadata": tree.Tree{"name": want.Name, "annotations": tree.Tree{c.annotation: "true"}}, "spec": tree.Clone(want.Spec),
	})
	return o, reconcile.Except(err, reconcile.IsAlreadyExists)
}
