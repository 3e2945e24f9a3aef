package ownership

import (
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A reading is what a FieldsV1 text says under a plan.
type reading struct {
	text  string
	set   Set  // in line with the plan; empty if the text is none
	news  bool // the plan has changed since the text was written
	exact bool // the text is the form of the set that is kept
}

// read reads a text that has been in an object: who wrote it could read it. plan is nil for a
// version that is no more.
func read(text string, plan *schema.Message) reading {
	if len(text) > longText {
		return readAnew(text, plan)
	}
	r, ok := readings.get(source{text, plan})
	if !ok {
		r = readAnew(strings.Clone(text), plan) // a copy keeps nothing else alive
		readings.add(r, plan)
	}
	return r
}

func readAnew(text string, plan *schema.Message) reading {
	s, _ := Parse(text)
	r := reading{text: text, set: s}
	if plan != nil {
		r.set = Reconciled(plan, s)
		r.news = !identical(r.set, s)
	}
	r.exact = string(r.set.AppendJSON(nil)) == text
	return r
}

// Texts up to longText bytes are remembered, about memorySize bytes of them.
const (
	longText   = 8 << 10
	memorySize = 256 << 10
)

// readings are those of late: most objects share their texts with many others.
var readings memory

// A memory holds readings by what was read. When the new ones are many, they become the old
// ones, and what was old then is forgotten.
type memory struct {
	mu       sync.Mutex // of all fields
	now, old map[source]reading
	size     int // of the texts of now, in bytes
}

type source struct {
	text string
	plan *schema.Message
}

func (m *memory) get(at source) (reading, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.now[at]
	if !ok {
		if r, ok = m.old[at]; ok {
			m.put(r, at.plan)
		}
	}
	return r, ok
}

func (m *memory) add(r reading, plan *schema.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(r, plan)
}

func (m *memory) put(r reading, plan *schema.Message) {
	if m.now == nil || m.size+len(r.text) > memorySize/2 {
		m.now, m.old, m.size = map[source]reading{}, m.now, 0
	}
	m.now[source{r.text, plan}] = r
	m.size += len(r.text)
}
