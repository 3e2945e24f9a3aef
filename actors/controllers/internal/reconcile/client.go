package reconcile

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Client reads and writes the objects of one kind. Its Kind is nil if the kind is not served. If
// the kind has a cache, a write updates the cache before it returns.
type Client struct {
	*schema.Kind
	env       *Env
	manager   string
	component string // of its Events
}

// As returns a Client that writes as the given field manager.
func (c Client) As(manager string) Client {
	c.manager = manager
	return c
}

// Reporting returns a Client whose Events have the given component as their source.
func (c Client) Reporting(component string) Client {
	c.component = component
	return c
}

// Note records a Normal Event about an object.
func (c Client) Note(o *meta.Object, reason, message string) {
	c.env.Recorder(c.component).Record(c, o, Normal, reason, message)
}

// Warn records a Warning Event about an object.
func (c Client) Warn(o *meta.Object, reason, message string) {
	c.env.Recorder(c.component).Record(c, o, Warning, reason, message)
}

// Key returns the key for a namespace and name.
func (c Client) Key(namespace, name string) meta.Key {
	return meta.Key{GroupResource: c.Storage, Namespace: namespace, Name: name}
}

// Get returns an object, or nil if it does not exist.
func (c Client) Get(ctx context.Context, key meta.Key) (*meta.Object, error) {
	o, err := c.env.Store.Get(ctx, request.Get{Kind: c.Unconverted(), Key: key})
	if err != nil {
		return nil, Except(err, IsNotFound)
	}
	return o, nil
}

// Read returns an object together with its decoded JSON. Both are nil if the object does not exist.
func (c Client) Read(ctx context.Context, key meta.Key) (*meta.Object, tree.Tree, error) {
	o, err := c.Get(ctx, key)
	if o == nil {
		return nil, nil, err
	}
	object, err := c.Decode(o)
	return o, object, err
}

// GetNamed is like Get, but takes a namespace and name.
func (c Client) GetNamed(ctx context.Context, namespace, name string) (*meta.Object, error) {
	return c.Get(ctx, c.Key(namespace, name))
}

// ReadNamed is like Read, but takes a namespace and name.
func (c Client) ReadNamed(ctx context.Context, namespace, name string) (*meta.Object, tree.Tree, error) {
	return c.Read(ctx, c.Key(namespace, name))
}

// Decode returns the tree of a stored object.
func (c Client) Decode(o *meta.Object) (tree.Tree, error) {
	return codec.DecodeStored(c.Message(), o.JSON)
}

// List returns the objects that l selects, ignoring l.Kind.
func (c Client) List(ctx context.Context, l request.List) ([]*meta.Object, error) {
	l.Kind = c.Unconverted()
	list, err := c.env.Store.List(ctx, l)
	return list.Items, err
}

// ListBy returns the objects in all namespaces that match the field selector field=value.
func (c Client) ListBy(ctx context.Context, field, value string) ([]*meta.Object, error) {
	fields, err := selector.ParseFields(c.Kind, field+"="+value)
	if err != nil {
		return nil, err
	}
	return c.List(ctx, request.List{Fields: fields})
}

// Mutate applies a mutation and updates the cache. The mutation's kind defaults to the Client's.
func (c Client) Mutate(ctx context.Context, m request.Mutation) (*meta.Object, error) {
	if m.Kind == nil {
		m.Kind = c.Kind
	}
	m.FieldManager = c.manager
	r, err := c.env.Store.Mutate(ctx, m)
	if err != nil {
		return nil, err
	}
	c.env.written(ctx, m, r)
	return r.Object, nil
}

func (c Client) keyOf(object tree.Tree) meta.Key {
	metadata := object.Object("metadata")
	return c.Key(metadata.String("namespace"), metadata.String("name"))
}

// Create creates an object. If it has only a generateName, the server generates its name.
func (c Client) Create(ctx context.Context, object tree.Tree) (*meta.Object, error) {
	return c.Mutate(ctx, request.Mutation{Key: c.keyOf(object), Change: request.Create{Object: object}})
}

// Ensure creates an object unless it already exists or its namespace is terminating or missing.
func (c Client) Ensure(ctx context.Context, object tree.Tree) error {
	_, err := c.Create(ctx, object)
	return Except(err, IsAlreadyExists, IsNamespaceTerminating, IsNotFound)
}

// Update replaces an object or a subresource with a modified copy of the object that was read. It
// returns nil if the object no longer exists.
func (c Client) Update(ctx context.Context, subresource string, object tree.Tree) (*meta.Object, error) {
	o, err := c.Mutate(ctx, request.Mutation{Key: c.keyOf(object), Subresource: subresource, Change: request.Update{Object: object}})
	return o, Except(err, IsNotFound)
}

// WriteStatus updates an object's status. It returns nil if the status is unchanged or the object
// no longer exists.
func (c Client) WriteStatus(ctx context.Context, object, status tree.Tree) (*meta.Object, error) {
	if tree.SemanticEqual(object.Object("status"), status) {
		return nil, nil
	}
	return c.Update(ctx, "status", tree.Tree{"metadata": object["metadata"], "spec": object["spec"], "status": status})
}

// UpdateStatus is like WriteStatus, but does not return the object.
func (c Client) UpdateStatus(ctx context.Context, object, status tree.Tree) error {
	_, err := c.WriteStatus(ctx, object, status)
	return err
}

