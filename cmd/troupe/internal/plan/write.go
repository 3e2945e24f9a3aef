package plan

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
)

// Formats are the values of Write's format.
var Formats = []string{"text", "json", "sarif", "junit"}

// Write writes the report in one of the Formats. tool names the command in the report.
func (r *Report) Write(w io.Writer, format, tool, version string) error {
	var text []byte
	switch format {
	case "json":
		text = r.json()
	case "sarif":
		text = r.sarif(version)
	case "junit":
		text = r.junit(tool)
	default:
		text = r.text()
	}
	_, err := w.Write(text)
	return err
}

func (f Finding) place() string {
	return strings.TrimSuffix(fmt.Sprintf("%s:%d", f.File, f.Line), ":0")
}

// text returns one line per finding, formatted like compiler errors, followed by the changes and a
// summary.
func (r *Report) text() []byte {
	var b strings.Builder
	for _, f := range r.Findings() {
		fmt.Fprintf(&b, "%s: %s: %s\n", f.place(), f.Level, f.describe())
	}
	for _, o := range r.input {
		if o.Action != "" && o.Action != unchanged {
			fmt.Fprintf(&b, "%s: %s %s\n%s", o.place(), o.title(), o.Action, o.Diff)
		}
	}
	n := r.Counts()
	fmt.Fprintf(&b, "objects: %d, errors: %d, warnings: %d", n["objects"], n["errors"], n["warnings"])
	if r.diff {
		fmt.Fprintf(&b, "; created: %d, changed: %d, unchanged: %d", n["created"], n["changed"], n["unchanged"])
	}
	return []byte(b.String() + "\n")
}

func (f Finding) describe() string {
	text := f.Message
	if f.Object != "" {
		text = f.Object + ": " + text
	}
	if f.Field != "" {
		text += " (" + f.Field + ")"
	}
	return text
}

func (r *Report) json() []byte {
	return document.IndentedJSON(properties{"findings": r.Findings(), "objects": append([]*object{}, r.input...), "summary": r.Counts()})
}

type properties = map[string]any

// sarif returns a SARIF 2.1.0 log with a rule per kind of finding.
func (r *Report) sarif(version string) []byte {
	rules, results, seen := []any{}, []any{}, map[string]bool{}
	for _, f := range r.Findings() {
		if !seen[f.Rule] {
			seen[f.Rule] = true
			rules = append(rules, properties{"id": f.Rule})
		}
		location := properties{"artifactLocation": properties{"uri": strings.ReplaceAll(f.File, "\\", "/")}}
		if f.Line > 0 {
			location["region"] = properties{"startLine": f.Line}
		}
		results = append(results, properties{
			"ruleId": f.Rule, "level": f.Level, "message": properties{"text": f.describe()},
			"locations": []any{properties{"physicalLocation": location}},
		})
	}
	return document.IndentedJSON(properties{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []any{properties{"tool": properties{"driver": properties{"name": "troupe", "version": version, "rules": rules}}, "results": results}},
	})
}

type junitSuite struct {
	XMLName  xml.Name
	Name     string       `xml:"name,attr,omitempty"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
	Cases    []junitCase  `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitFailure `xml:"failure"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// junit returns a JUnit report with a test case per object, and one per file with other findings.
// Warnings become the output of a test case.
func (r *Report) junit(tool string) []byte {
	suite := junitSuite{Name: tool}
	add := func(file, name string, line int, findings []Finding) {
		c := junitCase{Class: file, Name: name, File: file, Line: line}
		for _, f := range findings {
			text := fmt.Sprintf("%s: %s\n", f.place(), f.describe())
			switch {
			case f.Level == levelWarning:
				c.Output += text
			case c.Failure == nil:
				c.Failure = &junitFailure{f.describe(), f.Rule, text}
			default:
				c.Failure.Text += text
			}
		}
		if c.Failure != nil {
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, c)
	}
	for _, f := range r.other {
		add(f.File, cmp.Or(f.Object, f.place()), f.Line, []Finding{f})
	}
	for _, o := range r.all {
		if !o.extra || o.failed() {
			add(o.File, o.title(), o.Line, o.findings)
		}
	}
	suite.Tests = len(suite.Cases)
	all := junitSuite{XMLName: xml.Name{Local: "testsuites"}, Tests: suite.Tests, Failures: suite.Failures, Suites: []junitSuite{suite}}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err) // the types can always be encoded
	}
	return append([]byte(xml.Header), append(text, '\n')...)
}
