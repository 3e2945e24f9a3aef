package rules

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A ruleSet is a schema.Check for a list of declared rules. The rules are compiled on first use,
// because compiling all of them would take a tenth of the CPU time at startup.
type ruleSet struct {
	compiler *RuleCompiler
	uses     map[string]*ruleSet // rule sets for messages that these rules use
	declared []*schema.Rule      // nil in nested sets
	self     *schema.Message     // type of the current object

	once  sync.Once
	rules []rule
}

func (s *ruleSet) compiled() []rule {
	if s.declared != nil {
		s.once.Do(func() { s.rules = s.compiler.compileLater(s) })
	}
	return s.rules
}

type rule struct {
	*schema.Rule
	cond, value, part expr
	at, path, detail  template
	check             func(string) []string
	as, let           int // variable numbers; 0 for none
	reports           bool
	always            bool // treat an absent part as an empty object
	indexed           bool // append the index or key of the element to paths
	rules, uses       *ruleSet
	call              schema.CheckFunc
}

// Compile compiles the rules immediately, for tests.
func (s *ruleSet) Compile() { s.compiled() }

type run struct {
	schema.Evaluation
	vars []any
	base string // the path of the whole object
}

var runs = sync.Pool{New: func() any { return &run{} }}

func (s *ruleSet) Run(obj, old tree.Tree, path string, faults *schema.Faults) {
	r := runs.Get().(*run)
	r.Start(path, faults)
	r.base = path
	rules := s.compiled()
	n := int(s.compiler.size.Load())
	r.vars = slices.Grow(r.vars[:0], n)[:n]
	r.vars[varSelf], r.vars[varObject] = obj, obj
	if old != nil {
		r.vars[varOld] = old
	}
	runAll(r, rules)
	clear(r.vars)
	r.Start("", nil)
	runs.Put(r)
}

func (s *ruleSet) run(r *run) {
	if s == nil {
		return
	}
	rules := s.compiled()
	if n := int(s.compiler.size.Load()) - len(r.vars); n > 0 { // compiled during this run
		r.vars = append(r.vars, make([]any, n)...)
	}
	runAll(r, rules)
}

func runAll(r *run, rules []rule) {
	for i := range rules {
		if q := &rules[i]; q.run(r) && q.Stop {
			return
		}
	}
}

// run evaluates the rule and reports whether it applied. A rule with a check applies only if the
// check reports an error.
func (q *rule) run(r *run) bool {
	if q.cond != nil && q.cond(r) != true {
		return false
	}
	switch {
	case q.reports:
		return q.report(r)
	case q.call != nil:
		q.call(q.value(r), q.pathOf(r), r.Faults)
	case q.let > 0:
		r.vars[q.let] = q.value(r)
	case q.Each != "":
		q.loop(r)
	case q.In != "":
		if t, ok := q.part(r).(tree.Tree); ok || q.always {
			q.within(r, t, r.EnterPath(q.path.of(r)))
		}
	default:
		q.inside(r)
	}
	return true
}

// inside runs the nested rules for the current object. If First is set, it stops at the first rule
// that applies.
func (q *rule) inside(r *run) {
	q.uses.run(r)
	if q.rules == nil || !q.First {
		q.rules.run(r)
		return
	}
	for i := range q.rules.rules {
		if q.rules.rules[i].run(r) {
			return
		}
	}
}

func (q *rule) within(r *run, part any, back int) {
	before := r.vars[q.as]
	r.vars[q.as] = part
	q.inside(r)
	r.vars[q.as] = before
	r.Leave(back)
}

func (q *rule) loop(r *run) {
	index, key := r.vars[varIndex], r.vars[varKey]
	switch v := q.part(r).(type) {
	case []any:
		for i, item := range v {
			r.vars[varIndex] = int64(i)
			back := r.EnterPath(q.path.of(r))
			if q.indexed {
				r.EnterItem(i)
			}
			q.within(r, item, back)
		}
	case tree.Tree:
		for _, name := range v.SortedKeys() {
			r.vars[varKey] = name
			back := r.EnterPath(q.path.of(r))
			if q.indexed {
				r.EnterKey(name)
			}
			q.within(r, v[name], back)
		}
	}
	r.vars[varIndex], r.vars[varKey] = index, key
}

