package http

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/kinds/request"
)

// history responds with the retained revisions of one object, newest first. It is a list whose
// items are watch events with their time:
//
//	{"kind":"WatchEventList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9","continue":"7"},
//	 "items":[{"time":"2006-01-02T15:04:05Z","type":"MODIFIED","object":{…}}]}
//
// The response is always JSON.
func (s *Server) history(x *requestContext) error {
	if err := s.names.OnlyJSON(x.acceptHeader()); err != nil {
		return err
	}
	x.format = negotiate.Format{Pretty: x.format.Pretty}
	r := request.History{Kind: x.kind, Key: x.info.Key(x.kind)}
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
	doc, err := s.historyDocument(x, h, size)
	if err != nil {
		return err
	}
	s.writeDocument(x, doc)
	return nil
}

func (s *Server) historyDocument(x *requestContext, h request.HistoryResult, size int) ([]byte, error) {
	events, err := s.encoder.Events(x.kind, x.format, x.target.Query)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, size+size/8+256)
	b = append(b, `{"kind":"WatchEventList","apiVersion":"`+s.names.MetaGroup+`/v1","metadata":{"resourceVersion":"`...)
	b = strconv.AppendUint(b, h.Version, 10)
	if b = append(b, '"'); h.Before > 0 {
		b = append(b, `,"continue":"`...)
		b = append(strconv.AppendUint(b, h.Before, 10), '"')
	}
	b = append(b, `},"items":[`...)
	for i, v := range h.Revisions {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"time":"`...)
		b = v.Time.UTC().AppendFormat(b, time.RFC3339Nano)
		b = append(b, `",`...)
		begin := len(b)
		if b, err = events.AppendEvent(b, &v.Event); err != nil {
			return nil, err
		}
		b = append(b[:begin], b[begin+1:len(b)-1]...) // without its brace and line feed
	}
	return append(b, "]}"...), nil
}
