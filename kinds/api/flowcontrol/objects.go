package flowcontrol

import (
	_ "embed"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The names of the mandatory objects. A FlowSchema and its priority level share a name.
const (
	Exempt   = "exempt"
	CatchAll = "catch-all"
)

// AutoUpdateAnnotation controls whether the server resets an object's spec. The name belongs to the
// platform naming profile and must be translated for other profiles.
const AutoUpdateAnnotation = "apf.platform.io/autoupdate-spec"

// An Object is a FlowSchema or priority level that the server maintains. Its spec is shared and
// must not be modified.
type Object struct {
	Name      string
	Mandatory bool // the spec is fixed
	Spec      tree.Tree
}

//go:embed objects.json
var objects []byte

// FlowSchemas returns the FlowSchemas that the server maintains, in a shared slice. Their order is
// irrelevant, because matching uses their precedence.
func FlowSchemas(n *meta.Naming) []Object { return objectsOf("FlowSchema", n) }

// PriorityLevels returns the priority levels that the server maintains, in a shared slice.
func PriorityLevels() []Object { return objectsOf("PriorityLevelConfiguration", meta.Platform) }

type objectsKey struct {
	kind   string
	naming *meta.Naming
}

var decodedObjects sync.Map

func objectsOf(kind string, n *meta.Naming) []Object {
	decode, _ := decodedObjects.LoadOrStore(objectsKey{kind, n}, sync.OnceValue(func() []Object { return decodeObjects(kind, n) }))
	return decode.(func() []Object)()
}

func decodeObjects(kind string, n *meta.Naming) (all []Object) {
	table, err := tree.Decode(objects)
	if err != nil {
		panic(err)
	}
	for _, o := range translated(table, n).(tree.Tree).Objects(kind) {
		all = append(all, Object{o.String("name"), o.Bool("mandatory"), o.Object("spec")})
	}
	return all
}

// translated translates all strings in v in place and returns v.
func translated(v any, n *meta.Naming) any {
	switch v := v.(type) {
	case string:
		return n.Translate(v)
	case []any:
		for i, item := range v {
			v[i] = translated(item, n)
		}
	case tree.Tree:
		for field, value := range v {
			v[field] = translated(value, n)
		}
	}
	return v
}
