package managedfields

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestEncodeFieldsMatchesSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		m := plan()
		randomizeEmitEmpty(random, m, map[*schema.Message]bool{})
		object := randomObject(random, m)
		s := [...]excludedFields{{}, {status: true}, {onlyField: "status"}}[round%3]
		if got, want := encodeFields(m, object, s, false), fields(m, object, s).text(); got != want {
			t.Fatalf("the fields of %s are\n%s, want\n%s", codec.AppendAny(nil, object), got, want)
		}
		c := comparer{excluded: s, asEncoded: true}
		if got, want := encodeFields(m, object, s, true), c.compare(m, tree.Tree{}, object).changed.text(); got != want {
			t.Fatalf("what %s brings is\n%s, want\n%s", codec.AppendAny(nil, object), got, want)
		}
	}
}

func randomizeEmitEmpty(random *rand.Rand, m *schema.Message, seen map[*schema.Message]bool) {
	if seen[m] {
		return
	}
	seen[m] = true
	for _, f := range m.Fields {
		f.EmitEmpty, f.Pointer = random.IntN(3) == 0, random.IntN(3) == 0
		if f.Message != nil {
			randomizeEmitEmpty(random, f.Message, seen)
		}
	}
}

func randomObject(random *rand.Rand, m *schema.Message) tree.Tree {
	t := tree.Tree{}
	for _, f := range m.Fields {
		if random.IntN(2) == 0 {
			continue
		}
		switch f.Shape {
		case schema.Single:
			t[f.Name] = randomValue(random, f)
		case schema.List:
			list := make([]any, random.IntN(4))
			for i := range list {
				list[i] = randomValue(random, f)
			}
			t[f.Name] = list
		case schema.Map:
			table := tree.Tree{}
			for range random.IntN(4) {
				table[randomString(random)] = randomValue(random, f)
			}
			t[f.Name] = table
		}
	}
	return t
}

func randomValue(random *rand.Rand, f *schema.Field) any {
	switch {
	case random.IntN(40) == 0:
		return nil
	case f.Type == schema.TypeMessage && random.IntN(5) > 0:
		return randomObject(random, f.Message)
	case f.Type == schema.TypeMessage:
		return tree.Tree{}
	case f.Type == schema.TypeInt64:
		return int64(random.IntN(2))
	}
	return randomString(random)
}

func randomString(random *rand.Rand) string {
	return [...]string{"", "a", "b", `"<q>"`, "é/\n", strconv.Itoa(random.IntN(20))}[random.IntN(6)]
}
