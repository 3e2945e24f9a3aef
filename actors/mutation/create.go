package mutation

import (
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// prepareCreate prepares a new object from the body. The caller has already turned generateName into
// m.Key.Name.
func prepareCreate(cur State, m *request.Mutation, env Env) (Prepared, error) {
	if m.Subresource != "" {
		return prepareCreateSubresource(cur, m, env)
	}
	p := prepareNew(m, env)
	p.taken = cur.Object != nil
	p.takenByTerminating = p.taken && cur.Object.Meta.Terminating
	return p, nil
}

// prepareCreateSubresource prepares a create of a sub-resource: an existing object takes in the body. A
// binding is such: it is created at a Pod that exists.
func prepareCreateSubresource(cur State, m *request.Mutation, env Env) (Prepared, error) {
	if cur.Object == nil {
		return Prepared{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	return prepareReplacement(cur, m, tree.Clone(m.Body()).(tree.Tree), env)
}

// prepareNew prepares a new object as the body has it.
func prepareNew(m *request.Mutation, env Env) Prepared {
	object := convert.ToStored(m.Kind, copyBody(m, env, request.OnCreate))
	asked := managedFields(object)
	dropServerManaged(m.Kind.Stored, childObject(object, "metadata")) // it is not taken from a body, and so not owned
	updateManagedFields(State{}, m, asked, object, env)
	return prepareNewObject(m, object, managedFields(object), env)
}

// prepareNewObject gives a new object, in stored form, what the server sets in it. It changes object. uid
// and times come from env, so that tests and repetitions are deterministic.
func prepareNewObject(m *request.Mutation, object tree.Tree, owners []any, env Env) Prepared {
	metadata := childObject(object, "metadata")
	metadata["name"] = m.Key.Name
	if m.Kind.Namespaced {
		metadata["namespace"] = m.Key.Namespace
	} else {
		delete(metadata, "namespace")
	}
	metadata["uid"] = env.NewUID()
	metadata["creationTimestamp"] = timestamp(env.Now)
	dropServerManaged(m.Kind.Stored, metadata)
	object["metadata"] = metadata
	setManagedFields(object, owners)
	if m.Kind.Stored.Writes.Generation {
		metadata["generation"] = int64(1)
	}
	p := Prepared{mutation: m, env: env, step: stepCreate, want: object}
	p.complete()
	return p
}

// completeNew completes what depends on the object as a whole, also after an admission has changed it.
func (p *Prepared) completeNew() {
	stored := p.mutation.Kind.Stored
	if p.mutation.Kind.IsCustom() && p.mutation.Kind.Subresource("status") != nil {
		delete(p.want, "status")
		rules.Default(stored, p.want)
	}
	p.mutation.Recorder.Warn(stored.Strategy.WarningsBeforePrepare(p.want)...)
	if stored.Preparer != nil {
		stored.Preparer.Prepare(p.want, nil)
	}
}

// namesVersion reports whether an object names a version that can exist. Clients create objects with the
// resourceVersion "0", or one that is no number, and expect it to be dropped.
func namesVersion(object tree.Tree) bool {
	version, err := strconv.ParseUint(childObject(object, "metadata").String("resourceVersion"), 10, 64)
	return err == nil && version != 0
}

// finishCreate allocates for, validates and encodes a new object. All causes are told together. Allocation
// comes first, because validation looks at what it chose; it is given back on every way out but the last.
func (p *Prepared) finishCreate() (Candidate, error) {
	m, object := p.mutation, p.want
	m.Kind.Stored.Strategy.FinishCreate(object)
	allocation, causes := p.env.allocate(m.Key, nil, object)
	pending := pendingReservation{allocation}
	defer pending.release()
	if p.taken { // Reserve reports the name
		causes = slices.DeleteFunc(causes, func(c meta.Cause) bool { return c.Field == "metadata.name" })
	}
	if err := p.validateNew(causes); err != nil {
		return Candidate{}, err
	}
	if request.Is[request.Create](m) && !m.DryRun && namesVersion(m.Body()) {
		return Candidate{}, meta.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if err := p.validate(); err != nil {
		return Candidate{}, err
	}
	c, err := p.env.encodeCandidate(State{}, m, object)
	if err != nil {
		return Candidate{}, err
	}
	c.Created, c.Reserved = true, pending.transfer()
	warn(m, object, nil)
	return c, nil
}

// validateNew tells all that is wrong with a new object, together with what others have found.
func (p *Prepared) validateNew(found []meta.Cause) error {
	m, object := p.mutation, p.want
	if p.faults != nil {
		found = append(found, p.faults.List...)
	}
	causes := slices.Concat(rules.Validate(m.Kind.Stored, object), rules.ValidateServed(m.Kind, object, nil), found)
	causes = withoutAbsentNulls(causes, found)
	causes, err := p.env.evaluate(m, object, nil, causes)
	if err == nil && len(causes) > 0 {
		err = meta.NewInvalid(kindName(m.Kind), m.Key.Name, causes)
	}
	return err
}

// copyBody is the body of a write with what the mutation changes of it copied: the same
// body may be needed again, for another state. A conversion, the kind's Preparer, a feature that is off, an allocation and
// an admission that changes objects may change any part of it; all other steps write at the top and into metadata only.
func copyBody(m *request.Mutation, env Env, operation request.Operation) tree.Tree {
	if m.Kind.Stored != m.Kind || m.Kind.Stored.Preparer != nil || rules.HasFeatured(m.Kind.Stored, m.Body()) || env.Allocator != nil || m.MayBeChanged(operation) {
		body := tree.Clone(m.Body()).(tree.Tree)
		body.EnsureObject("metadata")
		return body
	}
	return cloneTop(m.Body())
}

// dropServerManaged drops what is never taken from the body of a create. The generation of a kind that has none is its client's.
func dropServerManaged(k *schema.Kind, metadata tree.Tree) {
	for _, name := range []string{"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"} {
		delete(metadata, name)
	}
	if k.Writes.Generation {
		delete(metadata, "generation")
	}
}

// resource is how errors name what a kind is served as.
func resource(k *schema.Kind) meta.GroupResource {
	return meta.GroupResource{Group: k.Group, Resource: k.Resource}
}

// kindName is how errors about the content of an object name its kind: by the group that stores it, which is the
// core group for an Event of either group.
func kindName(k *schema.Kind) meta.GroupKind {
	if k.Stored != nil {
		return meta.GroupKind{Group: k.Stored.Group, Kind: k.Kind}
	}
	return meta.GroupKind{Group: k.Group, Kind: k.Kind}
}

// bodyKind is the kind of m's body, which a sub-resource may change.
func bodyKind(m *request.Mutation) *schema.Kind {
	return convert.BodyKind(m.Kind, m.Kind.Subresource(m.Subresource))
}
