package actors

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Why a mutation got no answer that holds. The first two make Store.askOwner compute it again.
var (
	errStopped     = errors.New("actors: the owner has stopped")
	errStale       = errors.New("actors: computed on a state that was not committed")
	errMailboxFull = meta.NewTooManyRequests("too many changes wait for this object, please try again later", 1)
)

// isRetryable says whether a mutation is to be computed again.
func isRetryable(err error) bool { return errors.Is(err, errStopped) || errors.Is(err, errStale) }
