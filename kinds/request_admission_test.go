package kinds_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

type recorder struct {
	steps  []string
	refuse string
	absent bool // Handles returns false
}

var errRefused = errors.New("refused")

func (r *recorder) step(name string) error {
	r.steps = append(r.steps, name)
	if name == r.refuse {
		return errRefused
	}
	return nil
}

func (r *recorder) Handles(*request.Attributes) bool { return !r.absent }

type pure struct{ *recorder }

func (p pure) Admit(*request.Attributes) error    { return p.step("admit") }
func (p pure) Validate(*request.Attributes) error { return p.step("validate") }

type waiting struct{ *recorder }

func (w waiting) Admit(a *request.Attributes) error {
	if a.Reinvocation {
		return w.step("ask again")
	}
	return w.step("ask to mutate")
}

func (w waiting) Validate(*request.Attributes) error { return w.step("ask to validate") }

type last struct{ *recorder }

func (l last) Validate(a *request.Attributes) error {
	if err := l.step("reserve"); err != nil {
		return err
	}
	a.Reserve(l.reservation())
	return nil
}

func (l last) reservation() *request.Reservation {
	return &request.Reservation{OnCommit: func() { _ = l.step("commit") }, OnRelease: func() { _ = l.step("release") }}
}

func (r *recorder) admission() *request.Admission {
	return &request.Admission{Plugins: []*request.Plugin{
		{Stage: request.Last, Validator: last{r}}, {Stage: request.MayBlock, Mutator: waiting{r}, Validator: waiting{r}},
		{Operations: request.OnCreate, Mutator: pure{r}, Validator: pure{r}},
	}}
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
		m := request.Mutation{Admission: r.admission()}
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
	m := request.Mutation{Admission: (&recorder{absent: true, refuse: "admit"}).admission()}
	reserved, err := m.AdmitOperation(t.Context(), tree.Tree{}, func() error { return nil })
	if err != nil || reserved != nil {
		t.Errorf("where nothing applies: %v %v", reserved, err)
	}
}

func TestOperation(t *testing.T) {
	some := tree.Tree{}
	for _, c := range []struct {
		change   request.Change
		old, new tree.Tree
		want     request.Operation
	}{
		{request.Create{}, nil, some, request.OnCreate},
		{request.Create{}, some, some, request.OnUpdate},
		{request.Create{}, some, nil, request.OnDelete},
		{request.Connect{}, nil, some, request.OnConnect},
	} {
		if got := request.NewAttributes(t.Context(), &request.Mutation{Change: c.change}, c.old, c.new).Operation; got != c.want {
			t.Errorf("%v: operation %d, want %d", c, got, c.want)
		}
	}
}
