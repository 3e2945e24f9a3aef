package allocation

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/request"
)

// TestObserveFollowsOtherWriters checks that other servers' commits acquire and release values,
// even while a local change to the same object is pending.
func TestObserveFollowsOtherWriters(t *testing.T) {
	s := services(t, "10.0.0.0/28", "30000-30001")
	first := serviceObject(t, `"type":"NodePort","clusterIPs":["10.0.0.5"],"clusterIP":"10.0.0.5","ports":[{"port":1,"nodePort":30000}]`)
	second := serviceObject(t, `"type":"NodePort","clusterIPs":["10.0.0.5"],"clusterIP":"10.0.0.5","ports":[{"port":1,"nodePort":30001}]`)
	pending, causes := s.Allocate(key("mine"), nil, serviceObject(t, `"type":"NodePort","clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"],"ports":[{"port":1,"nodePort":30001}]`))
	if causes != nil {
		t.Fatal(causes)
	}
	if claims := pending.Claims; len(claims) != 2 || claims[0].Release || claims[1] != (request.Claim{Name: "nodePort/30001"}) {
		t.Errorf("claims %v", claims)
	}
	if causes := s.Observe(key("theirs"), nil, first); causes != nil {
		t.Error(causes)
	}
	if causes := s.Observe(key("theirs"), first, second); len(causes) != 1 {
		t.Errorf("the port that is set aside here: %v", causes)
	}
	pending.Release()
	if got := s.nodePorts; len(got) != 1 || len(got[30001]) != 1 || got[30001][0] != (holder{key("theirs"), 1}) {
		t.Errorf("ports are held by %v", got)
	}
	gone, causes := s.Allocate(key("theirs"), second, nil)
	if causes != nil {
		t.Fatal(causes)
	}
	if want := []request.Claim{{Name: "address/10.0.0.5", Release: true}, {Name: "nodePort/30001", Release: true}}; !slices.Equal(gone.Claims, want) {
		t.Errorf("a removal claims %v", gone.Claims)
	}
	s.Observe(key("theirs"), second, nil) // the pending change was committed
	gone.Release()
	if len(s.nodePorts) != 0 || len(s.addresses) != 1 {
		t.Errorf("held are %v and %v", s.nodePorts, s.addresses)
	}
}
