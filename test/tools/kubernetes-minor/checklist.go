package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A row compares one item or token of an inventory with the server.
type row struct {
	subject string
	name    string // item and token
	gap     string // difference from the release; "" if the row is implemented
	reason  string // why the gap is declined; "" if the row is open
}

func (r row) String() string { return r.subject + " " + r.name + ": " + r.gap }

// A rule declines all rows whose text, such as "flags v: missing", matches pattern.
type rule struct {
	pattern  *regexp.Regexp
	reason   string
	optional bool // the rule need not match
}

// readDeclined parses declined.txt. A line that starts with ">" is the reason for the patterns
// below it.
func readDeclined(text []byte) (rules []rule, err error) {
	reason := ""
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		switch why, ok := strings.CutPrefix(line, "> "); {
		case ok:
			reason = why
		case line == "" || strings.HasPrefix(line, "#"):
		case reason == "":
			return nil, fmt.Errorf("declined.txt: %s: no reason", line)
		default:
			pattern, err := regexp.Compile("^(" + line + ")$")
			if err != nil {
				return nil, fmt.Errorf("declined.txt: %w", err)
			}
			rules = append(rules, rule{pattern: pattern, reason: reason})
		}
	}
	return rules, nil
}

// exact is the subject for which the server must not have more than the release.
const exact = "roles"

// newRows compares the inventories of a release and the server. It returns an error if a rule
// matches no row.
func newRows(want, have inventory, rules []rule) (rows []row, err error) {
	for _, subject := range slices.Sorted(maps.Keys(want)) {
		for _, item := range slices.Sorted(maps.Keys(want[subject])) {
			rows = append(rows, newItemRows(subject, item, want[subject][item], have[subject][item])...)
		}
	}
	used := make([]bool, len(rules))
	for i, r := range rows {
		for n, rule := range rules {
			if r.gap != "" && rule.pattern.MatchString(r.String()) {
				used[n], rows[i].reason = true, rule.reason
				break
			}
		}
	}
	for n, rule := range rules {
		if !used[n] && !rule.optional {
			return nil, fmt.Errorf("declined.txt: no row matches %s", rule.pattern)
		}
	}
	return rows, nil
}

func newItemRows(subject, item string, want, have tokens) (rows []row) {
	if have == nil {
		return []row{{subject: subject, name: item, gap: "missing"}}
	}
	if len(want) == 0 {
		return []row{{subject: subject, name: item}}
	}
	all := maps.Clone(want)
	if subject == exact {
		maps.Copy(all, have)
	}
	for _, token := range slices.Sorted(maps.Keys(all)) {
		r := row{subject: subject, name: item + " " + token}
		attributes, ok := have[token]
		lacks, beyond := lacking(want[token], attributes), lacking(attributes, want[token])
		switch _, wanted := want[token]; {
		case !ok:
			r.gap = "missing"
		case !wanted:
			r.gap = "not in Kubernetes"
		case len(lacks) > 0:
			r.gap = "lacks " + strings.Join(lacks, ", ")
		case len(beyond) > 0 && subject == exact:
			r.gap = "not in Kubernetes: " + strings.Join(beyond, ", ")
		}
		rows = append(rows, r)
	}
	return rows
}

// printChecklist prints the rows by subject, with their counts. It omits implemented rows unless
// all is set. It returns an error if a row is open.
func printChecklist(w io.Writer, rows []row, all bool) error {
	open := 0
	for len(rows) > 0 {
		subject := rows[0].subject
		end := slices.IndexFunc(rows, func(r row) bool { return r.subject != subject })
		if end < 0 {
			end = len(rows)
		}
		counts, text := map[string]int{}, &strings.Builder{}
		for _, r := range rows[:end] {
			state := "open"
			switch {
			case r.gap == "":
				state = "implemented"
			case r.reason != "":
				state = "declined"
				r.gap += ": " + r.reason
			}
			if counts[state]++; all || r.gap != "" {
				fmt.Fprintf(text, "  %-11s  %s  %s\n", state, r.name, r.gap)
			}
		}
		fmt.Fprintf(w, "%s: %d implemented, %d declined, %d open\n%s", subject, counts["implemented"], counts["declined"], counts["open"], text)
		open += counts["open"]
		rows = rows[end:]
	}
	if open > 0 {
		return fmt.Errorf("%d rows are open", open)
	}
	return nil
}
