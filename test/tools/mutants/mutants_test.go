package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package p

func f(a, b int, ok bool) (n int, err error) {
	const no = false
	if a < 3 && ok {
		n++
	}
	for a >= b {
		n = a
		defer f(a, b, true)
	}
	m := n
	return m, err
}
`

// TestMutants checks the changes of a function, and that all of them together still parse.
func TestMutants(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "p.go"), []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := candidates(filepath.Join(folder, "p.go"), sample)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, fmt.Sprintf("%d: %s -> %s", m.line, m.old, m.shown))
	}
	slices.Sort(got)
	if want := []string{
		"10: defer f(a, b, true) -> ", "10: true -> false",
		"5: a < 3 && ok -> !(a < 3 && ok)", "5: a < 3 && ok -> a < 3 || ok", "5: a < 3 && ok -> false", "5: a < 3 -> a < 3+1", "5: a < 3 -> a < 3-1", "5: a < 3 -> a <= 3",
		"6: n++ -> ", "8: a >= b -> a > b", "9: n = a -> ",
	}; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for seed := range int64(20) {
		chosen, err := mutants(folder, 5, rand.New(rand.NewSource(seed)))
		if err != nil {
			t.Fatal(err)
		}
		files, err := apply(folder, "p", chosen)
		if err != nil || len(chosen) != 5 {
			t.Fatalf("%d mutants, %v", len(chosen), err)
		}
		for path, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), path, text, 0); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		}
	}
}
