package actors

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
)

var namespaces = meta.GroupResource{Resource: "namespaces"}

func (s *Store) precondition(m *request.Mutation) (createPrecondition, error) {
	mayCreate := m.Subresource == "" && (m.Kind.Namespaced || m.Kind.IsCustom())
	switch m.Change.(type) {
	case request.Delete:
		if m.Kind.Storage == namespaces && s.isProtectedNamespace(m.Key.Name) && s.quarantine.get(m.Key) == nil {
			return createPrecondition{}, meta.NewForbidden(namespaces, m.Key.Name, "this namespace may not be deleted")
		}
		mayCreate = false
	case request.Update:
		mayCreate = mayCreate && m.Kind.Writes.CreateOnUpdate
	case request.Patch:
		mayCreate = false
	}
	if !mayCreate {
		return createPrecondition{}, nil
	}
	var definition createPrecondition
	if m.Kind.IsCustom() {
		var err error
		if definition, err = s.definitionPrecondition(m); err != nil || definition.refusal != nil || !m.Kind.Namespaced {
			return definition, err
		}
	}
	h := s.namespacePrecondition(m)
	h.conditions = append(h.conditions, definition.conditions...)
	if request.Is[request.Create](m) && h.refusal != nil {
		return createPrecondition{}, h.refusal
	}
	return h, nil
}

// createPrecondition holds the conditions of a create. The namespace and the CRD must be unchanged
// at commit time, so that no object is created in a terminating namespace. If the namespace is
// already missing or terminating, refusal is the error and there are no conditions.
type createPrecondition struct {
	refusal    error
	conditions []persist.Condition
}

func (s *Store) namespacePrecondition(m *request.Mutation) createPrecondition {
	namespace := s.allCollections()[namespaces].published.Load().get(path("", m.Key.Namespace))
	if namespace == nil {
		return createPrecondition{refusal: meta.NewNotFound(namespaces, m.Key.Namespace)}
	}
	if namespace.Meta.Terminating {
		return createPrecondition{refusal: meta.NewNamespaceTerminating(m.Kind.GroupResource(), m.Key)}
	}
	return createPrecondition{conditions: []persist.Condition{{Key: namespace.Key.String(), Revision: persist.Revision(namespace.Version)}}}
}

// isProtectedNamespace reports whether a namespace must not be deleted. As in Kubernetes, the
// default, system and public namespaces are protected, but not the namespace of node Leases.
func (s *Store) isProtectedNamespace(name string) bool {
	return name == "default" || name == s.naming.SystemNamespace() || name == s.naming.PublicNamespace()
}

func (s *Store) ensureNamespaces() error {
	names := slices.Concat([]string{"default"}, s.naming.SystemNamespaces())
	faults := make([]error, len(names))
	var wait sync.WaitGroup
	existing := s.allCollections()[namespaces].published.Load()
	for i, name := range names {
		if existing.get(path("", name)) != nil {
			continue
		}
		wait.Go(func() { faults[i] = s.ensureNamespace(name) })
	}
	wait.Wait()
	return errors.Join(faults...)
}

func (s *Store) ensureNamespace(name string) error {
	_, err := s.Mutate(context.Background(), request.Mutation{
		Kind: s.allCollections()[namespaces].kind(), Key: meta.Key{GroupResource: namespaces, Name: name},
		Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name}}},
	})
	if meta.HasReason(err, meta.ReasonAlreadyExists) {
		return nil
	}
	return err
}
