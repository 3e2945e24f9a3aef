package request

import "github.com/troupe-api/troupe/kinds/meta"

// A FencedError reports that a Mutation was rejected because its sender is no longer the leader:
// another server has taken over the role that Mutation.Fence names.
type FencedError struct{ Status *meta.Status }

func (e *FencedError) Error() string { return e.Status.Error() }

func (e *FencedError) Unwrap() error { return e.Status }
