package mutation_test

import (
	"testing"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestNeedsVersion(t *testing.T) {
	body := func(version string) tree.Tree { return tree.Tree{"metadata": tree.Tree{"resourceVersion": version}} }
	conditional := request.Mutation{Change: request.Delete{ResourceVersion: new("7")}}
	for name, c := range map[string]struct {
		m    request.Mutation
		want bool
	}{
		"update":               {request.Mutation{Change: request.Update{Object: body("7")}}, true},
		"unconditional update": {request.Mutation{Change: request.Update{Object: body("0")}}, false},
		"update without":       {request.Mutation{Change: request.Update{Object: tree.Tree{}}}, false},
		"patch":                {request.Mutation{Change: request.Patch{Body: []byte(`{"metadata":{"resourceVersion":"7"}}`)}}, true},
		"patch without":        {request.Mutation{Change: request.Patch{Body: []byte(`{"data":{}}`)}}, false},
		"delete":               {conditional, true},
		"delete without":       {request.Mutation{Change: request.Delete{}}, false},
	} {
		if got := mutation.NeedsVersion(&c.m); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
