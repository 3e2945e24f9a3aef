package request

import "github.com/troupe-api/troupe/kinds/meta"

// A FencedError reports that a Mutation was rejected because another server has raised the guard in
// its Fence.
type FencedError struct{ Status *meta.Status }

func (e *FencedError) Error() string { return e.Status.Error() }

func (e *FencedError) Unwrap() error { return e.Status }
