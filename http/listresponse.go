package http

import (
	"io"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/request"
)

// What making an item in another encoding than that of the store takes, at most, times its size:
// the tree that it is decoded to, and its text.
const (
	protobufGrowth = 8
	yamlGrowth     = 24
)

// writeListing answers a list in the format that was negotiated.
func (s *Server) writeListing(x *requestContext, listing request.ListResult) error {
	l, err := s.newListBody(x, listing)
	if err != nil {
		return err
	}
	all, largest := l.measure()
	if err := s.reserveResponse(x, l.memoryEstimate(x, all, largest)); err != nil {
		return err
	}
	x.auditResponseList(l, all)
	if x.format.Encoding == negotiate.Protobuf {
		return s.streamProtobuf(x, l, all)
	}
	contentType, write := negotiate.TypeJSON, l.json
	switch {
	case x.format.Encoding == negotiate.YAML:
		contentType, write = negotiate.TypeYAML, l.yaml
	case x.format.Pretty:
		write = l.pretty
	case l.asStored:
		s.writeStream(x, negotiate.TypeJSON, &response.Stream{Write: write, Size: l.size()}, all)
		return nil
	}
	return s.streamUnsized(x, contentType, write, all)
}

// streamUnsized answers with what write makes of so many bytes of objects.
func (s *Server) streamUnsized(x *requestContext, contentType string, write func(io.Writer) error, all int) error {
	if all <= response.MaxBuffered {
		body, err := response.Collect(write)
		if err != nil {
			return err
		}
		s.writeRaw(x, contentType, body)
		return nil
	}
	s.writeStream(x, contentType, &response.Stream{Write: response.Buffered(write), Size: -1}, all)
	return nil
}

// memoryEstimate is the memory, in bytes, that an answer takes while it is written: its buffers, its share
// of the listing, and that of the item which it is at.
func (l *listBody) memoryEstimate(x *requestContext, all, largest int) int64 {
	if all <= response.MaxBuffered {
		return 0
	}
	room := response.Overhead + 8*len(l.items)
	if all >= response.MinGzipSize && x.acceptsGzip() {
		room += response.GzipOverhead
	}
	switch {
	case x.format.Encoding == negotiate.YAML:
		room += yamlGrowth * largest
	case x.format.Encoding == negotiate.Protobuf:
		room += protobufGrowth * largest
	case !l.asStored:
		room += 2 * largest
	}
	return int64(room)
}

// pretty writes the list as JSON for people.
func (l *listBody) pretty(w io.Writer) error { return l.json(response.NewIndenter(w)) }
