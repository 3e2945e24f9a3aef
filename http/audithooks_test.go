package http

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

// Without an audit its hooks allocate nothing.
func TestAuditCostsNothingWhenOff(t *testing.T) {
	s, x := &Server{}, &exchange{ctx: &fasthttp.RequestCtx{}}
	x.info.Path = "/version"
	doc, status := []byte("{}"), &meta.Status{Code: 401}
	hooks := func() {
		if err := s.record(x); err != nil {
			t.Error(err)
		}
		x.sent(nil, nil, mediaJSON, doc)
		x.sentOptions(nil, nil, mediaJSON, doc)
		x.sentPatch(doc)
		x.answersDocument(doc)
		x.answersList(nil, 0)
		s.recordRefusal(x)
		x.answersStatus(status)
		s.recorded(x)
	}
	if n := testing.AllocsPerRun(100, hooks); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
