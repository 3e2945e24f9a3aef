package mutation

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// create makes a new object from the body. The caller has already turned
// generateName into m.Key.Name.
func create(cur State, m *request.Mutation, env Env) (Candidate, error) {
	if m.Subresource != "" {
		return createBelow(cur, m, env)
	}
	if cur.Object != nil {
		return Candidate{}, meta.NewAlreadyExists(resource(m.Kind), m.Key.Name)
	}
	return fresh(m, env)
}

// createBelow is a create of a sub-resource: an existing object takes in the body.
func createBelow(cur State, m *request.Mutation, env Env) (Candidate, error) {
	if cur.Object == nil {
		return Candidate{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	c, err := replace(cur, m, rules.Clone(m.Object).(schema.Tree), env)
	c.Created = false
	return c, err
}

// fresh is the candidate of a new object as the body has it.
func fresh(m *request.Mutation, env Env) (Candidate, error) {
	tree := convert.ToStored(m.Kind, ownBody(m, env))
	asked := managed(tree)
	for _, name := range serverFields { // nobody owns what is not taken
		delete(object(tree, "metadata"), name)
	}
	own(State{}, m, asked, tree, env)
	return build(m, tree, managed(tree), env)
}

// build completes, checks and encodes a new object, in stored form. It changes tree.
func build(m *request.Mutation, tree schema.Tree, owners []any, env Env) (Candidate, error) {
	stored := m.Kind.Stored
	metadata := object(tree, "metadata")
	metadata["name"] = m.Key.Name
	if m.Kind.Namespaced {
		metadata["namespace"] = m.Key.Namespace
	} else {
		delete(metadata, "namespace")
	}
	metadata["uid"] = env.NewUID()
	metadata["creationTimestamp"] = timestamp(env.Now)
	for _, name := range serverFields {
		delete(metadata, name)
	}
	tree["metadata"] = metadata
	setManaged(tree, owners)
	if stored.Generation {
		metadata["generation"] = int64(1)
	}
	if m.Kind.Custom() && m.Kind.Subresource("status") != nil {
		delete(tree, "status")
		rules.Default(stored, tree)
	}
	if stored.Rules.Prepare != nil {
		stored.Rules.Prepare(tree, nil)
	}
	if err := m.Admit(nil, tree); err != nil {
		return Candidate{}, err
	}
	claim, causes := env.claim(m.Key, nil, tree)
	held := &held{claim}
	defer held.drop()
	causes = slices.Concat(rules.Validate(stored, tree), rules.ValidateServed(m.Kind, tree, nil), causes)
	causes, err := env.evaluate(m, tree, nil, causes)
	if err != nil {
		return Candidate{}, err
	}
	if len(causes) > 0 {
		return Candidate{}, meta.NewInvalid(kindName(m.Kind), m.Key.Name, causes)
	}
	if m.Verb == request.Create && !m.DryRun && rules.Text(object(m.Object, "metadata"), "resourceVersion") != "" {
		return Candidate{}, meta.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	c, err := finish(State{}, m, tree, env)
	if err != nil {
		return Candidate{}, err
	}
	c.Created, c.Claim = true, held.pass()
	c.Warnings = warn(stored, tree, nil)
	return c, nil
}

// ownBody is the body of a write with what the mutation changes of it copied: the same
// body may be needed again, for another state. A conversion, a preparation and a claim may
// change all of it; what else is written below metadata depends on nothing but the body.
func ownBody(m *request.Mutation, env Env) schema.Tree {
	if m.Kind.Stored != m.Kind || m.Kind.Stored.Rules.Prepare != nil || env.Claims != nil || m.Admission != nil {
		body := rules.Clone(m.Object).(schema.Tree)
		rules.Grow(body, "metadata")
		return body
	}
	return cloneTop(m.Object)
}

// serverFields of metadata are never taken from a body.
var serverFields = []string{
	"resourceVersion", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields",
}

func resource(k *schema.Kind) meta.GroupResource {
	return meta.GroupResource{Group: k.Group, Resource: k.Resource}
}

func kindName(k *schema.Kind) meta.GroupKind { return meta.GroupKind{Group: k.Group, Kind: k.Kind} }

// speaks is the kind that the bodies of m are of.
func speaks(m *request.Mutation) *schema.Kind {
	return convert.Speaker(m.Kind, m.Kind.Subresource(m.Subresource))
}
