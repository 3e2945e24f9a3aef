package controllers

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
)

// hasReason tells why something was refused.
func hasReason(err error, why meta.Reason) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Reason == why
}

// isNotFound tells that an error says that an object does not exist.
func isNotFound(err error) bool { return hasReason(err, meta.ReasonNotFound) }

// isConflict tells that somebody else was quicker: the object is not any more as it was.
func isConflict(err error) bool { return hasReason(err, meta.ReasonConflict) }

// isInvalid tells that an object cannot become what it was to become.
func isInvalid(err error) bool { return hasReason(err, meta.ReasonInvalid) }