func (q *rule) report(r *run) bool {
	var v any
	if q.value != nil {
		v = q.value(r)
	}
	switch f := r.Faults; {
	case q.Required != nil && tree.IsEmpty(v):
		f.Required(q.pathOf(r), q.detail.of(r))
	case q.Supported != nil:
		if slices.Contains(q.Supported, text(v)) {
			return false
		}
		f.NotSupported(q.pathOf(r), v, q.Supported)
	case q.check != nil:
		messages := q.check(text(v))
		for _, msg := range messages {
			f.Invalid(q.pathOf(r), v, msg)
		}
		return len(messages) > 0
	case q.Required != nil:
		return false
	case q.Invalid != "":
		f.Invalid(q.pathOf(r), v, q.detail.of(r))
	case q.Forbidden != nil:
		f.Forbidden(q.pathOf(r), q.detail.of(r))
	case q.Duplicate:
		f.Duplicate(q.pathOf(r), v)
	case q.NotFound != nil:
		f.NotFound(q.pathOf(r), v, q.detail.of(r))
	case q.TooLong > 0:
		f.TooLong(q.pathOf(r), int(q.TooLong))
	case q.TooMany > 0:
		f.TooMany(q.pathOf(r), size(v), int(q.TooMany))
	case q.OmitValue != "":
		f.InvalidOmitValue(q.pathOf(r), q.detail.of(r))
	case q.Warn != "":
		f.Warn(q.pathOf(r), q.detail.of(r))
	}
	return true
}

// pathOf returns the path of the error. A leading slash makes it relative to the whole object.
func (q *rule) pathOf(r *run) string {
	at := q.at.of(r)
	if below, ok := strings.CutPrefix(at, "/"); ok {
		return tree.FieldPath(r.base, below)
	}
	back := r.EnterPath(at)
	defer r.Leave(back)
	return r.Path()
}

type template struct {
	text  string // without expressions
	parts []expr
}

func (t *template) of(r *run) string {
	if t.parts == nil {
		return t.text
	}
	var b strings.Builder
	for _, e := range t.parts {
		fmt.Fprint(&b, e(r))
	}
	return b.String()
}

// A RuleCompiler compiles the declared rules of messages. All rules share one set of variables.
type RuleCompiler struct {
	calls   map[string]schema.CheckFunc
	enabled []string     // features and the naming profile
	size    atomic.Int64 // number of variables

	mu             sync.Mutex          // guards the fields below
	validate, warn map[string]*ruleSet // by message
	uses           map[string]*ruleSet // validate or warn, during compilation
	vars           map[string]int
	self           *schema.Message // type of the current object; nil if unknown
	errs           []error
}

// NewRuleCompiler returns a compiler for rules that can call the functions in calls. It adds this
// package's functions to calls, and the caller may add others before the first rule runs. variables
// lists the variables of all rules, because a rule can read those set by another message's rules.
// enabled lists enabled features and the naming profile.
func NewRuleCompiler(calls map[string]schema.CheckFunc, variables []string, enabled ...string) *RuleCompiler {
	calls["domainPath"], calls["fullDomain"] = checkDomain(DomainPath), checkDomain(FullDomain)
	calls["annotations"] = schema.ObjectCheck(ValidateAnnotations)
	c := &RuleCompiler{calls: calls, enabled: enabled, validate: map[string]*ruleSet{}, warn: map[string]*ruleSet{},
		vars: map[string]int{"self": varSelf, "object": varObject, "old": varOld, "i": varIndex, "key": varKey}}
	for _, name := range variables {
		c.vars[name] = len(c.vars)
	}
	return c
}

// Add sets the checks of messages from their declared rules. A rule may refer to another message
// that was added before. It then runs the validation rules of that message or, in a warning, its
// warning rules. A rule that does not compile panics on first use, so TestRulesCompile in kinds/api
// compiles all rules.
func (c *RuleCompiler) Add(messages []*schema.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range messages {
		r := m.Rules
		if r == nil {
			r = &schema.Rules{}
		}
		set := func(declared []*schema.Rule, uses map[string]*ruleSet, check *schema.Check) *ruleSet {
			s := &ruleSet{compiler: c, uses: uses, declared: declared, self: m}
			if len(declared) > 0 {
				*check = s
			}
			return s
		}
		c.validate[m.Name] = set(r.Validate, c.validate, &r.Checks.Validate)
		c.warn[m.Name] = set(r.Warnings, c.warn, &r.Checks.Warnings)
		set(r.Update, c.validate, &r.Checks.Update)
		set(r.Write, c.validate, &r.Checks.Write)
		set(r.Status, c.validate, &r.Checks.Status)
		set(r.StatusWarnings, c.warn, &r.Checks.StatusWarnings)
	}
}

