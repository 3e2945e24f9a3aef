package http

import (
	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
)

// reserveResponse takes bytes of memory for the answer, or refuses to make it.
func (s *Server) reserveResponse(x *requestContext, n int64) error {
	if n <= response.MaxBuffered {
		return nil
	}
	if !x.permit.TryReserve(s.responseBudget, n, s.limiters.isSystemUser(x.user)) {
		return apierrors.TooManyRequests()
	}
	return nil
}

// reserveObjectResponse takes the memory in which an object of that size is put into another encoding than
// it has in the store. The answer to a change is made in any case: it tells what has been done.
func (s *Server) reserveObjectResponse(x *requestContext, size int) error {
	if size <= response.MaxBuffered {
		return nil
	}
	room := int64(response.Overhead)
	switch {
	case x.format.Encoding == negotiate.YAML:
		room += int64(size) * yamlGrowth
	case x.format.Encoding == negotiate.Protobuf:
		room += int64(size) * protobufGrowth
	case x.format.Shape != negotiate.Whole:
		room += int64(size) * 2
	case !x.format.Pretty:
		return nil
	}
	if x.info.Verb == "get" {
		return s.reserveResponse(x, room)
	}
	x.permit.Reserve(s.responseBudget, room)
	return nil
}
