package http

import (
	"fmt"
	"time"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/kinds/request"
)

// history responds with the retained revisions of one object, newest first. The response is a JSON
// list of watch events with their times:
//
//	{"kind":"WatchEventList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9","continue":"7"},
//	 "items":[{"time":"2006-01-02T15:04:05Z","type":"MODIFIED","object":{…}}]}
func (s *Server) history(x *requestContext) error {
	if err := s.names.OnlyJSON(x.acceptHeader()); err != nil {
		return err
	}
	x.format = negotiate.Format{Pretty: x.format.Pretty}
	r := request.History{Kind: x.kind, Key: x.info.Key(x.kind), User: x.attributes.User.Name}
	if err := params.ParseHistory(x.target.Query, &r); err != nil {
		return err
	}
	h, err := s.opts.Store.History(x.deadlineCtx, r)
	if err != nil {
		return err
	}
	size := 0
	for _, v := range h.Revisions {
		if v.Object != nil {
			size += len(v.Object.JSON)
		}
	}
	if err := s.reserveResponse(x, int64(size)); err != nil {
		return err
	}
	events, err := s.encoder.Events(x.kind, x.format, x.target.Query)
	if err != nil {
		return err
	}
	b := fmt.Appendf(make([]byte, 0, size+size/8+256), `{"kind":"WatchEventList","apiVersion":"%s/v1","metadata":{"resourceVersion":"%d"`, s.names.MetaGroup, h.Version)
	if h.Before > 0 {
		b = fmt.Appendf(b, `,"continue":"%d"`, h.Before)
	}
	b = append(b, `},"items":[`...)
	var event []byte
	for i, v := range h.Revisions {
		if event, err = events.AppendEvent(event[:0], &v.Event); err != nil {
			return err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"time":%q,%s`, v.Time.UTC().Format(time.RFC3339Nano), event[1:len(event)-1]) // without its brace and line feed
	}
	s.writeDocument(x, append(b, "]}"...))
	return nil
}