func (c *RuleCompiler) compileLater(s *ruleSet) []rule {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.self, c.uses = s.self, s.uses
	compiled := c.compile(s.declared)
	c.size.Store(int64(len(c.vars)))
	if err := errors.Join(c.errs...); err != nil {
		panic(fmt.Sprintf("rules: %v", err))
	}
	return compiled.rules
}

func (c *RuleCompiler) compile(declared []*schema.Rule) *ruleSet {
	if len(declared) == 0 {
		return nil
	}
	s := &ruleSet{compiler: c, rules: make([]rule, len(declared))}
	for i, r := range declared {
		s.rules[i] = c.rule(r)
	}
	return s
}

// plainPath matches a path of fields of the current object or of a variable.
var plainPath = regexp.MustCompile(`^([A-Za-z_]\w*\.)?([A-Za-z_]\w*(\.[A-Za-z_]\w*)*)$`)

func (c *RuleCompiler) rule(d *schema.Rule) rule {
	q := rule{Rule: d, cond: c.parse(d.If), value: c.parse(d.Value), at: c.template(d.At)}
	q.part = c.parse(d.In + d.Each)
	if d.As != "" {
		q.as = c.slot(d.As)
	}
	if d.Let != "" {
		q.let = c.slot(d.Let)
	}
	if d.Path != nil {
		q.path = c.template(*d.Path)
	} else if m := plainPath.FindStringSubmatch(d.In + d.Each); m != nil && m[1] != "" {
		q.path, q.indexed = c.template(m[2]), true
	}
	q.detail = c.template(d.Invalid + d.GetForbidden() + d.OmitValue + d.Warn + d.GetRequired() + d.GetNotFound())
	q.reports = d.Required != nil || d.Forbidden != nil || d.NotFound != nil || d.Supported != nil || d.Duplicate || d.TooLong+d.TooMany > 0 ||
		d.Invalid+d.OmitValue+d.Warn+d.Format != ""
	switch {
	case !q.reports && d.Call == "" || d.Value != "":
	case d.At == "":
		q.value = c.parse("self")
	case plainPath.MatchString(d.At):
		q.value = zeroed(c.parse("self."+d.At), fieldAt(c.self, d.At))
	}
	if d.Format != "" {
		var err error
		if q.check, err = FindFormat(d.Format); err != nil {
			c.errs = append(c.errs, err)
		}
	}
	if d.Use != "" && c.uses[d.Use] == nil || d.Call != "" && c.calls[d.Call] == nil {
		c.errs = append(c.errs, fmt.Errorf("unknown message %q or function %q", d.Use, d.Call))
	}
	outer := c.self
	if below, isField := strings.CutPrefix(d.In+d.Each, "self."); d.As == "" && d.In+d.Each != "" {
		c.self = nil
		if f := fieldAt(outer, below); isField && f != nil {
			c.self, q.always = f.Message, isAlwaysThere(f)
		}
	}
	q.uses, q.call, q.rules = c.uses[d.Use], c.calls[d.Call], c.compile(d.Rules)
	c.self = outer
	return q
}

func fieldAt(m *schema.Message, path string) *schema.Field {
	if m == nil {
		return nil
	}
	return m.Lookup(path)
}

// zeroed returns an expression for the value in error messages. An absent string, number or bool
// appears as its zero value, but lists and maps remain absent.
func zeroed(e expr, f *schema.Field) expr {
	if f == nil || f.Shape != schema.Single {
		return e
	}
	var zero any
	switch f.Type {
	case schema.TypeString, schema.TypeQuantity, schema.TypeTime:
		zero = ""
	case schema.TypeInt32, schema.TypeInt64:
		zero = int64(0)
	case schema.TypeBool:
		zero = false
	}
	return func(r *run) any {
		if v := e(r); v != nil {
			return v
		}
		return zero
	}
}

func (c *RuleCompiler) slot(name string) int {
	if _, known := c.vars[name]; !known {
		c.vars[name] = len(c.vars)
	}
	return c.vars[name]
}

func (c *RuleCompiler) template(s string) (t template) {
	if !strings.Contains(s, "{") {
		return template{text: s}
	}
	for s != "" {
		before, rest, _ := strings.Cut(s, "{")
		t.parts = append(t.parts, constant(before))
		if rest != "" {
			var text string
			text, s, _ = strings.Cut(rest, "}")
			t.parts = append(t.parts, c.parse(text))
		} else {
			s = ""
		}
	}
	return t
}
