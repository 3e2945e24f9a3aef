package http

import (
	"slices"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// The limits of one conversion, unless a single object is larger. Converting objects one at a time
// would cost a webhook call each; all at once would hold the list in memory twice.
const (
	maxConvertObjects = 64
	maxConvertBytes   = 64 << 10
)

// converted returns the objects of a listing in the form of the request's kind, converted in
// batches while they are written; nil if they have that form.
func converted(x *requestContext, listing request.ListResult) represent.Objects {
	form, ctx := listing.Form, x.deadlineCtx // the list is written after the request
	if form.Converter == nil || x.format.Shape == negotiate.Whole && !slices.ContainsFunc(listing.Items, form.Converts) {
		return nil
	}
	return func(from int) ([]*meta.Object, error) {
		rest := listing.Items[from:]
		return form.Convert(ctx, rest[:convertEnd(rest)])
	}
}

// convertEnd returns the size of the next batch, at least 1.
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
