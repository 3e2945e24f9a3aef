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

// Limits for a batch of objects to convert. A batch contains at least one object. Smaller batches
// would need more webhook calls, and larger batches more memory.
const (
	maxConvertObjects = 64
	maxConvertBytes   = 64 << 10
)

// maxListTime is effectively unlimited, because slow clients are disconnected much earlier.
const maxListTime = 24 * time.Hour

// converted returns a function that converts the next batch of a list's objects while the response
// is written, or nil if no object needs conversion. The function fails once the client has
// disconnected.
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
