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

// prepareCreate prepares a new object from the body. m.Key.Name must be set, even if the name is
// generated.
func prepareCreate(cur State, m *request.Mutation, env Env) (Prepared, error) {
	if m.Subresource != "" {
		return prepareCreateSubresource(cur, m, env)
	}
	p := prepareNew(m, env)
	p.taken = cur.Object != nil
	p.takenByTerminating = p.taken && cur.Object.Meta.Terminating
	return p, nil
}

func prepareCreateSubresource(cur State, m *request.Mutation, env Env) (Prepared, error) {
	if cur.Object == nil {
		return Prepared{}, m.NotFound()
	}
	return prepareReplacement(cur, m, tree.Clone(m.Body()).(tree.Tree), env)
}

func prepareNew(m *request.Mutation, env Env) Prepared {
	object := convert.ToStored(m.Kind, copyBody(m, env, request.OnCreate))
	requested := managedFields(object)
	dropServerManaged(m.Kind.Stored, childObject(object, "metadata")) // not taken from a body, so it has no owner
	updateManagedFields(State{}, m, requested, object, env)
	return prepareNewObject(m, object, managedFields(object), env)
}

// prepareNewObject sets the server-managed fields of a new object in stored form, in place. The uid
// and times come from env, so that tests and retries are deterministic.
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

// completeNew sets the fields of a new object that depend on other fields. It runs again after
// admission has changed the object.
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

// namesVersion reports whether the body of a create sets a resourceVersion that must be rejected.
// It ignores values other than positive numbers.
func namesVersion(object tree.Tree) bool {
	version, err := strconv.ParseUint(childObject(object, "metadata").String("resourceVersion"), 10, 64)
	return err == nil && version != 0
}

// finishCreate allocates values for a new object, validates it and encodes it. It reports all
// causes together. It allocates first, so that the assigned values are validated too. On error, it
// releases the allocated values.
func (p *Prepared) finishCreate() (Candidate, error) {
	m, object := p.mutation, p.want
	m.Kind.Stored.Strategy.FinishCreate(object)
	pending, causes := p.env.allocate(m.Key, nil, object)
	defer func() { pending.Release() }()
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
	c.Created, c.Reserved, pending = true, pending, nil
	warn(m, object, nil)
	return c, nil
}

func (p *Prepared) validateNew(found []meta.Cause) error {
	m, object := p.mutation, p.want
	if p.faults != nil {
		found = append(found, p.faults.List...)
	}
	causes, err := rules.ValidateChange(p.env.Context, m.Kind.Stored, object, nil)
	if err != nil {
		return err
	}
	served, err := rules.ValidateServed(p.env.Context, m.Kind, object, nil)
	if err != nil {
		return err
	}
	causes = withoutAbsentNulls(slices.Concat(causes, served, found), found)
	causes, err = p.env.evaluate(m, object, nil, causes)
	if err == nil && len(causes) > 0 {
		err = meta.NewInvalid(kindName(m.Kind), m.Key.Name, causes)
	}
	return err
}

// copyBody returns a copy of the request body, because a retry needs the original. The copy is deep
// if conversion, Preparers, feature gates, allocation or admission may change any field.
func copyBody(m *request.Mutation, env Env, operation request.Operation) tree.Tree {
	featured := rules.Featured(m.Kind.Stored)
	if m.Kind.Stored != m.Kind || m.Kind.Stored.Preparer != nil || featured != nil && rules.HasFeatured(featured, m.Body()) || env.Allocator != nil || m.MayBeChanged(operation) {
		body := tree.Clone(m.Body()).(tree.Tree)
		body.EnsureObject("metadata")
		return body
	}
	return cloneTop(m.Body())
}

func dropServerManaged(k *schema.Kind, metadata tree.Tree) {
	for _, name := range []string{"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"} {
		delete(metadata, name)
	}
	if k.Writes.Generation {
		delete(metadata, "generation")
	}
}

// kindName returns the kind for validation errors, with the group of the stored kind. Events always
// have the core group, because both of their groups share one storage.
func kindName(k *schema.Kind) meta.GroupKind {
	if k.Stored != nil {
		return meta.GroupKind{Group: k.Stored.Group, Kind: k.Kind}
	}
	return k.GroupKind()
}

func bodyKind(m *request.Mutation) *schema.Kind {
	return convert.BodyKind(m.Kind, m.Kind.Subresource(m.Subresource))
}
