package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A CreateCase is a create and its faults. Spec holds JSON fields, without braces, that are merged
// into a base.
type CreateCase struct {
	Name, Spec string
	Want       []string
}

// A SpecUpdateCase is an update and its faults. Old holds JSON fields that are merged into a base;
// Now holds the changed fields.
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

// RunCreateCases creates an object of k for each case. The uid is fixed because some kinds derive
// labels from it.
func RunCreateCases(t *testing.T, k *schema.Kind, base string, cases []CreateCase) {
	t.Helper()
	for _, c := range cases {
		obj := Named(k, tree.Tree{"spec": Merged(t, base, c.Spec)})
		obj.Object("metadata")["uid"] = "u-1"
		Expect(t, c.Name, Create(k, obj), c.Want)
	}
}

// RunSpecUpdateCases updates an object of k for each case. A "status" field in Old becomes the old
// object's status.
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

// A ValidationCase is a create of Obj, or an update of Old to Obj, and its faults.
type ValidationCase struct {
	Name, Old, Obj string
	Want           []string
}

// RunValidationCases creates or updates an object of k for each case. An unnamed case is named by
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

// A BodyCase is the body of a create and its faults.
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

// RunUpdateCases updates an object of k for each case. The old object is created first, so that it
// has defaults; a status in Old then becomes its status.
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

// Defaulted creates an object and returns it without metadata. It fails if the object is invalid.
func Defaulted(t *testing.T, k *schema.Kind, body string) tree.Tree {
	t.Helper()
	obj := Named(k, Parse(t, body))
	Expect(t, body, Create(k, obj), nil)
	delete(obj, "metadata")
	return obj
}
