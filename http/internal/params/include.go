package params

import (
	"strconv"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/table"
)

// IncludeObject parses includeObject, which selects how much of the object each table row contains.
// The default is metadata. kubectl requests whole objects only to sort by their fields.
func IncludeObject(q requestinfo.Query) (table.IncludeObjectPolicy, error) {
	asked := q.Get("includeObject")
	include, ok := table.ParseInclude(asked)
	if !ok {
		return include, apierrors.BadRequest("Unable to convert to Table as requested: includeObject: Invalid value: " +
			strconv.Quote(asked) + ": must be 'Metadata', 'Object', 'None', or empty")
	}
	return include, nil
}
