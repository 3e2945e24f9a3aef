package kinds_test

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

func (p pure) Applies(operation request.Verb) bool   { return !p.absent && operation == request.Create }
func (p pure) AppliesToNoOp() bool                   { return !p.absent }
func (p pure) MayChange(operation request.Verb) bool { return p.Applies(operation) }
func (p pure) Admit(request.Change) error            { return p.step("admit") }
func (p pure) Validate(request.Change) error         { return p.step("validate") }
func (p pure) Reserve(request.Change) (*request.Reservation, error) {
	return waiting(p).reservation(), p.step("reserve")
}

type waiting struct{ *recorder }

func (w waiting) MayApply(request.Verb) bool  { return !w.absent }
func (w waiting) AppliesToNoOp() bool         { return !w.absent }
func (w waiting) Applies(request.Change) bool { return !w.absent }
func (w waiting) Begin() request.WaitingCall  { return w }
func (w waiting) Mutate(_ context.Context, c request.Change) error {
	if c.Reinvocation {
		return w.step("ask again")
	}
	return w.step("ask to mutate")
}

func (w waiting) Validate(context.Context, request.Change) error { return w.step("ask to validate") }

func (w waiting) reservation() *request.Reservation {
	return &request.Reservation{OnCommit: func() { _ = w.step("commit") }, OnRelease: func() { _ = w.step("release") }}
}

func TestAdmitOperation(t *testing.T) {
	for _, c := range []struct {
		refuse string
		commit bool
		steps  string
	}{
		{"", true, "admit, ask to mutate, admit, ask again, complete, validate, ask to validate, reserve, commit"},
		{"", false, "admit, ask to mutate, admit, ask again, complete, validate, ask to validate, reserve, release"},
		{"admit", false, "admit"},
		{"ask to mutate", false, "admit, ask to mutate"},
		{"ask again", false, "admit, ask to mutate, admit, ask again"},
		{"complete", false, "admit, ask to mutate, admit, ask again, complete"},
		{"validate", false, "admit, ask to mutate, admit, ask again, complete, validate"},
		{"ask to validate", false, "admit, ask to mutate, admit, ask again, complete, validate, ask to validate"},
		{"reserve", false, "admit, ask to mutate, admit, ask again, complete, validate, ask to validate, reserve"},
	} {
		r := &recorder{refuse: c.refuse}
		m := request.Mutation{Admission: pure{r}, Waiting: waiting{r}}
		reserved, err := m.AdmitOperation(t.Context(), tree.Tree{}, func() error { return r.step("complete") })
		if (err != nil) != (c.refuse != "") {
			t.Errorf("refused at %q: %v", c.refuse, err)
		}
		switch {
		case err != nil:
		case c.commit:
			reserved.Commit()
		default:
			reserved.Release()
		}
		if got := strings.Join(r.steps, ", "); got != c.steps {
			t.Errorf("refused at %q: %s, want %s", c.refuse, got, c.steps)
		}
	}
	m := request.Mutation{Admission: pure{&recorder{absent: true, refuse: "admit"}}, Waiting: waiting{&recorder{absent: true, refuse: "ask to mutate"}}}
	reserved, err := m.AdmitOperation(t.Context(), tree.Tree{}, func() error { return nil })
	if err != nil || reserved != nil {
		t.Errorf("where nothing applies: %v %v", reserved, err)
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
		{request.Change{New: some, Mutation: &request.Mutation{Verb: request.Connect}}, request.Connect},
	} {
		if got := c.change.Operation(); got != c.want {
			t.Errorf("%v: operation %d, want %d", c.change, got, c.want)
		}
	}
}
