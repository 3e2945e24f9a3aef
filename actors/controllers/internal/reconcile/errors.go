package reconcile

import (
	"errors"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// HasReason reports whether an error is a Status with the given reason.
func HasReason(err error, why meta.Reason) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Reason == why
}

// IsNotFound reports whether the object does not exist.
func IsNotFound(err error) bool { return HasReason(err, meta.ReasonNotFound) }

// IsConflict reports whether the object has changed since it was read.
func IsConflict(err error) bool { return HasReason(err, meta.ReasonConflict) }

// IsAlreadyExists reports whether an object was not created because there is one of its name.
func IsAlreadyExists(err error) bool { return HasReason(err, meta.ReasonAlreadyExists) }

// Except returns nil instead of an error of some kinds.
func Except(err error, kinds ...func(error) bool) error {
	if slices.ContainsFunc(kinds, func(is func(error) bool) bool { return is(err) }) {
		return nil
	}
	return err
}

// IsInvalid reports whether the change was refused as invalid: by validation, or by a policy or a webhook, whose mind may change.
func IsInvalid(err error) bool { return HasReason(err, meta.ReasonInvalid) }

// IsImmutable reports whether a change of the data of a ConfigMap or a Secret was refused because it is immutable, so that
// retrying it is of no use.
func IsImmutable(err error, object tree.Tree) bool {
	immutable, _ := object["immutable"].(bool)
	return immutable && IsInvalid(err)
}

// IsNamespaceTerminating reports whether an object was not created because its namespace is being deleted.
func IsNamespaceTerminating(err error) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Details != nil && slices.ContainsFunc(status.Details.Causes, func(c meta.Cause) bool {
		return c.Type == meta.CauseNamespaceTerminating
	})
}
