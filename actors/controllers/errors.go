package controllers

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
)

// is tells why something was refused.
func is(err error, why meta.Reason) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Reason == why
}

// gone tells that an error says that an object does not exist.
func gone(err error) bool { return is(err, meta.ReasonNotFound) }

// overtaken tells that somebody else was quicker: the object is not any more as it was.
func overtaken(err error) bool { return is(err, meta.ReasonConflict) }

// invalid tells that an object cannot become what it was to become.
func invalid(err error) bool { return is(err, meta.ReasonInvalid) }
