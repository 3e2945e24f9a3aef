package daemon

import (
	"context"
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A namespaceCreator makes namespaces for admission. It writes as the server itself, which is admitted: whether the user may
// create namespaces was decided by switching the plugin on.
type namespaceCreator struct{ *Daemon }

// CreateNamespace implements plugins.NamespaceCreator.
func (n namespaceCreator) CreateNamespace(ctx context.Context, name string) error {
	k := n.kinds.ByGVK(meta.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	_, err := n.admitting(n.store).Mutate(ctx, request.Mutation{
		Verb: request.Create, Kind: k, Key: meta.Key{GroupResource: k.Storage, Name: name},
		Object: tree.Tree{"metadata": tree.Tree{"name": name}},
	})
	if status, ok := errors.AsType[*meta.Status](err); ok && status.Reason == meta.ReasonAlreadyExists {
		return nil
	}
	return err
}
