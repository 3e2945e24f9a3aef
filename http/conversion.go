package http

import (
	"slices"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
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
func converted(x *requestContext, listing request.ListResult) represent.Objects {
	form, ctx := listing.Form, x.deadlineCtx // the list is written when the request is over
	if form.Converter == nil || x.format.Shape == negotiate.Whole && !slices.ContainsFunc(listing.Items, form.Converts) {
		return nil
	}
	return func(from int) ([]*meta.Object, error) {
		rest := listing.Items[from:]
		return form.Convert(ctx, rest[:convertEnd(rest)])
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
