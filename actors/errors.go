package actors

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Refusals inside the store; after the first two the mutation is computed again.
var (
	errStopped     = errors.New("actors: the owner has stopped")
	errStale       = errors.New("actors: computed on a state that did not hold")
	errMailboxFull = meta.NewTooManyRequests("too many changes wait for this object, please try again later", 1)
)

// isRetryable says whether a mutation is to be computed again.
func isRetryable(err error) bool { return errors.Is(err, errStopped) || errors.Is(err, errStale) }
