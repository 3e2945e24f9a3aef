package controllers

import (
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// coreKind is a kind of the core group.
func coreKind(kinds *catalog.Catalog, kind string) *schema.Kind {
	return kinds.ByGVK(meta.GroupVersionKind{Version: "v1", Kind: kind})
}
