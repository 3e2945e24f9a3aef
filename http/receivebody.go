package http

import (
	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/wire"
)

// receiveBody reads the body of a request. While it waits for what is still to come, the request is not
// counted among those that the server works on: the time is the client's.
func (s *Server) receiveBody(x *requestContext) ([]byte, error) {
	system := s.limiters.isSystemUser(x.user)
	var slot *limits.Limiter
	waits := x.conn.BodyPending()
	if waits {
		slot = x.permit.ReleaseSlot()
	}
	body, err := x.conn.ReadBody(wire.BodyLimits{Max: int64(s.opts.Limits.MaxRequestBodyBytes), Budget: s.bodyBudget, System: system})
	if err != nil {
		return nil, err
	}
	if slot != nil && !x.permit.TryAcquireSlot(slot, system) {
		return nil, apierrors.TooManyRequests()
	}
	if waits {
		err = s.reserveWorkOfBody(x)
	}
	return body, err
}
