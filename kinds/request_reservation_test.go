package kinds_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/request"
)

func TestReservations(t *testing.T) {
	a, b := &recorder{}, &recorder{}
	if r := request.Reservations(nil, request.NoReservation); r != request.NoReservation {
		t.Errorf("nothing is %v", r)
	}
	request.Reservations(waiting{a}, nil, waiting{b}).Commit()
	request.Reservations(waiting{a}, request.NoReservation).Release()
	request.Reservations(waiting{a}, waiting{b}).Release()
	if got := strings.Join(a.steps, " ") + "; " + strings.Join(b.steps, " "); got != "commit release release; commit release" {
		t.Error(got)
	}
}
