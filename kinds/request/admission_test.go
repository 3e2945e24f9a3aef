package request_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// recorder is an admission of both sorts that notes what it is asked, and refuses at one step.
type recorder struct {
	steps  []string
	refuse string
	absent bool // it does not apply
}

var errRefused = errors.New("refused")

func (r *recorder) step(name string) error {
	r.steps = append(r.steps, name)
	if name == r.refuse {
		return errRefused
	}
	return nil
}

type pure struct{ *recorder }

func (p pure) Applies(operation request.Verb) bool { return !p.absent && operation == request.Create }
func (p pure) Admit(request.Change) error          { return p.step("admit") }
func (p pure) Validate(request.Change) error       { return p.step("validate") }

type waiting struct{ *recorder }

func (w waiting) Applies(request.Change) bool { return !w.absent }
func (w waiting) Mutate(context.Context, request.Change) ([]string, error) {
	return []string{"first"}, w.step("ask to mutate")
}

func (w waiting) Validate(context.Context, request.Change) (request.Verdict, error) {
	return request.Verdict{Warnings: []string{"second"}, Reservation: w}, w.step("ask to validate")
}
func (w waiting) Commit()  { _ = w.step("commit") }
func (w waiting) Release() { _ = w.step("release") }

func TestAdmitOperation(t *testing.T) {
	for _, c := range []struct {
		refuse string
		commit bool
		steps  string
	}{
		{"", true, "admit, ask to mutate, admit, validate, ask to validate, commit"},
		{"", false, "admit, ask to mutate, admit, validate, ask to validate, release"},
		{"admit", false, "admit"},
		{"ask to mutate", false, "admit, ask to mutate"},
		{"validate", false, "admit, ask to mutate, admit, validate"},
		{"ask to validate", false, "admit, ask to mutate, admit, validate, ask to validate"},
	} {
		r := &recorder{refuse: c.refuse}
		m := request.Mutation{Admission: pure{r}, Waiting: waiting{r}}
		v, err := m.AdmitOperation(t.Context(), tree.Tree{})
		if (err != nil) != (c.refuse != "") {
			t.Errorf("refused at %q: %v", c.refuse, err)
		}
		v.Conclude(c.commit)
		if err == nil && strings.Join(v.Warnings, " ") != "first second" {
			t.Errorf("warnings %q", v.Warnings)
		}
		if got := strings.Join(r.steps, ", "); got != c.steps {
			t.Errorf("refused at %q: %s, want %s", c.refuse, got, c.steps)
		}
	}
	m := request.Mutation{Admission: pure{&recorder{absent: true, refuse: "admit"}}, Waiting: waiting{&recorder{absent: true, refuse: "ask to mutate"}}}
	v, err := m.AdmitOperation(t.Context(), tree.Tree{})
	if err != nil || v.Reservation != request.NoReservation {
		t.Errorf("where nothing applies: %v %v", v, err)
	}
}

func TestOperation(t *testing.T) {
	some := tree.Tree{}
	for _, c := range []struct {
		change request.Change
		want   request.Verb
	}{
		{request.Change{New: some}, request.Create},
		{request.Change{Old: some, New: some}, request.Update},
		{request.Change{Old: some}, request.Delete},
	} {
		if got := c.change.Operation(); got != c.want {
			t.Errorf("%v: operation %d, want %d", c.change, got, c.want)
		}
	}
}

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
