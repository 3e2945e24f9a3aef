package http

import (
	"io"

	"github.com/troupe-api/troupe/kinds/request"
)

// What making an item in another form than it has in the store takes, at most, times its size:
// the tree that it is decoded to, and its text.
const (
	protobufGrowth = 8
	yamlGrowth     = 24
)

// writeListing answers a list in the format that was negotiated.
func (s *Server) writeListing(x *exchange, listing request.Listing) error {
	l, err := s.bodyOf(x, listing)
	if err != nil {
		return err
	}
	all, largest := l.weigh()
	if err := s.reserve(x, l.room(x, all, largest)); err != nil {
		return err
	}
	x.answersList(l, all)
	if x.format.media == mediaProtobuf {
		return s.streamProtobuf(x, l, all)
	}
	contentType, write := typeJSON, l.json
	switch {
	case x.format.media == mediaYAML:
		contentType, write = typeYAML, l.yaml
	case x.format.pretty:
		write = l.pretty
	case l.asStored:
		s.stream(x, typeJSON, &answer{write: write, size: l.size()}, all)
		return nil
	}
	return s.streamUnsized(x, contentType, write, all)
}

// streamUnsized answers what write makes of so many bytes of objects.
func (s *Server) streamUnsized(x *exchange, contentType string, write func(io.Writer) error, all int) error {
	if all <= smallAnswer {
		body, err := oneBuffer(write)
		if err != nil {
			return err
		}
		s.writeRaw(x, contentType, body)
		return nil
	}
	s.stream(x, contentType, &answer{write: gathered(write), size: -1}, all)
	return nil
}

// room is the memory, in bytes, that an answer takes while it is written: its buffers, its share
// of the listing, and that of the item which it is at.
func (l *listBody) room(x *exchange, all, largest int) int64 {
	if all <= smallAnswer {
		return 0
	}
	room := answerRoom + 8*len(l.items)
	if all >= gzipFrom && x.wantsGzip() {
		room += gzipRoom
	}
	switch {
	case x.format.media == mediaYAML:
		room += yamlGrowth * largest
	case x.format.media == mediaProtobuf:
		room += protobufGrowth * largest
	case !l.asStored:
		room += 2 * largest
	}
	return int64(room)
}

// pretty writes the list as JSON for people.
func (l *listBody) pretty(w io.Writer) error { return l.json(&indenter{to: w}) }
