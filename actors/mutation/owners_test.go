package mutation

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
)

func TestDistinctOwners(t *testing.T) {
	t.Parallel()
	owner := func(uid string, more ...any) tree.Tree {
		o := tree.Tree{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": uid}
		for i := 0; i < len(more); i += 2 {
			o[more[i].(string)] = more[i+1]
		}
		return o
	}
	kept, dropped := distinctOwners([]any{
		owner("u"), owner("v"), owner("u"), owner("u", "controller", true), owner("u", "controller", false), owner("v"), nil, nil,
	})
	if want := []string{"u", "v", ""}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
	want := []any{owner("u"), owner("v"), owner("u", "controller", true), owner("u", "controller", false), nil}
	if !reflect.DeepEqual(kept, want) {
		t.Errorf("kept %v", kept)
	}
}

// TestDistinctOwnersOfOneUID checks that many references with one UID are compared in linear time.
// A quadratic comparison would take half an hour.
func TestDistinctOwnersOfOneUID(t *testing.T) {
	t.Parallel()
	owners := make([]any, 100_000)
	for i := range owners {
		owners[i] = tree.Tree{"apiVersion": "v1", "kind": "ConfigMap", "name": fmt.Sprint(i), "uid": "u"}
	}
	if kept, dropped := distinctOwners(owners); len(kept) != len(owners) || dropped != nil {
		t.Errorf("kept %d, dropped %d", len(kept), len(dropped))
	}
}