// Patch applies a merge patch to an object or a subresource, with uid and resourceVersion as
// preconditions. A missing object is not an error.
func (c Client) Patch(ctx context.Context, o *meta.Object, subresource string, change tree.Tree) error {
	_, err := c.PatchExisting(ctx, o, subresource, change)
	return Except(err, IsNotFound)
}

// PatchExisting is like Patch, but returns an error for a missing object. If o.Version is 0, the
// patch applies to any version.
func (c Client) PatchExisting(ctx context.Context, o *meta.Object, subresource string, change tree.Tree) (*meta.Object, error) {
	metadata := change.EnsureObject("metadata")
	if metadata["uid"] = o.Meta.UID; o.Version != 0 {
		metadata["resourceVersion"] = strconv.FormatUint(o.Version, 10)
	}
	return c.patch(ctx, o.Key, subresource, request.MergePatch, change)
}

func (c Client) patch(ctx context.Context, key meta.Key, subresource string, of request.PatchType, change tree.Tree) (*meta.Object, error) {
	body, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	return c.Mutate(ctx, request.Mutation{Key: key, Subresource: subresource, Change: request.Patch{Type: of, Body: body}})
}

// StrategicPatch applies a strategic merge patch to an object regardless of its version, with the
// uid as a precondition.
func (c Client) StrategicPatch(ctx context.Context, key meta.Key, uid, subresource string, change tree.Tree) error {
	change.EnsureObject("metadata")["uid"] = uid
	_, err := c.patch(ctx, key, subresource, request.StrategicMergePatch, change)
	return err
}

// PatchStatus is like Patch, but patches fields of the status.
func (c Client) PatchStatus(ctx context.Context, o *meta.Object, status tree.Tree) error {
	return c.Patch(ctx, o, "status", tree.Tree{"status": status})
}

// PatchMetadataList replaces a list in an object's metadata with the result of change. It returns a
// conflict if the object has changed since it was read.
func (c Client) PatchMetadataList(ctx context.Context, o *meta.Object, field string, change func(list []any) []any) error {
	object, err := c.Decode(o)
	if err != nil {
		return err
	}
	c.Kind = c.Unconverted()
	return c.Patch(ctx, o, "", tree.Tree{"metadata": tree.Tree{field: change(object.Object("metadata").List(field))}})
}

// AddFinalizer adds a finalizer to an object, or returns a conflict if the object has changed since
// it was read.
func (c Client) AddFinalizer(ctx context.Context, o *meta.Object, finalizer string) error {
	return c.PatchMetadataList(ctx, o, "finalizers", func(list []any) []any { return append(list, finalizer) })
}

// RemoveFinalizer removes a finalizer from an object, or returns a conflict if the object has
// changed since it was read.
func (c Client) RemoveFinalizer(ctx context.Context, o *meta.Object, finalizer string) error {
	return c.PatchMetadataList(ctx, o, "finalizers", func(list []any) []any { return WithoutItem(list, finalizer) })
}

// WithoutItem removes text from list in place and returns the modified list.
func WithoutItem(list []any, text string) []any {
	return slices.DeleteFunc(list, func(item any) bool { return item == text })
}

// Apply applies fields to an object or a subresource by server-side apply with force. fields needs
// no name, namespace, apiVersion or kind.
func (c Client) Apply(ctx context.Context, key meta.Key, subresource string, fields tree.Tree) error {
	metadata := fields.EnsureObject("metadata")
	if metadata["name"] = key.Name; key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	fields["apiVersion"], fields["kind"] = c.APIVersion(), c.Kind.Kind
	_, err := c.Mutate(ctx, request.Mutation{Key: key, Subresource: subresource, Change: request.Apply{Config: fields, Force: true}})
	return err
}

// Delete deletes an object, with uid and resourceVersion as preconditions. A missing object is not
// an error.
func (c Client) Delete(ctx context.Context, o *meta.Object) error { return c.DeleteWith(ctx, o, "") }

// DeleteWith is like Delete, with a propagation policy.
func (c Client) DeleteWith(ctx context.Context, o *meta.Object, policy string) error {
	options := request.Delete{UID: &o.Meta.UID, ResourceVersion: new(strconv.FormatUint(o.Version, 10)), PropagationPolicy: policy}
	return c.DeleteKey(ctx, o.Key, options)
}

// DeleteKey deletes the object with the given key. A missing object is not an error.
func (c Client) DeleteKey(ctx context.Context, key meta.Key, o request.Delete) error {
	_, err := c.Mutate(ctx, request.Mutation{Kind: c.Unconverted(), Key: key, Change: o})
	return Except(err, IsNotFound)
}

// ControllerReference returns an owner reference with controller and blockOwnerDeletion set.
func (c Client) ControllerReference(name, uid string) tree.Tree {
	return tree.Tree{"apiVersion": c.APIVersion(), "kind": c.Kind.Kind, "name": name, "uid": uid, "controller": true, "blockOwnerDeletion": true}
}

// ControllerOf returns the owner reference to an object's controller, or nil.
func ControllerOf(o *meta.ObjectMeta) *meta.OwnerReference {
	for i := range o.OwnerReferences {
		if o.OwnerReferences[i].Controller {
			return &o.OwnerReferences[i]
		}
	}
	return nil
}
