package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A CreateCase is a create and its faults. Spec holds JSON fields, without braces, that are merged into
// those of a base.
type CreateCase struct {
	Name, Spec string
	Want       []string
}

// A SpecUpdateCase is an update and its faults. Old holds JSON fields that are merged into those of a
// base, and Now those that the update changes.
type SpecUpdateCase struct {
	Name, Old, Now string
	Want           []string
}

// Merged merges the JSON fields of over into those of base; null removes a field.
func Merged(t *testing.T, base, over string) tree.Tree {
	t.Helper()
	out := Parse(t, "{"+base+"}")
	for key, value := range Parse(t, "{"+over+"}") {
		if out[key] = value; value == nil {
			delete(out, key)
		}
	}
	return out
}

// RunCreateCases creates an object of k for each case. The uid is fixed, as some kinds generate labels from
// it.
func RunCreateCases(t *testing.T, k *schema.Kind, base string, cases []CreateCase) {
	t.Helper()
	for _, c := range cases {
		obj := Named(k, tree.Tree{"spec": Merged(t, base, c.Spec)})
		obj.Object("metadata")["uid"] = "u-1"
		Expect(t, c.Name, Create(k, obj), c.Want)
	}
}

// RunSpecUpdateCases updates an object of k for each case. A field "status" in Old becomes the status of
// the old object.
func RunSpecUpdateCases(t *testing.T, k *schema.Kind, base string, cases []SpecUpdateCase) {
	t.Helper()
	for _, c := range cases {
		before := Merged(t, base, c.Old)
		status := before["status"]
		delete(before, "status")
		old := Named(k, tree.Tree{"spec": before})
		old.Object("metadata")["uid"] = "u-1"
		if faults := Create(k, old); len(faults) > 0 {
			t.Fatalf("%s: the old object: %v", c.Name, faults)
		}
		if status != nil {
			old["status"] = status
		}
		now := tree.Clone(old).(tree.Tree)
		for key, value := range Parse(t, "{"+c.Now+"}") {
			if now.Object("spec")[key] = value; value == nil {
				delete(now.Object("spec"), key)
			}
		}
		Expect(t, c.Name, Update(k, now, old), c.Want)
	}
}

// A ValidationCase is the body Obj of a create, or of an update of the object Old, and its faults.
type ValidationCase struct {
	Name, Old, Obj string
	Want           []string
}

// RunValidationCases creates or updates an object of k for each case. A case without a name is named after
// its body.
func RunValidationCases(t *testing.T, k *schema.Kind, changes []ValidationCase) {
	t.Helper()
	for _, c := range changes {
		if c.Name == "" {
			c.Name = c.Obj
		}
		obj := Named(k, Parse(t, c.Obj))
		if c.Old == "" {
			Expect(t, c.Name, Create(k, obj), c.Want)
			continue
		}
		old := Named(k, Parse(t, c.Old))
		rules.Default(k, old)
		Expect(t, c.Name, Update(k, obj, old), c.Want)
	}
}

// A BodyCase is the body of a create, and its faults. Want is nil for a body that is valid.
type BodyCase struct {
	Body string
	Want []string
}

// An UpdateCase is a stored object, the body of an update, and its faults.
type UpdateCase struct {
	Old, Now string
	Want     []string
}

// RunBodyCases creates an object of k for each case.
func RunBodyCases(t *testing.T, k *schema.Kind, cases []BodyCase) {
	t.Helper()
	for _, c := range cases {
		Expect(t, c.Body, Create(k, Named(k, Parse(t, c.Body))), c.Want)
	}
}

// RunUpdateCases updates an object of k for each case. A status in Old becomes the status of the old
// object. The old object takes the way of a create first, so it has the defaults that a stored object has.
func RunUpdateCases(t *testing.T, k *schema.Kind, cases []UpdateCase) {
	t.Helper()
	for _, c := range cases {
		old := Named(k, Parse(t, c.Old))
		status := old["status"]
		if faults := Create(k, old); len(faults) > 0 {
			t.Fatalf("%s: %v", c.Old, faults)
		}
		if status != nil {
			old["status"] = status
		}
		Expect(t, c.Old+" → "+c.Now, Update(k, Named(k, Parse(t, c.Now)), old), c.Want)
	}
}

// Defaulted creates an object from a body and returns it without its metadata. It fails for an object that
// is not valid, whose defaults would prove nothing.
func Defaulted(t *testing.T, k *schema.Kind, body string) tree.Tree {
	t.Helper()
	obj := Named(k, Parse(t, body))
	Expect(t, body, Create(k, obj), nil)
	delete(obj, "metadata")
	return obj
}
