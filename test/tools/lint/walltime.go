package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
	"time"

	"golang.org/x/tools/go/analysis"
)

// walltime reports code that makes a test's result depend on the machine's speed: time.Sleep, upper
// bounds on measured time, and time.After below a minute. Code that runs only in testing/synctest
// bubbles is exempt.
var walltime = &analysis.Analyzer{
	Name: "walltime",
	Doc: `report tests that depend on the speed of the machine

Wait for an event with a watchdog of minutes, or use testing/synctest or the injected clock. Where a
test has to use the time, a comment in the line above gives the reason:

	//lint:ignore walltime REASON`,
	Run: reportWallTime,
}

// shortest is the minimum duration of a watchdog. Shorter timers and deadlines are reported.
const shortest = time.Minute

const testModule = "github.com/troupe-api/troupe/test"

func reportWallTime(pass *analysis.Pass) (any, error) {
	inTests := pass.Pkg.Name() != "main" && strings.HasPrefix(pass.Pkg.Path(), testModule+"/")
	var files []*ast.File
	for _, f := range pass.Files {
		if inTests || strings.HasSuffix(pass.Fset.Position(f.FileStart).Filename, "_test.go") {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	c := &clocks{Pass: pass, bubbled: map[types.Object]bool{}, measured: map[types.Object]bool{}, deadlines: map[types.Object]bool{}}
	c.findBubbled(files)
	for known := -1; known != len(c.measured)+len(c.deadlines); {
		known = len(c.measured) + len(c.deadlines)
		for _, f := range files {
			c.findMeasured(f)
		}
	}
	for _, f := range files {
		c.report(f)
	}
	return nil, nil
}

type clocks struct {
	*analysis.Pass
	bubbled   map[types.Object]bool // functions called only in bubbles
	measured  map[types.Object]bool // variables with measured durations, and functions that return them
	deadlines map[types.Object]bool // variables with time.Now plus less than a minute
}

func (c *clocks) called(call *ast.CallExpr) (types.Object, string) {
	fun := ast.Unparen(call.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	var id *ast.Ident
	switch fun := fun.(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	default:
		return nil, ""
	}
	if f, ok := c.TypesInfo.Uses[id].(*types.Func); ok {
		return f, f.FullName()
	}
	return c.TypesInfo.Uses[id], ""
}

// findBubbled finds functions that are called only in bubbles, or by other such functions.
func (c *clocks) findBubbled(files []*ast.File) {
	uses := map[types.Object]int{}
	for _, id := range c.TypesInfo.Uses {
		if f, ok := id.(*types.Func); ok && f.Pkg() == c.Pkg {
			uses[f.Origin()]++
		}
	}
	for changed := true; changed; {
		changed = false
		inBubbles := map[types.Object]int{}
		for _, f := range files {
			c.walk(f, func(n ast.Node, bubbled bool) {
				id, ok := n.(*ast.Ident)
				if !ok || !bubbled {
					return
				}
				if f, ok := c.TypesInfo.Uses[id].(*types.Func); ok && f.Pkg() == c.Pkg {
					inBubbles[f.Origin()]++
				}
			})
		}
		for f, n := range inBubbles {
			if n == uses[f] && !c.bubbled[f] {
				c.bubbled[f], changed = true, true
			}
		}
	}
}

// walk visits the nodes of a file. bubbled reports whether the node runs only in a bubble.
func (c *clocks) walk(f *ast.File, visit func(n ast.Node, bubbled bool)) {
	var bubbles []ast.Node // enclosing bubbles
	var stack []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			last := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if len(bubbles) > 0 && bubbles[len(bubbles)-1] == last {
				bubbles = bubbles[:len(bubbles)-1]
			}
			return true
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.CallExpr:
			if _, name := c.called(n); name == "testing/synctest.Test" {
				bubbles = append(bubbles, n)
			}
		case *ast.FuncDecl:
			if c.bubbled[c.TypesInfo.Defs[n.Name]] {
				bubbles = append(bubbles, n)
			}
		}
		visit(n, len(bubbles) > 0)
		return true
	})
}

