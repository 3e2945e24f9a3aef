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

// IsAlreadyExists reports whether a create failed because the name is taken.
func IsAlreadyExists(err error) bool { return HasReason(err, meta.ReasonAlreadyExists) }

// Except returns nil for errors of the given kinds, and err otherwise.
func Except(err error, kinds ...func(error) bool) error {
	if slices.ContainsFunc(kinds, func(is func(error) bool) bool { return is(err) }) {
		return nil
	}
	return err
}

// IsInvalid reports whether validation, a policy or a webhook has refused the change.
func IsInvalid(err error) bool { return HasReason(err, meta.ReasonInvalid) }

// IsImmutable reports whether a change failed because the ConfigMap or Secret is immutable, so that
// retries are useless.
func IsImmutable(err error, object tree.Tree) bool {
	immutable, _ := object["immutable"].(bool)
	return immutable && IsInvalid(err)
}

// IsNamespaceTerminating reports whether a create failed because the namespace is terminating.
func IsNamespaceTerminating(err error) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Details != nil && slices.ContainsFunc(status.Details.Causes, func(c meta.Cause) bool {
		return c.Type == meta.CauseNamespaceTerminating
	})
}
