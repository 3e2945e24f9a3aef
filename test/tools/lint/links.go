package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	codeSpan     = regexp.MustCompile("`[^`]*`")
	namedAnchor  = regexp.MustCompile(`<a id="([^"]+)">`)
	// pathOfDoc matches the path of a document within a Go file.
	pathOfDoc = regexp.MustCompile(`\bdocs/[\w/.-]+\.md(#[\w-]+)?`)
)

// link reports a link to a missing file or heading. The target is relative to dir.
func (p *prose) link(line int, dir, target string) {
	if strings.Contains(target, ":") { // external link
		return
	}
	path, anchor, _ := strings.Cut(target, "#")
	file := filepath.Join(dir, path)
	if path == "" {
		file = p.file
	}
	text, err := os.ReadFile(file)
	if info, inStat := os.Stat(file); inStat == nil && info.IsDir() {
		err = nil
	}
	switch {
	case err != nil:
		p.report(line, "the link to %s is broken", target)
	case anchor != "" && !anchors(string(text))[anchor]:
		p.report(line, "the link to %s is broken: no such heading", target)
	}
}

// anchors returns the anchors that GitHub generates for the headings of a Markdown text.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	inCode := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inCode = !inCode
		}
		for _, m := range namedAnchor.FindAllStringSubmatch(line, -1) {
			all[m[1]] = true
		}
		heading := strings.TrimLeft(line, "#")
		if inCode || heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		slug := slugOf(strings.TrimSpace(markdownLink.ReplaceAllString(heading, "]")))
		unique := slug
		for n := 1; all[unique]; n++ {
			unique = slug + "-" + strconv.Itoa(n)
		}
		all[unique] = true
	}
	return all
}

func slugOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
