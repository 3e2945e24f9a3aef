package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is a change of one range of a file.
type mutant struct {
	id         int
	file       string // absolute path
	line       int
	start, end int    // byte offsets
	format     string // of the replacement text: %[1]s is the mutant's condition, and %[2]s the old text
	shown      string // the new text, for the report
	old        string
}

var comparisons = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==", token.LAND: "||", token.LOR: "&&",
}

// mutants returns up to n random mutants of the package in folder. Their ranges are disjoint, so
// that all can be compiled at once.
func mutants(folder string, n int, random *rand.Rand) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var all, chosen []mutant
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := candidates(file, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, m := range all {
		overlaps := func(o mutant) bool { return o.file == m.file && o.start < m.end && m.start < o.end }
		if len(chosen) < n && !slices.ContainsFunc(chosen, overlaps) {
			m.id = len(chosen) + 1
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}

func candidates(file, text string) (all []mutant, err error) {
	positions := token.NewFileSet()
	tree, err := parser.ParseFile(positions, file, text, 0)
	if err != nil || strings.Contains(text, "//go:build") {
		return nil, err
	}
	offset := func(p token.Pos) int { return positions.Position(p).Offset }
	piece := func(n ast.Node) string { return text[offset(n.Pos()):offset(n.End())] }
	add := func(n ast.Node, format, shown string) {
		all = append(all, mutant{file: file, line: positions.Position(n.Pos()).Line, start: offset(n.Pos()), end: offset(n.End()), format: format, shown: shown, old: piece(n)})
	}
	drop := func(list []ast.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.AssignStmt:
				if s.Tok == token.DEFINE {
					continue
				}
			case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt:
			default:
				continue
			}
			add(s, "if !%[1]s { %[2]s }", "")
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST
		case *ast.BlockStmt:
			drop(n.List)
		case *ast.CaseClause:
			drop(n.Body)
		case *ast.CommClause:
			drop(n.Body)
		case *ast.IfStmt:
			add(n.Cond, "(%[2]s) != %[1]s", "!("+piece(n.Cond)+")")
			add(n.Cond, "(%[2]s) && !%[1]s", "false")
		case *ast.Ident:
			if n.Obj == nil && (n.Name == "true" || n.Name == "false") {
				add(n, "(%[2]s != %[1]s)", fmt.Sprint(n.Name == "false"))
			}
		case *ast.BinaryExpr:
			other, ok := comparisons[n.Op]
			if !ok {
				break
			}
			changes := []string{piece(n.X) + " " + other + " " + piece(n.Y)}
			if constant, ok := n.Y.(*ast.BasicLit); ok && constant.Kind == token.INT {
				changes = append(changes, piece(n.X)+" "+n.Op.String()+" "+piece(n.Y)+"+1", piece(n.X)+" "+n.Op.String()+" "+piece(n.Y)+"-1")
			}
			for _, change := range changes {
				add(n, "(%[1]s && ("+strings.ReplaceAll(change, "%", "%%")+") || !%[1]s && (%[2]s))", change)
			}
		}
		return true
	})
	return all, nil
}

// apply returns the texts of the changed files, and of a file that defines the condition of
// mutants.
func apply(folder, name string, all []mutant) (map[string][]byte, error) {
	files := map[string][]byte{filepath.Join(folder, "mutant_condition.go"): fmt.Appendf(nil, condition, name, variable)}
	byPosition := slices.SortedFunc(slices.Values(all), func(a, b mutant) int { return b.start - a.start })
	for _, m := range byPosition {
		text, ok := files[m.file]
		if !ok {
			var err error
			if text, err = os.ReadFile(m.file); err != nil {
				return nil, err
			}
		}
		change := fmt.Sprintf(m.format, fmt.Sprintf("isMutant(%d)", m.id), m.old)
		files[m.file] = slices.Concat(text[:m.start], []byte(change), text[m.end:])
	}
	return files, nil
}

// variable is the environment variable with the number of the mutant to run.
const variable = "TROUPE_MUTANT"

const condition = `package %s

import (
	"os"
	"strconv"
)

var mutant, _ = strconv.Atoi(os.Getenv(%q))

func isMutant(id int) bool { return id == mutant }
`
