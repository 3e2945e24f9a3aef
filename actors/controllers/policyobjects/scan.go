package policyobjects

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission/quota"
)

var _ quota.Objects = (*Reader)(nil)

// Scan implements quota.Objects. The resource has the name of its storage, which is that of the profile.
func (r *Reader) Scan(ctx context.Context, resource meta.GroupResource, namespace string, visit func(*schema.Kind, *meta.Object)) (uint64, error) {
	return r.store.Scan(ctx, resource, namespace, visit)
}

// Version implements quota.Objects.
func (r *Reader) Version() uint64 { return r.store.Version() }

// AwaitVersion implements quota.Objects.
func (r *Reader) AwaitVersion(ctx context.Context, version uint64) error {
	return r.store.AwaitVersion(ctx, version)
}
