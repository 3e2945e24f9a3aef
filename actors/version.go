package actors

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
)

// withoutMemo returns a copy that shares everything but the memo.
func withoutMemo(o *meta.Object) *meta.Object {
	return &meta.Object{Key: o.Key, Version: o.Version, JSON: o.JSON, ItemOffset: o.ItemOffset, Meta: o.Meta}
}

func withVersion(o *meta.Object, version uint64) *meta.Object {
	return &meta.Object{
		Key: o.Key, Version: version, JSON: codec.WithoutVersion(o.JSON).WithVersion(version), ItemOffset: o.ItemOffset, Meta: o.Meta,
	}
}
