package kinds_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/request"
)

func TestReservations(t *testing.T) {
	a, b := &recorder{}, &recorder{}
	var none *request.Reservation
	none.Commit()
	none.Release()
	if r := none.With(nil); r != nil {
		t.Errorf("nothing is %v", r)
	}
	none.With(last{a}.reservation()).With(last{b}.reservation()).Commit()
	last{a}.reservation().With(none).Release()
	last{a}.reservation().With(last{b}.reservation()).Release()
	if got := strings.Join(a.steps, " ") + "; " + strings.Join(b.steps, " "); got != "commit release release; commit release" {
		t.Error(got)
	}
}
