package mutation

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// create makes a new object from the body. The caller has already turned
// generateName into m.Key.Name.
func create(cur State, m *request.Mutation, env Env) (Candidate, error) {
	if m.Subresource != "" {
		return createSubresource(cur, m, env)
	}
	if cur.Object != nil {
		return Candidate{}, meta.NewAlreadyExists(resource(m.Kind), m.Key.Name)
	}
	return newObject(m, env)
}

// createSubresource is a create of a sub-resource: an existing object takes in the body.
func createSubresource(cur State, m *request.Mutation, env Env) (Candidate, error) {
	if cur.Object == nil {
		return Candidate{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	c, err := replace(cur, m, tree.Clone(m.Object).(tree.Tree), env)
	c.Created = false
	return c, err
}

// newObject is the candidate of a new object as the body has it.
func newObject(m *request.Mutation, env Env) (Candidate, error) {
	tree := convert.ToStored(m.Kind, copyBody(m, env))
	asked := managedFields(tree)
	for _, name := range serverManagedFields { // nobody owns what is not taken
		delete(childObject(tree, "metadata"), name)
	}
	updateManagedFields(State{}, m, asked, tree, env)
	return completeCreate(m, tree, managedFields(tree), env)
}

// completeCreate completes, checks and encodes a new object, in stored form. It changes tree.
func completeCreate(m *request.Mutation, object tree.Tree, owners []any, env Env) (Candidate, error) {
	stored := m.Kind.Stored
	metadata := childObject(object, "metadata")
	metadata["name"] = m.Key.Name
	if m.Kind.Namespaced {
		metadata["namespace"] = m.Key.Namespace
	} else {
		delete(metadata, "namespace")
	}
	metadata["uid"] = env.NewUID()
	metadata["creationTimestamp"] = timestamp(env.Now)
	for _, name := range serverManagedFields {
		delete(metadata, name)
	}
	object["metadata"] = metadata
	setManagedFields(object, owners)
	if stored.Generation {
		metadata["generation"] = int64(1)
	}
	if m.Kind.StatusIsolated && m.Kind.Subresource("status") != nil {
		delete(object, "status")
		rules.Default(stored, object)
	}
	if stored.Rules.Prepare != nil {
		stored.Rules.Prepare(object, nil)
	}
	if err := m.Admit(nil, object); err != nil {
		return Candidate{}, err
	}
	allocation, causes := env.allocate(m.Key, nil, object)
	pending := &pendingAllocation{allocation}
	defer pending.release()
	causes = slices.Concat(rules.Validate(stored, object), rules.ValidateServed(m.Kind, object, nil), causes)
	causes, err := env.evaluate(m, object, nil, causes)
	if err != nil {
		return Candidate{}, err
	}
	if len(causes) > 0 {
		return Candidate{}, meta.NewInvalid(kindName(m.Kind), m.Key.Name, causes)
	}
	if m.Verb == request.Create && !m.DryRun && childObject(m.Object, "metadata").String("resourceVersion") != "" {
		return Candidate{}, meta.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	c, err := encodeCandidate(State{}, m, object, env)
	if err != nil {
		return Candidate{}, err
	}
	c.Created, c.Allocation = true, pending.transfer()
	c.Warnings = warn(stored, object, nil)
	return c, nil
}

// copyBody is the body of a write with what the mutation changes of it copied: the same
// body may be needed again, for another state. A conversion, a preparation and a claim may
// change all of it; what else is written below metadata depends on nothing but the body.
func copyBody(m *request.Mutation, env Env) tree.Tree {
	if m.Kind.Stored != m.Kind || m.Kind.Stored.Rules.Prepare != nil || env.Allocator != nil || m.Admission != nil {
		body := tree.Clone(m.Object).(tree.Tree)
		body.EnsureObject("metadata")
		return body
	}
	return cloneTop(m.Object)
}

// serverManagedFields of metadata are never taken from a body.
var serverManagedFields = []string{
	"resourceVersion", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields",
}

func resource(k *schema.Kind) meta.GroupResource {
	return meta.GroupResource{Group: k.Group, Resource: k.Resource}
}

func kindName(k *schema.Kind) meta.GroupKind { return meta.GroupKind{Group: k.Group, Kind: k.Kind} }

// bodyKind is the kind that the bodies of m are of.
func bodyKind(m *request.Mutation) *schema.Kind {
	return convert.BodyKind(m.Kind, m.Kind.Subresource(m.Subresource))
}
