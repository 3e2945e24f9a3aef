package actors

import (
	"context"
	"errors"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// namespaces is the collection that every namespaced object depends on.
var namespaces = meta.GroupResource{Resource: "namespaces"}

// guard refuses creates in a namespace that is missing or terminating, and deletes of
// namespaces that must stay. A create is committed only while its namespace is as it
// was seen here: so nothing can slip into a namespace that is being emptied.
func (s *Store) guard(m *request.Mutation) ([]persist.Condition, error) {
	switch {
	case m.Verb == request.Delete && m.Kind.Storage == namespaces && s.immortal(m.Key.Name):
		return nil, meta.NewForbidden(namespaces, m.Key.Name, "this namespace may not be deleted")
	case !m.Kind.Namespaced || m.Verb == request.Delete || m.Verb == request.Patch:
		return nil, nil
	case m.Verb == request.Update && !m.Kind.CreateOnUpdate:
		return nil, nil
	}
	home := s.collections[namespaces].published.Load().get(path("", m.Key.Namespace))
	if home == nil {
		return nil, meta.NewNotFound(namespaces, m.Key.Namespace)
	}
	if home.Head.Terminating {
		status := meta.NewForbidden(resource(m.Kind), m.Key.Name,
			"unable to create new content in namespace "+m.Key.Namespace+" because it is being terminated")
		status.Details.Causes = []meta.Cause{{
			Type: "NamespaceTerminating", Field: "metadata.namespace",
			Message: "namespace " + m.Key.Namespace + " is being terminated",
		}}
		return nil, status
	}
	return []persist.Condition{{Key: home.Key.String(), Revision: persist.Revision(home.Version)}}, nil
}

// immortal namespaces are the default one and the system's, but for that of leases.
func (s *Store) immortal(name string) bool {
	return name == "default" || name == s.naming.SystemNamespace() || name == s.naming.PublicNamespace()
}

// ensureNamespaces creates the namespaces that exist from the start.
func (s *Store) ensureNamespaces() error {
	kind := s.collections[namespaces].kind
	for _, name := range slices.Concat([]string{"default"}, s.naming.SystemNamespaces()) {
		_, err := s.Mutate(context.Background(), request.Mutation{
			Verb: request.Create, Kind: kind, Key: meta.Key{GroupResource: namespaces, Name: name},
			Object: schema.Tree{"metadata": schema.Tree{"name": name}},
		})
		var status *meta.Status
		if err != nil && !(errors.As(err, &status) && status.Reason == meta.ReasonAlreadyExists) {
			return err
		}
	}
	return nil
}
