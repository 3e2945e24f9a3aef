package reconcile

import (
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// CoreKind returns the kind of the core group's v1 with the given name.
func CoreKind(kinds *catalog.Catalog, kind string) *schema.Kind {
	return kinds.ByGVK(meta.GroupVersionKind{Version: "v1", Kind: kind})
}
