package policyobjects

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission/quota"
)

var _ quota.Objects = (*Reader)(nil)

// Scan calls visit for each object of a resource in a namespace, and returns the version of the
// newest change that it has included. Unlike other methods, it expects the group name of the
// server's naming profile.
func (r *Reader) Scan(ctx context.Context, resource meta.GroupResource, namespace string, visit func(*schema.Kind, *meta.Object)) (uint64, error) {
	return r.store.Scan(ctx, resource, namespace, visit)
}

func (r *Reader) Version() uint64 { return r.store.Version() }

func (r *Reader) AwaitVersion(ctx context.Context, version uint64) error {
	return r.store.AwaitVersion(ctx, version)
}
