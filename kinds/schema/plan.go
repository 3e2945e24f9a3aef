package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	options "github.com/troupe-api/troupe/kinds/api"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A Plan contains all declarations. Messages are compiled on first use, because most servers use
// few of them and compiling all would dominate the startup time.
type Plan struct {
	Kinds        []*Kind                 // in declaration order
	Declarations map[string]*Declaration // by full name, as in "core.v1.PodSpec"
	Variables    []string                // variables of all rules
	// Complete, if not nil, is called with compiled messages before their first use. It must not
	// use any other message of the plan.
	Complete func(messages []*Message) error

	naming *meta.Naming
	mu     sync.Mutex // guards the fields below and those of declarations
	// nestedForms maps messages with type meta to their form within other messages.
	nestedForms map[*Message]*Message
	read        []*Declaration // declarations with a source
	err         error          // error of the first message that did not compile
}

// Load reads declarations in the format of declarations.binpb, with the names of naming profile n.
// The plan refers to the memory of encoded.
func Load(encoded []byte, n *meta.Naming) (*Plan, error) {
	all, index, size := &options.Declarations{}, []byte(nil), 0
	if index, size = protowire.ConsumeBytes(encoded); size < 0 {
		return nil, fmt.Errorf("declarations: %w", protowire.ParseError(size))
	}
	if err := proto.Unmarshal(index, all); err != nil {
		return nil, fmt.Errorf("declarations: %w", err)
	}
	p := &Plan{Variables: all.Variables, Declarations: make(map[string]*Declaration, len(all.Messages)), naming: n, nestedForms: map[*Message]*Message{}}
	sources := encoded[size:]
	l := linker{byKind: map[meta.GroupVersionKind]*Kind{}, sharing: map[meta.GroupResource][]*Kind{}, marked: map[*Kind]bool{}}
	for _, m := range all.Messages {
		d := &Declaration{Name: m.Name, plan: p, encoded: sources[:m.SourceSize], isKind: m.Kind != nil}
		sources = sources[m.SourceSize:]
		p.Declarations[d.Name] = d
		if m.Kind == nil {
			continue
		}
		k, err := newKind(d, m.Kind, n)
		if err != nil {
			l.faults = append(l.faults, err)
			continue
		}
		k.SameAs = m.SameAs
		l.marked[k] = m.Kind.StorageVersion
		p.Kinds = append(p.Kinds, k)
	}
	l.link(p.Kinds)
	return p, errors.Join(l.faults...)
}

// Messages compiles all messages and returns those that describe objects, by name. Unlike
// Kind.Message, it checks that each option fits its field and that the paths of kinds exist. The
// error joins all faults, each with its message and field.
func (p *Plan) Messages() (map[string]*Message, error) {
	all, c := map[string]*Message{}, checker{}
	for name, d := range p.Declarations {
		m, err := d.compile()
		if err != nil {
			return nil, err
		}
		if m != nil && !d.union {
			all[name] = m
			c.checkMessage(m)
		}
	}
	for _, k := range p.Kinds {
		c.checkKind(k)
	}
	slices.SortFunc(c.faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return all, errors.Join(c.faults...)
}

// A Declaration is a declared message. It is compiled on first use, together with all messages that
// it refers to.
type Declaration struct {
	Name string // as in "core.v1.PodSpec"

	plan     *Plan
	encoded  []byte // encoded options.Source
	isKind   bool
	compiled atomic.Pointer[Message]

	source  *options.Source // during a compilation
	message *Message        // may not be compiled yet; nil for scalars
	scalar  Type            // type of a scalar
	union   bool
}

// DeclarationOf returns the Declaration of a compiled message.
func DeclarationOf(m *Message) *Declaration {
	d := &Declaration{Name: m.Name}
	d.compiled.Store(m)
	return d
}

// Message returns the compiled message, or nil for a nil Declaration. It panics if the message does
// not compile, so the generator compiles all messages.
func (d *Declaration) Message() *Message {
	if d == nil {
		return nil
	}
	if m := d.compiled.Load(); m != nil {
		return m
	}
	m, err := d.compile()
	if err != nil {
		panic(fmt.Sprintf("schema: %v", err))
	}
	return m
}

func (d *Declaration) compile() (*Message, error) {
	p := d.plan
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil && d.compiled.Load() == nil {
		p.err = p.compile(d)
	}
	return d.message, p.err
}

// descriptor returns the declaration, decoded but not compiled.
func (d *Declaration) descriptor() *descriptorpb.DescriptorProto {
	if d.source == nil {
		d.plan.read = append(d.plan.read, d)
		d.source = &options.Source{}
		if err := proto.Unmarshal(d.encoded, d.source); err != nil {
			panic(fmt.Sprintf("schema: %s: %v", d.Name, err)) // the program is corrupt
		}
	}
	return d.source.Message
}
