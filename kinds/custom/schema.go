package custom

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

// A definedSchema is the schema of one version of a definition. It implements schema.Schema.
//
// At rest it is a part of the text of its definition, which the store keeps anyway. It is compiled when somebody works
// on an object of the version, and what that gave is dropped when it is idle and others need the place (schemaCache).
type definedSchema struct {
	compiler *Compiler
	id       *meta.SchemaID
	source   atomic.Pointer[source]

	compiled  atomic.Pointer[compiledSchema]
	compiling sync.Mutex
	asked     atomic.Bool // since the cache has looked at it last
	released  bool        // guarded by the mutex of the cache: nothing of it is kept any more
}

// A source is the schema as a definition has it: its text, or a tree.
type source struct {
	text []byte
	tree tree.Tree
}

// A compiledSchema is what a schema compiles to.
type compiledSchema struct {
	message *schema.Message
	rules   *ruleSet // nil: there are none
	// embedding is the root if objects may be embedded in those of the schema; nil if not.
	embedding *node
}

// schemaText is the text of a schema in the place of its tree. It shares the memory of its definition's.
type schemaText []byte

// newSchema is the schema of a version, as a definition has it: a schemaText or a tree.
func (c *Compiler) newSchema(of any) *definedSchema {
	s := &definedSchema{compiler: c, id: meta.NewSchemaID()}
	s.setSource(of)
	return s
}

// setSource replaces the schema by an equal one.
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

// ID implements schema.Schema.
func (s *definedSchema) ID() *meta.SchemaID { return s.id }

// Message implements schema.Schema.
func (s *definedSchema) Message() *schema.Message { return s.load().message }

// Tree implements schema.Schema.
//
// A text was checked when it was stored, and can be decoded.
func (s *definedSchema) Tree() tree.Tree {
	from := s.source.Load()
	if from.text == nil {
		return from.tree
	}
	t, err := codec.DecodeStored(s.compiler.schemaMessage, from.text)
	if err != nil {
		return nil
	}
	return t
}

// declaresRules tells whether there may be rules, without compiling.
func (s *definedSchema) declaresRules() bool {
	from := s.source.Load()
	return from.tree != nil || bytes.Contains(from.text, s.compiler.validations)
}

// load is the compiled schema. Most calls are two atomic loads; the first one compiles, and others wait for it.
func (s *definedSchema) load() *compiledSchema {
	if c := s.compiled.Load(); c != nil {
		if !s.asked.Load() { // written only if it changes, for all processors share it
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
	s.asked.Store(false) // until somebody asks again
	s.compiled.Store(c)
	s.compiler.schemas.add(s, size)
	return c
}

// compile compiles the schema, and says about how many bytes of memory the outcome takes.
//
// A version without a schema keeps everything. It is what an old definition meant, and pruning all of it would lose
// data. The text is counted too: names and values are parts of it, so it stays when the definition gets another.
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

// rootMessage is the message of whole objects.
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
			t, _ = by.value(n, t, "").(tree.Tree)
			return t, by.unknown, by.err()
		}
	}
	return m
}

// What the parts of a compiled schema take, as measured: a node with its field and its value plan; a rule, with
// the programs that it is compiled to and its share of their environment; and a pattern, for each unit of its size.
const (
	nodeMemory    = 1600
	ruleMemory    = 24 << 10
	patternMemory = 80
)

// memory is about how much memory the node takes with all that is compiled from it, beside the text.
func (n *node) memory() int {
	sum := nodeMemory + ruleMemory*len(n.rules) + valueMemory(n.defaultValue) + n.limits.memory()
	sum += 2 * stringMemory * (len(n.required) + len(n.listKeys)) // copied where whole objects are checked
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

// memory is about how much memory limits take beside those of fixed size.
//
// The texts of an enum are made of its values for the faults (newEnum).
func (l *limits) memory() (sum int) {
	if len(l.enum) > 0 {
		sum = valueMemory(l.enum)
	}
	for _, v := range l.enum {
		sum += stringMemory
		if _, shared := v.(string); !shared {
			sum += 8 + 2*jsonSize(v)
		}
	}
	if l.pattern != nil {
		sum += patternMemory * int(regex.Expansion(l.pattern.String()))
	}
	return sum
}

// What values take in memory: the header of a text, whose bytes are those of the definition; a place in a list, with
// its share of those that are left free; a map; and each eight of its places.
const (
	stringMemory   = 16
	elementMemory  = 24
	mapMemory      = 48
	mapGroupMemory = 288
)

// valueMemory is about how much memory a decoded value takes. Maps grow by doubling, hence the groups that may be empty.
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

// DefaultSchemaMemory is how much memory compiled schemas take at most, by estimate.
const DefaultSchemaMemory = 64 << 20

// A schemaCache keeps compiled schemas while there is place for them. Each of them counts what it is estimated to take.
type schemaCache struct {
	mu    sync.Mutex
	limit int
	size  int
	// held are the schemas that are compiled, in the order in which they are looked at when one has to go.
	held []heldSchema
}

type heldSchema struct {
	schema *definedSchema
	size   int
}

// add keeps a schema that has been compiled, and makes place for it.
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

// trim drops schemas, the longest there first, until the rest is within the limit. One that somebody has asked for
// since it was looked at, or compiled, is spared once. A single one stays whatever it takes.
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

// release drops a schema for good. Who still works with it may compile it once more, which is then not kept here.
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
