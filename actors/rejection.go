package actors

import (
	"errors"

	"github.com/troupe-api/troupe/actors/internal/runtime"
)

// Writers wait for an answer to their requests and proposals, so a mailbox that does not take one has to
// answer it.

// Reject implements runtime.Rejectable.
func (m *mutateRequest) Reject(err error) { m.reject(rejection(err, errMailboxFull)) }

// Reject implements runtime.Rejectable.
func (p *proposal) Reject(err error) { p.abort(rejection(err, errQueueFull)) }

// rejection returns the answer to a message that a mailbox did not take: full, if it had no room.
func rejection(err, full error) error {
	if errors.Is(err, runtime.ErrFull) {
		return full
	}
	return errStopped
}

var _, _ runtime.Rejectable = (*mutateRequest)(nil), (*proposal)(nil)
