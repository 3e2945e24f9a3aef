package crd

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/regex"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A definedSchema is the schema of one version of a CRD. It is compiled on demand from the CRD's
// stored JSON, and the compiled form may be evicted when idle (schemaCache).
type definedSchema struct {
	compiler *Compiler
	id       *meta.SchemaID
	source   atomic.Pointer[source]

	compiled  atomic.Pointer[compiledSchema]
	compiling sync.Mutex
	asked     atomic.Bool // since the cache last examined it
	released  bool        // guarded by the cache's mutex; a released schema is not cached again
}

type source struct {
	text []byte
	tree tree.Tree
}

type compiledSchema struct {
	message *schema.Message
	rules   *ruleSet // nil if there are none
	// embedding is the root node if the schema can contain embedded objects, and nil otherwise.
	embedding *node
}

// schemaText is the JSON of a schema, which shares the memory of its CRD. An outline contains it in
// place of the decoded schema.
type schemaText []byte

func (c *Compiler) newSchema(of any) *definedSchema {
	s := &definedSchema{compiler: c, id: meta.NewSchemaID()}
	s.setSource(of)
	return s
}

func (s *definedSchema) setSource(of any) {
	switch of := of.(type) {
	case schemaText:
		s.source.Store(&source{text: of})
	case tree.Tree:
		s.source.Store(&source{tree: of})
	default:
		s.source.Store(&source{})
	}
}

func (s *definedSchema) ID() *meta.SchemaID { return s.id }

func (s *definedSchema) Message() *schema.Message { return s.load().message }

// Tree decodes the schema. It cannot fail, because stored schemas are valid.
func (s *definedSchema) Tree() tree.Tree {
	from := s.source.Load()
	if from.text == nil {
		return from.tree
	}
	t, err := codec.DecodeStored(s.compiler.schemaProps.Message(), from.text)
	if err != nil {
		return nil
	}
	return t
}

func (s *definedSchema) declaresRules() bool {
	from := s.source.Load()
	return from.tree != nil || bytes.Contains(from.text, s.compiler.validations)
}

// load returns the compiled schema, usually with two atomic loads. The first caller compiles it
// while others wait.
func (s *definedSchema) load() *compiledSchema {
	if c := s.compiled.Load(); c != nil {
		if !s.asked.Load() { // written only if it changes, because all processors share it
			s.asked.Store(true)
		}
		return c
	}
	s.compiling.Lock()
	defer s.compiling.Unlock()
	if c := s.compiled.Load(); c != nil {
		return c
	}
	c, size := s.compile()
	s.asked.Store(false) // until the next call
	s.compiled.Store(c)
	s.compiler.schemas.add(s, size)
	return c
}

// compile compiles the schema and returns its estimated memory in bytes. The estimate includes the
// JSON, because names and values share its memory. If an old CRD has no schema, compile keeps all
// fields, because pruning would lose data.
func (s *definedSchema) compile() (c *compiledSchema, size int) {
	text := s.Tree()
	root := s.compiler.extensions.compile(text)
	if len(text) == 0 {
		root.preserveUnknown = true
	}
	c = &compiledSchema{message: s.compiler.rootMessage(s.id, root, text)}
	if root.hasEmbedded {
		c.embedding = root
	}
	if root.hasRules {
		c.rules = &ruleSet{naming: s.compiler.naming, root: root}
	}
	return c, len(s.source.Load().text) + root.memory()
}

func (c *Compiler) rootMessage(id *meta.SchemaID, n *node, text tree.Tree) *schema.Message {
	fields := []*schema.Field{{Name: "metadata", Type: schema.TypeMessage, Message: c.objectMeta, EmitEmpty: true}}
	p := planner{c.embeddedMeta}
	for _, name := range n.names {
		if !schema.IsResourceField(name) {
			fields = append(fields, p.field(n.properties[name], name))
		}
	}
	m := schema.NewMessage("", fields...)
	m.HasTypeMeta = true
	m.Doc = text.String("description")
	m.Additional = p.additional(n, true)
	m.Values = n.rootValues()
	m.Custom = &schema.Custom{
		SchemaID:    id,
		Prune:       func(t tree.Tree) (tree.Tree, []string) { return rules.Prune(m.Values, t) },
		PruneConfig: func(t tree.Tree) (tree.Tree, []string) { return rules.PruneConfig(m.Values, t) },
	}
	if n.hasEmbedded {
		m.Custom.Coerce = func(t tree.Tree, dropMalformed bool) (tree.Tree, []string, error) {
			by := coercer{metadata: c.objectMeta, dropMalformed: dropMalformed}
			t, _ = by.value(n, t).(tree.Tree)
			return t, by.unknown, by.err()
		}
	}
	return m
}

