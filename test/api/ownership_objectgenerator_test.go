package api

import (
	"fmt"
	"math/rand"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ObjectGenerator generates random objects of a kind. It chooses from few values, so that applied
// values often conflict. It generates no zero values, because the Go types in k8s.io/api omit
// them and kube-apiserver then treats an applied zero value as a change.
type ObjectGenerator struct {
	*rand.Rand
	// Always contains the fields that at least one version of the kind never omits. The generator
	// sets them wherever possible, because converting the Go types would add them even if an apply
	// omits them. If Always is set, messages are never empty. For example, an empty spec.behavior
	// of a HorizontalPodAutoscaler would not survive a conversion to v1.
	Always map[string]bool
	// Twice permits duplicate items in keyed lists.
	Twice bool
	// Nulls permits null fields and map entries, which are valid only in apply configurations.
	Nulls bool
	// inAtomicList is set within the items of an atomic list. There, kube-apiserver treats a
	// never-omitted field as changed unless the configuration sets it.
	inAtomicList bool
}

// Object returns an object of kind k. It includes each field with probability density.
func (r ObjectGenerator) Object(k *schema.Kind, density float64) tree.Tree {
	t := r.message(k.Message(), density, 0)
	metadata := tree.Tree{"name": "a"}
	if r.Intn(2) == 0 {
		metadata["labels"] = tree.Tree{r.word(): r.word()}
	}
	if r.Intn(3) == 0 {
		metadata["finalizers"] = []any{"f/" + r.word()}
	}
	if r.Intn(3) == 0 {
		metadata["ownerReferences"] = []any{tree.Tree{"apiVersion": "v1", "kind": "K", "name": r.word(), "uid": r.word()}}
	}
	t["metadata"] = metadata
	return t
}

func (r ObjectGenerator) word() string { return string(rune('a' + r.Intn(3))) }

func (r ObjectGenerator) message(m *schema.Message, density float64, depth int) tree.Tree {
	t := tree.Tree{}
	for _, f := range m.Fields {
		if depth > 7 || f.Name == "metadata" && depth == 0 || r.Float64() > density && !r.required(f) {
			continue
		}
		if r.Nulls && r.Intn(6) == 0 {
			t[f.Name] = nil
		} else if v := r.value(f, density, depth); v != nil {
			t[f.Name] = v
		}
	}
	return t
}

func (r ObjectGenerator) required(f *schema.Field) bool {
	return r.Always[f.Name] || f.EmitEmpty && (r.inAtomicList || f.Type != schema.TypeMessage && f.Shape == schema.Single)
}

func (r ObjectGenerator) value(f *schema.Field, density float64, depth int) any {
	switch f.Shape {
	case schema.Map:
		t := tree.Tree{}
		for range 1 + r.Intn(2) {
			if r.Nulls && f.Type != schema.TypeTime && r.Intn(6) == 0 { // the public server keeps null times
				t[r.word()] = nil
			} else if v := r.single(f, density, depth); v != nil {
				t[r.word()] = v
			}
		}
		return t
	case schema.List:
		return r.list(f, density, depth)
	}
	return r.single(f, density, depth)
}

func (r ObjectGenerator) list(f *schema.Field, density float64, depth int) any {
	var list []any
	seen := map[string]bool{}
	r.inAtomicList = r.inAtomicList || f.ListType == schema.ListAtomic
	for range 1 + r.Intn(3) {
		v := r.single(f, density, depth)
		if v == nil {
			continue
		}
		id := fmt.Sprint(v)
		if f.ListType == schema.ListMap {
			id = ""
			item := v.(tree.Tree)
			for _, key := range f.ListMapKeys {
				if item[key] == nil {
					item[key] = r.single(f.Message.Field(key), 1, depth)
				}
				id += fmt.Sprint(item[key], "/")
			}
		}
		if f.ListType != schema.ListAtomic && seen[id] && !(r.Twice && f.ListType == schema.ListMap) {
			continue
		}
		seen[id] = true
		list = append(list, v)
		if r.Always != nil && f.ListType == schema.ListAtomic && f.Type == schema.TypeMessage {
			break // the list may be keyed in other versions
		}
	}
	if list == nil {
		return nil
	}
	return list
}

func (r ObjectGenerator) single(f *schema.Field, density float64, depth int) any {
	switch f.Type {
	case schema.TypeString:
		return r.word()
	case schema.TypeBool:
		return true
	case schema.TypeInt32, schema.TypeInt64:
		return int64(1 + r.Intn(3))
	case schema.TypeDouble:
		return 1.5
	case schema.TypeBytes:
		return "YQ=="
	case schema.TypeMessage:
		t := r.message(f.Message, density*0.8, depth+1)
		if (f.MapAtomic || r.Always != nil) && len(t) == 0 {
			return nil
		}
		return t
	case schema.TypeTime:
		return fmt.Sprintf("2030-01-0%dT00:00:00Z", 1+r.Intn(3))
	case schema.TypeMicroTime:
		return fmt.Sprintf("2030-01-0%dT00:00:00.000000Z", 1+r.Intn(3))
	case schema.TypeQuantity:
		return fmt.Sprint(1 + r.Intn(3))
	case schema.TypeIntOrString:
		return int64(1 + r.Intn(3))
	case schema.TypeDuration:
		return "1s"
	case schema.TypeStrings:
		return []any{r.word()}
	case schema.TypeRaw:
		return tree.Tree{r.word(): tree.Tree{r.word(): r.word()}}
	}
	return nil
}
