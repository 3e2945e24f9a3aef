package http

import (
	"testing"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

func TestAuditCostsNothingWhenOff(t *testing.T) {
	s, x := &Server{}, &requestContext{ctx: &fasthttp.RequestCtx{}}
	x.info.Path = "/version"
	doc, status := []byte("{}"), &meta.Status{Code: 401}
	hooks := func() {
		if err := s.beginAudit(x); err != nil {
			t.Error(err)
		}
		x.auditRequestObject(nil, nil, negotiate.JSON, doc)
		x.auditRequestOptions(nil, nil, negotiate.JSON, doc)
		x.auditRequestPatch(doc)
		x.auditResponseDocument(doc)
		x.auditResponseList(nil, 0)
		s.auditRefusal(x)
		x.auditResponseStatus(status)
		s.endAudit(x)
	}
	if n := testing.AllocsPerRun(100, hooks); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
