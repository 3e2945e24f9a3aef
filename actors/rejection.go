package actors

import (
	"errors"

	"github.com/troupe-api/troupe/actors/internal/runtime"
)

// Reject completes a request or proposal, because its writer waits for the outcome.

func (m *mutateRequest) Reject(err error) { m.reject(rejection(err, errMailboxFull)) }

func (p *proposal) Reject(err error) { p.abort(rejection(err, errQueueFull)) }

func rejection(err, full error) error {
	if errors.Is(err, runtime.ErrFull) {
		return full
	}
	return errStopped
}

var _, _ runtime.Rejectable = (*mutateRequest)(nil), (*proposal)(nil)
