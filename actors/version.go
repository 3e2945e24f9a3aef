package actors

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
)

func withVersion(o *meta.Object, version uint64) *meta.Object {
	return &meta.Object{
		Key: o.Key, Version: version, JSON: codec.WithoutVersion(o.JSON).WithVersion(version), ItemOffset: o.ItemOffset, Meta: o.Meta,
	}
}
