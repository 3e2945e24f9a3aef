package reconcile

import (
	"errors"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// IsNotFound reports whether err means that the object does not exist.
func IsNotFound(err error) bool { return meta.HasReason(err, meta.ReasonNotFound) }

// IsConflict reports whether err means that the object has changed since it was read.
func IsConflict(err error) bool { return meta.HasReason(err, meta.ReasonConflict) }

// IsAlreadyExists reports whether err means that the name of a new object is taken.
func IsAlreadyExists(err error) bool { return meta.HasReason(err, meta.ReasonAlreadyExists) }

// Except returns nil if any of the predicates matches err, and err otherwise.
func Except(err error, kinds ...func(error) bool) error {
	if slices.ContainsFunc(kinds, func(is func(error) bool) bool { return is(err) }) {
		return nil
	}
	return err
}

// IsInvalid reports whether err means that validation, a policy or a webhook has rejected the
// change.
func IsInvalid(err error) bool { return meta.HasReason(err, meta.ReasonInvalid) }

// IsImmutable reports whether err means that the ConfigMap or Secret is immutable, which a retry
// cannot fix.
func IsImmutable(err error, object tree.Tree) bool {
	immutable, _ := object["immutable"].(bool)
	return immutable && IsInvalid(err)
}

// IsNamespaceTerminating reports whether err means that the namespace of a new object is
// terminating.
func IsNamespaceTerminating(err error) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Details != nil && slices.ContainsFunc(status.Details.Causes, func(c meta.Cause) bool {
		return c.Type == meta.CauseNamespaceTerminating
	})
}
