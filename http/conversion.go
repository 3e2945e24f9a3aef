package http

import (
	"slices"
	"time"

	"github.com/troupe-api/troupe/http/internal/deadline"
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

// maxListTime exceeds the time that the slowest accepted client takes for a list.
const maxListTime = 24 * time.Hour

// converted returns the objects of a listing in the form of the request's kind, converted in
// batches while they are written; nil if they are written as stored. It fails when the client has
// left: a conversion or a table may take much longer than its text.
func converted(x *requestContext, listing request.ListResult) represent.Objects {
	form := listing.Form
	if x.format.Shape == negotiate.Whole && (form.Converter == nil || !slices.ContainsFunc(listing.Items, form.Converts)) {
		return nil
	}
	ctx := deadline.After(x.start, maxListTime, x.conn) // the list is written after the request
	return func(from int) ([]*meta.Object, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
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
