package actors

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// Why a mutation got no answer that holds. The first two make Store.askOwner compute it again.
var (
	errStopped     = errors.New("the owner has stopped")
	errStale       = errors.New("computed on a state that was not committed")
	errQueueFull   = meta.NewTooManyRequests("too many changes wait to be committed, please try again later", 1)
	errMailboxFull = meta.NewTooManyRequests("too many changes wait for this object, please try again later", 1)
)

// isRetryable says whether a mutation is to be computed again.
func isRetryable(err error) bool {
	return errors.Is(err, errStopped) || errors.Is(err, errStale) || isContended(err)
}

// isContended says whether a mutation has to wait for others that reserve the same.
func isContended(err error) bool {
	var contended *request.ContendedError
	return errors.As(err, &contended)
}
