package http

import (
	"testing"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// TestResponseBudget: bytes are released once, and a response above the budget must be alone.
func TestResponseBudget(t *testing.T) {
	s := &Server{responseBudget: limits.NewBudget(1 << 20)}
	s.limiters.init(Limits{}, meta.Platform, false)
	user, admin := &authn.User{Name: "joe"}, &authn.User{Name: "admin", Groups: []string{authn.GroupMasters}}
	asked := authz.Attributes{User: user}
	x, y, z := requestContext{attributes: asked}, requestContext{attributes: asked}, requestContext{attributes: asked}
	if s.reserveResponse(&x, 700<<10) != nil || s.reserveResponse(&y, 700<<10) == nil || s.reserveResponse(&z, response.MaxBuffered) != nil {
		t.Fatal("the budget is not kept")
	}
	x.permit.Shrink(100 << 10)
	if s.reserveResponse(&y, 700<<10) != nil {
		t.Error("what was given back is gone")
	}
	for _, h := range []*limits.Permit{&x.permit, &y.permit, &z.permit, &x.permit} {
		h.Release()
	}
	if used := s.responseBudget.Used(); used != 0 {
		t.Errorf("%d bytes are left", used)
	}
	if s.reserveResponse(&x, 4<<20) != nil || s.reserveResponse(&y, 100<<10) == nil {
		t.Error("a large answer is not alone")
	}
	x.permit.Release()
	z.attributes.User = admin
	if s.reserveResponse(&x, 1000<<10) != nil || s.reserveResponse(&y, 200<<10) == nil || s.reserveResponse(&z, 200<<10) != nil {
		t.Error("others leave nothing to administrators")
	}
}
