package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The prose rules apply to comments and documents, and the banned words also to string literals of
// production code. Links and document names in Go files must be valid. The rules do not apply to a
// comment with a line of the form
//
//	//lint:ignore prose REASON
//
// or to a string literal below it.
const (
	maxColumns       = 100 // limit for comments and documents
	maxCommentWords  = 150 // limit for comments other than package comments
	maxSentenceWords = 40
	// A comment on an unexported function of fewer than shortFunction lines may have
	// maxShortComment lines.
	shortFunction   = 10
	maxShortComment = 4
)

const ignoreProse = "//lint:ignore prose "

// bannedWords matches vague words that have a technical equivalent.
var bannedWords = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever|whom|tells|told|what there is|what is to be|in vain|of which there|otherwise than)\b` +
	`|(^|[.,;:(] |\b(for|to|of|by|what|says|said|knows?|and) )who\b`)

// sentenceEnds matches the ends of sentences, paragraphs and list items.
var sentenceEnds = regexp.MustCompile(`[.:;?!]["')]*(\s|$)|\n\n|\n\s*[-*]`)

var preformatted = regexp.MustCompile(`(?m)^\t.*\n`)

// unidiomatic returns the findings of the prose rules for all sources and documents.
func unidiomatic() (findings []finding, err error) {
	out, err := exec.Command("git", "ls-files", "-co", "--exclude-standard", "*.go", "*.md").Output()
	if err != nil {
		return nil, fmt.Errorf("list the sources: %w", err)
	}
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, but still in the index
		}
		if err != nil {
			return nil, err
		}
		p := prose{file: file}
		switch {
		case strings.Contains(file, "testdata/") || strings.HasSuffix(file, ".pb.go") || bytes.Contains(text[:min(len(text), 300)], []byte("Code generated")):
		case strings.HasSuffix(file, ".md"):
			p.document(string(text))
		default:
			err = p.source(text)
		}
		if err != nil {
			return nil, err
		}
		findings = append(findings, p.findings...)
	}
	return findings, nil
}

// prose collects the findings in one file.
type prose struct {
	file     string
	findings []finding
}

func (p *prose) report(line int, format string, args ...any) {
	f := finding{Code: "prose", Message: fmt.Sprintf(format, args...)}
	f.Location.File, f.Location.Line = p.file, line
	p.findings = append(p.findings, f)
}

func (p *prose) words(line int, text string) {
	for i, l := range strings.Split(text, "\n") {
		if word := bannedWords.FindString(l); word != "" {
			p.report(line+i, "%q: use the field's noun for the person or thing", strings.Trim(word, " .,;:("))
		}
	}
}

func (p *prose) columns(line int, text string) {
	if strings.HasPrefix(text, "//\t") {
		return // preformatted
	}
	if n := utf8.RuneCountInString(strings.ReplaceAll(text, "\t", "    ")); n > maxColumns && !strings.Contains(text, "://") {
		p.report(line, "%d columns, at most %d", n, maxColumns)
	}
}

func (p *prose) sentences(line int, text string) {
	text = preformatted.ReplaceAllString(text, "\n")
	for _, s := range sentenceEnds.Split(text, -1) {
		if n := len(strings.Fields(s)); n > maxSentenceWords {
			p.report(line, "a sentence of %d words, at most %d: %.40q", n, maxSentenceWords, strings.TrimSpace(s))
		}
	}
}

// document checks words, links and line lengths in Markdown, except in code. Table rows may be
// longer.
func (p *prose) document(text string) {
	inCode := false
	for i, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			inCode = !inCode
		}
		if inCode {
			continue
		}
		p.words(i+1, l)
		for _, m := range markdownLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(l, ""), -1) {
			p.link(i+1, filepath.Dir(p.file), m[1])
		}
		if !strings.HasPrefix(l, "|") && !strings.HasPrefix(l, "    ") { // not a table or code
			p.columns(i+1, l)
		}
	}
}

func (p *prose) source(text []byte) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, p.file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for i, l := range strings.Split(string(text), "\n") {
		for _, target := range pathOfDoc.FindAllString(l, -1) {
			p.link(i+1, "", target)
		}
	}
	lineOf := func(at token.Pos) int { return fset.Position(at).Line }
	indent := func(at token.Pos) string { return strings.Repeat("\t", fset.Position(at).Column-1) }
	ignored := map[int]bool{} // keyed by the last line of the comment
	for _, group := range f.Comments {
		if strings.Contains("\n"+commentSource(group), "\n"+ignoreProse) {
			ignored[lineOf(group.End())] = true
			continue
		}
		for _, c := range group.List {
			for i, l := range strings.Split(c.Text, "\n") {
				if fset.Position(c.Pos()).Column > 1 && i == 0 && isTrailing(text, fset.Position(c.Pos()).Offset) {
					continue // the code determines the width
				}
				p.columns(lineOf(c.Pos())+i, indent(c.Pos())+l)
			}
		}
		p.words(lineOf(group.Pos()), strings.TrimSuffix(commentSource(group), "\n"))
		p.sentences(lineOf(group.Pos()), group.Text())
		if n := len(strings.Fields(group.Text())); n > maxCommentWords && group != f.Doc {
			p.report(lineOf(group.Pos()), "a comment of %d words, at most %d", n, maxCommentWords)
		}
	}
	isTest := strings.HasSuffix(p.file, "_test.go") || strings.HasPrefix(p.file, "test/")
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			lines := lineOf(n.End()) - lineOf(n.Pos()) + 1
			if n.Doc != nil && !n.Name.IsExported() && lines < shortFunction && len(n.Doc.List) > maxShortComment && !ignored[lineOf(n.Doc.End())] {
				p.report(lineOf(n.Doc.Pos()), "a comment of %d lines on a function of %d lines", len(n.Doc.List), lines)
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING || isTest || ignored[lineOf(n.Pos())-1] || !strings.Contains(n.Value, " ") {
				return true
			}
			if value, err := strconv.Unquote(n.Value); err == nil {
				p.words(lineOf(n.Pos()), value)
			}
		}
		return true
	})
	return nil
}

func commentSource(group *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range group.List {
		b.WriteString(c.Text + "\n")
	}
	return b.String()
}

func isTrailing(text []byte, offset int) bool {
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	return len(bytes.TrimSpace(text[start:offset])) > 0
}
