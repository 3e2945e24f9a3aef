package actors

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// Errors for rejected mutations. Store.sendToOwner retries after errStopped and errStale, and
// returns the others to the client.
var (
	errStopped     = errors.New("the owner has stopped")
	errStale       = errors.New("computed on a state that was not committed")
	errQueueFull   = meta.NewTooManyRequests("too many changes wait to be committed, please try again later", 1)
	errMailboxFull = meta.NewTooManyRequests("too many changes wait for this object, please try again later", 1)
)

func isRetryable(err error) bool {
	return errors.Is(err, errStopped) || errors.Is(err, errStale) || isContended(err)
}

func isContended(err error) bool {
	var contended *request.ContendedError
	return errors.As(err, &contended)
}
