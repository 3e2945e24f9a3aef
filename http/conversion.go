package http

import (
	"slices"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// One conversion takes so many objects, and so many bytes of JSON unless one alone is larger. One
// object at a time would cost a call, and maybe one to a webhook, for each; all at once would hold the list
// in memory twice.
const (
	maxConvertObjects = 64
	maxConvertBytes   = 64 << 10
)

// converted returns the objects of a listing in the form of the request's kind, converted a few at a time
// while they are written; nil if the items have that form.
func (s *Server) converted(x *requestContext, listing request.ListResult) represent.Objects {
	if listing.Converted || x.format.Shape == negotiate.Whole && allAsStored(x.kind, listing.Items) {
		return nil
	}
	// The list is written when the request is over.
	store, ctx, kind := s.opts.Store, x.deadlineCtx, x.kind
	return func(from int) ([]*meta.Object, error) {
		rest := listing.Items[from:]
		return store.Convert(ctx, kind, rest[:convertEnd(rest)])
	}
}

// convertEnd is the number of objects that are converted at once: at least one, however large.
func convertEnd(objects []*meta.Object) int {
	end, bytes := 1, len(objects[0].JSON)
	for end < len(objects) && end < maxConvertObjects {
		if bytes += len(objects[end].JSON); bytes > maxConvertBytes {
			break
		}
		end++
	}
	return end
}

// allAsStored reports whether whole objects can be written as they are stored: all conform to the version of
// the kind. A custom kind's objects are stored as they were written, and may be of an older schema, which
// reading applies.
func allAsStored(k *schema.Kind, items []*meta.Object) bool {
	if k.Stored != k || !k.IsCustom() {
		return k.Stored == k
	}
	form := k.Origin.Schema.ID()
	return !slices.ContainsFunc(items, func(o *meta.Object) bool { return !o.ConformsTo(form) })
}
