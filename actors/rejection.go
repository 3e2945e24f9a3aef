package actors

import (
	"errors"

	"github.com/troupe-api/troupe/actors/internal/runtime"
)

// Reject fails a mutation that its mailbox has not accepted. Otherwise, the writer would wait
// forever for the outcome.

func (m *mutateRequest) Reject(err error) { m.reject(rejection(err, errMailboxFull)) }

func (p *proposal) Reject(err error) { p.abort(rejection(err, errQueueFull)) }

func rejection(err, full error) error {
	if errors.Is(err, runtime.ErrFull) {
		return full
	}
	return errStopped
}

var _, _ runtime.Rejectable = (*mutateRequest)(nil), (*proposal)(nil)
