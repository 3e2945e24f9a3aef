package controllers

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
)

// hasReason reports whether an error is a Status with the given reason.
func hasReason(err error, why meta.Reason) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Reason == why
}

// isNotFound reports whether the object does not exist.
func isNotFound(err error) bool { return hasReason(err, meta.ReasonNotFound) }

// isConflict reports whether the object has changed since it was read.
func isConflict(err error) bool { return hasReason(err, meta.ReasonConflict) }

// isInvalid reports whether validation has refused the change, so that retrying it is of no use.
func isInvalid(err error) bool { return hasReason(err, meta.ReasonInvalid) }
