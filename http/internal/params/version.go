package params

import (
	"strconv"

	"github.com/troupe-api/troupe/http/internal/apierrors"
)

// ParseVersion parses an optional resourceVersion, which defaults to 0.
func ParseVersion(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, apierrors.BadRequest("invalid resource version: resourceVersion: Invalid value: " + strconv.Quote(s) + ": " + err.Error())
	}
	return n, nil
}