// findMeasured finds variables that contain measured durations or near deadlines, and functions
// that return measured durations.
func (c *clocks) findMeasured(f *ast.File) {
	var functions []*ast.FuncDecl
	c.walk(f, func(n ast.Node, bubbled bool) {
		if bubbled {
			return
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			functions = append(functions, n)
		case *ast.AssignStmt:
			if len(n.Lhs) == len(n.Rhs) {
				for i := range n.Lhs {
					c.assign(n.Lhs[i], n.Rhs[i])
				}
			} else if len(n.Rhs) == 1 {
				for _, l := range n.Lhs {
					c.assign(l, n.Rhs[0])
				}
			}
		case *ast.ValueSpec:
			if len(n.Names) == len(n.Values) {
				for i := range n.Names {
					c.assign(n.Names[i], n.Values[i])
				}
			}
		case *ast.ReturnStmt:
			if len(functions) == 0 {
				return
			}
			current := functions[len(functions)-1]
			for _, r := range n.Results {
				if isQuantity(c.TypesInfo.TypeOf(r)) && c.isMeasured(r) && current.Pos() <= n.Pos() && n.End() <= current.End() {
					c.measured[c.TypesInfo.Defs[current.Name]] = true
				}
			}
		}
	})
}

func isQuantity(t types.Type) bool {
	return t != nil && (t.String() == "time.Duration" || types.Identical(t, types.Typ[types.Float64]))
}

func (c *clocks) assign(to, from ast.Expr) {
	id, ok := to.(*ast.Ident)
	if !ok {
		return
	}
	object := c.TypesInfo.ObjectOf(id)
	if object == nil {
		return
	}
	if isQuantity(object.Type()) && c.isMeasured(from) {
		c.measured[object] = true
	}
	if c.isDeadline(from) {
		c.deadlines[object] = true
	}
}

// isMeasured reports whether a value derives from a measured duration.
func (c *clocks) isMeasured(e ast.Expr) (measured bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			measured = measured || c.measured[c.TypesInfo.Uses[n]]
		case *ast.CallExpr:
			switch f, name := c.called(n); {
			case name == "time.Since", name == "time.Until":
				measured = true
			case name == "(time.Time).Sub":
				measured = measured || c.isNow(n.Fun.(*ast.SelectorExpr).X)
			case f != nil && c.measured[f]:
				measured = true
			}
		}
		return !measured
	})
	return measured
}

func (c *clocks) isNow(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	_, name := c.called(call)
	return name == "time.Now"
}

// isDeadline reports whether an expression is time.Now().Add(d) where d may be below shortest, or a
// variable with such a value.
func (c *clocks) isDeadline(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.deadlines[c.TypesInfo.Uses[e]]
	case *ast.CallExpr:
		_, name := c.called(e)
		return name == "(time.Time).Add" && c.isNow(e.Fun.(*ast.SelectorExpr).X) && !c.isLong(e.Args[0])
	}
	return false
}

func (c *clocks) isLong(d ast.Expr) bool {
	value := c.TypesInfo.Types[d].Value
	if value == nil {
		return false
	}
	n, ok := constant.Int64Val(constant.ToInt(value))
	return ok && time.Duration(n) >= shortest
}

func (c *clocks) report(f *ast.File) {
	loops := map[ast.Expr]bool{} // conditions of loops
	c.walk(f, func(n ast.Node, bubbled bool) {
		if bubbled {
			return
		}
		switch n := n.(type) {
		case *ast.ForStmt:
			loops[n.Cond] = true
		case *ast.BinaryExpr:
			greater, smaller := n.X, n.Y
			switch n.Op {
			case token.GTR, token.GEQ:
			case token.LSS, token.LEQ:
				greater, smaller = smaller, greater
			default:
				return
			}
			if c.isMeasured(greater) && !c.isLong(smaller) || loops[n] && c.isMeasured(smaller) {
				c.Reportf(n.Pos(), "upper bound on measured time: a slow machine fails or changes the test")
			}
		case *ast.CallExpr:
			switch _, name := c.called(n); name {
			case "time.Sleep":
				c.Reportf(n.Pos(), "time.Sleep in a test: wait for an event, or use testing/synctest")
			case "time.After":
				if value := c.TypesInfo.Types[n.Args[0]].Value; value != nil && !c.isLong(n.Args[0]) {
					c.Reportf(n.Pos(), "time.After below a minute in a test: wait for an event with a watchdog of minutes")
				}
			case "(time.Time).After", "(time.Time).Before":
				x := n.Fun.(*ast.SelectorExpr).X
				if c.isNow(x) && c.isDeadline(n.Args[0]) || c.isDeadline(x) && c.isNow(n.Args[0]) {
					c.Reportf(n.Pos(), "deadline below a minute in a test: a slow machine fails or changes the test")
				}
			}
		}
	})
}
