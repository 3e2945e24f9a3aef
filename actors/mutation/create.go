package mutation

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// create makes a new object from the body. The caller has already turned
// generateName into m.Key.Name.
func create(cur State, m *request.Mutation, env Env) (Candidate, error) {
	if cur.Object != nil {
		return Candidate{}, meta.NewAlreadyExists(resource(m.Kind), m.Key.Name)
	}
	if version, _ := object(m.Object, "metadata")["resourceVersion"].(string); version != "" {
		return Candidate{}, meta.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	return build(m, env)
}

// build completes, checks and encodes the body of a create.
func build(m *request.Mutation, env Env) (Candidate, error) {
	tree := cloneTop(m.Object)
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
	if m.Kind.Generation {
		metadata["generation"] = int64(1)
	}
	rules.Default(m.Kind, tree)
	if m.Kind.Rules.Prepare != nil {
		m.Kind.Rules.Prepare(tree, nil)
	}
	if causes := rules.Validate(m.Kind, tree); len(causes) > 0 {
		return Candidate{}, meta.NewInvalid(kindName(m.Kind), m.Key.Name, causes)
	}
	c := finish(State{}, m, tree)
	c.Created = true
	return c, nil
}

// serverFields of metadata are never taken from a body.
var serverFields = []string{
	"resourceVersion", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields",
}

func resource(k *schema.Kind) meta.GroupResource {
	return meta.GroupResource{Group: k.Group, Resource: k.Resource}
}

func kindName(k *schema.Kind) meta.GroupKind { return meta.GroupKind{Group: k.Group, Kind: k.Kind} }