// Measured memory in bytes. nodeMemory includes a node's field and value plan, and ruleMemory a
// rule's programs and a share of their environment. patternMemory is per unit of
// regex.Expansion.
const (
	nodeMemory    = 1600
	ruleMemory    = 24 << 10
	patternMemory = 80
)

func (n *node) memory() int {
	sum := nodeMemory + ruleMemory*len(n.rules) + valueMemory(n.defaultValue) + n.limits.memory()
	// Names count twice, because the checks of whole objects copy them.
	sum += 2 * stringMemory * (len(n.required) + len(n.listKeys))
	for _, p := range n.properties {
		sum += p.memory()
	}
	for _, p := range []*node{n.additional, n.items, n.not} {
		if p != nil {
			sum += p.memory()
		}
	}
	for _, list := range [][]*node{n.allOf, n.anyOf, n.oneOf} {
		for _, p := range list {
			sum += p.memory()
		}
	}
	return sum
}

// memory estimates the memory of variable-size limits, including the strings that newEnum derives
// from enum values.
func (l *limits) memory() (sum int) {
	if len(l.enum) > 0 {
		sum = valueMemory(l.enum)
	}
	for _, v := range l.enum {
		sum += stringMemory + enumMemory
		if _, shared := v.(string); !shared {
			sum += 8 + 2*jsonSize(v)
		}
	}
	if l.pattern != nil {
		sum += patternMemory * int(regex.Expansion(l.pattern.String()))
	}
	return sum
}

// Memory of values in bytes. A string counts only with its header, because it shares the memory of
// the CRD. A list element includes its share of spare capacity.
const (
	stringMemory   = 16
	enumMemory     = 40 // bytes per enum value in the set
	elementMemory  = 24
	mapMemory      = 48
	mapGroupMemory = 288
)

// valueMemory returns the estimated memory of a value. The entries of a large map count twice,
// because maps grow by doubling.
func valueMemory(v any) (sum int) {
	switch v := v.(type) {
	case tree.Tree:
		sum = mapMemory
		if groups := (len(v) + 7) / 8; groups > 1 {
			sum += 2 * groups * mapGroupMemory
		} else {
			sum += groups * mapGroupMemory
		}
		for _, item := range v {
			sum += valueMemory(item)
		}
	case []any:
		sum = elementMemory * (1 + len(v))
		for _, item := range v {
			sum += valueMemory(item)
		}
	case nil:
	default:
		sum = stringMemory
	}
	return sum
}

// DefaultSchemaMemory is the default limit on the estimated memory of compiled schemas, in bytes.
const DefaultSchemaMemory = 64 << 20

// A schemaCache caches compiled schemas up to an estimated memory limit, in bytes.
type schemaCache struct {
	mu    sync.Mutex
	limit int
	size  int
	// held lists the compiled schemas in eviction order.
	held []heldSchema
}

type heldSchema struct {
	schema *definedSchema
	size   int
}

func (c *schemaCache) add(s *definedSchema, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.released {
		return
	}
	c.held = append(c.held, heldSchema{s, size})
	c.size += size
	c.trim()
}

// trim evicts the oldest schemas until the size is within the limit. Schemas used since the last
// check get a second chance. It always keeps the last schema.
func (c *schemaCache) trim() {
	for c.size > c.limit && len(c.held) > 1 {
		first := c.held[0]
		c.held = slices.Delete(c.held, 0, 1)
		if first.schema.asked.Swap(false) {
			c.held = append(c.held, first)
			continue
		}
		c.size -= first.size
		first.schema.compiled.Store(nil)
	}
}

// release evicts a schema and never caches it again. While still in use, it is compiled each time.
func (c *schemaCache) release(s *definedSchema) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.released = true
	if i := slices.IndexFunc(c.held, func(h heldSchema) bool { return h.schema == s }); i >= 0 {
		c.size -= c.held[i].size
		c.held = slices.Delete(c.held, i, i+1)
	}
	s.compiled.Store(nil)
}

var _ schema.Schema = (*definedSchema)(nil)
