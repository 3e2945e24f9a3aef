package actors

import (
	"errors"

	"github.com/troupe-api/troupe/actors/internal/runtime"
)

// Writers wait for the outcome of their requests and proposals, so a mailbox that rejects one must
// complete it.

func (m *mutateRequest) Reject(err error) { m.reject(rejection(err, errMailboxFull)) }

func (p *proposal) Reject(err error) { p.abort(rejection(err, errQueueFull)) }

func rejection(err, full error) error {
	if errors.Is(err, runtime.ErrFull) {
		return full
	}
	return errStopped
}

var _, _ runtime.Rejectable = (*mutateRequest)(nil), (*proposal)(nil)
