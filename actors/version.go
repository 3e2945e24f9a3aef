package actors

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
)

// reversion is an object under another version.
func reversion(o *meta.Object, version uint64) *meta.Object {
	next := *o
	next.Version, next.JSON = version, codec.WithoutVersion(o.JSON).WithVersion(version)
	return &next
}
