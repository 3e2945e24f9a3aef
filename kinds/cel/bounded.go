package cel

import (
	"math"
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"

	"github.com/troupe-api/troupe/kinds/regex"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Sizer is an Activation that reports the sizes of its variables.
type Sizer interface {
	Activation
	// Size returns the size of a variable, or false if it is unknown.
	Size(variable string) (Size, bool)
}

// A Size measures a value: its longest string in bytes, its longest list or object, and its total
// bytes and elements.
type Size struct{ text, list, all int }

// maxSized is the total size at which SizeOf stops measuring. Costs are counted for larger values.
// For smaller ones, no function takes longer than its cost in kube-apiserver suggests.
const maxSized = ordinary

// SizeOf returns the size of a tree value. It stops measuring once the size exceeds maxSized.
func SizeOf(v any) Size {
	var s Size
	s.add(v)
	return s
}

func (s *Size) add(v any) {
	if s.all++; s.all > maxSized {
		return
	}
	switch v := v.(type) {
	case string:
		s.addText(v)
	case tree.Tree:
		s.list = max(s.list, len(v))
		for name, part := range v {
			s.addText(name)
			s.add(part)
		}
	case []any:
		s.list = max(s.list, len(v))
		for _, part := range v {
			s.add(part)
		}
	}
}

func (s *Size) addText(text string) {
	s.text = max(s.text, len(text))
	s.all += len(text) + 1
}

// Join returns an upper bound on the combined size of s and other.
func (s Size) Join(other Size) Size {
	return Size{max(s.text, other.text), max(s.list, other.list), s.all + other.all}
}

// A form contains the properties of an expression that bound its cost: the number of steps, the
// nesting depth of loops, the largest constants, and the variables. perText is the length of the
// longest regular expression.
type form struct {
	steps, depth int
	constants    Size
	perText      float64
	variables    []string
}

// boundedCalls lists the functions that read each argument at most once and do not allocate. Some
// return a part of an argument.
var boundedCalls = []string{
	operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional,
	operators.NotStrictlyFalse, operators.Equals, operators.NotEquals, operators.Less,
	operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.Index, operators.In,
	overloads.Size, overloads.StartsWith, overloads.EndsWith,
	"quantity", "isQuantity", "isInteger", "asInteger", "sign", "isGreaterThan", "isLessThan", "compareTo",
}

// formOf returns the form of an expression, or false if its cost has no bound and must be counted.
func (c *Checked) formOf() (*form, bool) {
	f := &form{perText: 1}
	checked := c.ast.NativeRep()
	ok := f.add(checked, checked.Expr(), 0, map[string]bool{})
	return f, ok
}

// add adds a subexpression and reports whether its cost can be bounded. bound contains the
// variables of enclosing loops.
func (f *form) add(checked *ast.AST, x ast.Expr, depth int, bound map[string]bool) bool {
	f.steps++
	f.depth = max(f.depth, depth)
	each := func(parts ...ast.Expr) bool {
		for _, part := range parts {
			if !f.add(checked, part, depth, bound) {
				return false
			}
		}
		return true
	}
	switch x.Kind() {
	case ast.LiteralKind:
		switch v := x.AsLiteral().(type) {
		case types.String:
			f.constants = f.constants.Join(SizeOf(string(v)))
		case types.Bytes:
			return false
		}
		return true
	case ast.IdentKind:
		if name := x.AsIdent(); !bound[name] {
			f.variables = append(f.variables, name)
		}
		return true
	case ast.SelectKind:
		return each(x.AsSelect().Operand())
	case ast.ListKind:
		f.constants.list = max(f.constants.list, x.AsList().Size())
		computed := func(element ast.Expr) bool { return element.Kind() != ast.LiteralKind }
		return !slices.ContainsFunc(x.AsList().Elements(), computed) && each(x.AsList().Elements()...)
	case ast.CallKind:
		return f.addCall(checked, x) && (!x.AsCall().IsMemberFunction() || each(x.AsCall().Target())) && each(x.AsCall().Args()...)
	case ast.ComprehensionKind:
		return f.addLoop(checked, x.AsComprehension(), depth, bound)
	}
	return false
}

func (f *form) addCall(checked *ast.AST, x ast.Expr) bool {
	call := x.AsCall()
	switch call.FunctionName() {
	case overloads.Matches:
		pattern := call.Args()[len(call.Args())-1]
		text, ok := pattern.AsLiteral().(types.String)
		if pattern.Kind() != ast.LiteralKind || !ok || regex.Expansion(string(text)) > ordinary {
			return false
		}
		f.perText = max(f.perText, float64(len(text)))
		return true
	case operators.Add: // counts the elements of exists_one; otherwise it makes larger values
		ids := checked.GetOverloadIDs(x.ID())
		return len(ids) == 1 && ids[0] == overloads.AddInt64
	}
	return slices.Contains(boundedCalls, call.FunctionName())
}

// addLoop adds a loop. It treats the range as part of the loop body, which can only raise the
// bound.
func (f *form) addLoop(checked *ast.AST, l ast.ComprehensionExpr, depth int, bound map[string]bool) bool {
	inner := map[string]bool{l.IterVar(): true, l.IterVar2(): true, l.AccuVar(): true}
	for name := range bound {
		inner[name] = true
	}
	for _, part := range []ast.Expr{l.IterRange(), l.AccuInit(), l.LoopCondition(), l.LoopStep(), l.Result()} {
		if !f.add(checked, part, depth+1, inner) {
			return false
		}
	}
	return true
}

// cost returns the maximum cost of an evaluation with variables of size s. It assumes that every
// step runs in each iteration of the deepest loop and costs as much as a list literal. Only object
// literals cost more, and formOf rejects them.
func (f *form) cost(s Size) float64 {
	s = s.Join(f.constants)
	const perStep = 2 * 10
	perCall := float64(1+reading(float64(s.text+1)))*f.perText + float64(s.list)
	return float64(f.steps) * (perStep + perCall) * math.Pow(float64(max(s.list, 1)), float64(f.depth))
}

// bound returns the maximum cost of an evaluation with the given variables, or false if there is
// none.
func (f *form) bound(variables Activation) (cost uint64, known bool) {
	sizer, ok := variables.(Sizer)
	if !ok {
		return 0, false
	}
	var s Size
	for _, name := range f.variables {
		one, ok := sizer.Size(name)
		if !ok {
			return 0, false
		}
		s = s.Join(one)
	}
	if s.all > maxSized {
		return 0, false
	}
	return uint64(min(f.cost(s), maxSize)), true
}
