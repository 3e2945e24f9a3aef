package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/test/client"
)

// A normalizer formats responses and masks values that vary between runs.
type normalizer struct {
	variables [][2]string // names and values, most recent let first
	kept      [][2]string // names and values of keep steps, and the namespace
	sent      string      // the paths, headers and bodies of all requests
}

func (n *normalizer) set(name, value string) {
	n.kept = slices.DeleteFunc(n.kept, func(kept [2]string) bool { return kept[0] == name })
	n.variables = append([][2]string{{name, value}}, n.variables...)
	n.kept = append(n.kept, [2]string{name, value})
}

func (n *normalizer) keep(name string, v any) {
	if s, ok := v.(string); ok {
		n.set(name, s)
	} else {
		n.set(name, compact(v))
	}
}

func (n *normalizer) namespace() string { return n.kept[0][1] }

// describe formats a response. show lists the paths to record. If show is nil, it records the paths
// in usual, unless the response is an error.
func (n *normalizer) describe(a client.Answer, show, usual []string) string {
	documents := decode(a)
	var status client.Object
	if o, _ := first(documents).(map[string]any); a.Code >= 400 && o["kind"] == "Status" {
		status = o
	} else if show == nil && documents != nil {
		show = usual
	}
	lines := []string{fmt.Sprint(mark, " ", a.Code)}
	if reason, _ := status["reason"].(string); reason != "" {
		lines[0] += " " + reason
	}
	for _, warning := range a.Header.Values("Warning") {
		lines = append(lines, "warning: "+n.text(warning))
	}
	if slices.Equal(show, []string{"none"}) {
		return strings.Join(lines, "\n")
	}
	if kind := a.Header.Get("Content-Type"); kind != client.JSON && len(a.Body) > 0 {
		lines = append(lines, "Content-Type: "+kind)
	}
	switch {
	case slices.Equal(show, []string{"text"}):
		lines = append(lines, n.lines(a.Body)...)
	case show != nil:
		for _, path := range show {
			lines = append(lines, n.line(a, path))
		}
	case status != nil:
		lines = append(lines, n.describeStatus(a.Code, status)...)
	case documents == nil:
		lines = append(lines, n.lines(a.Body)...)
	default:
		for _, d := range documents {
			lines = append(lines, indent(n.value("", d), 0))
		}
	}
	return strings.Join(lines, "\n")
}

// lines splits a body into lines and masks values that vary between runs.
func (n *normalizer) lines(body []byte) (lines []string) {
	if !utf8.Valid(body) {
		return []string{"| binary"}
	}
	for line := range strings.Lines(string(body)) {
		text := versionField.ReplaceAllString(n.text(line), `${1}*`)
		lines = append(lines, strings.TrimRight("| "+text, "\r\n "))
	}
	return lines
}

// describeStatus formats the message and causes of an error.
func (n *normalizer) describeStatus(code int, status client.Object) []string {
	lines := []string{"message: " + n.text(fmt.Sprint(status["message"]))}
	if fmt.Sprint(status["code"]) != strconv.Itoa(code) || status["status"] != "Failure" {
		lines = append(lines, fmt.Sprintf("wrong: code %v, status %v", status["code"], status["status"]))
	}
	details, _ := status["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	for _, c := range causes {
		cause, _ := c.(map[string]any)
		text, message := "cause", fmt.Sprint(cause["message"])
		for _, key := range []string{"field", "reason"} {
			if s, ok := cause[key]; ok {
				text += fmt.Sprint(" ", s)
			}
		}
		if !strings.Contains(fmt.Sprint(status["message"]), fmt.Sprintf("%v: %s", cause["field"], message)) {
			text += ": " + message
		}
		lines = append(lines, n.text(text))
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\n", "\n  ")
	}
	return lines
}

// describeEvent formats a watch event. It returns "" for bookmarks, except the one that ends the
// initial events.
func (n *normalizer) describeEvent(e client.Event, show []string) string {
	text := e.Type + " " + n.text(e.Object.Name())
	switch e.Type {
	case client.Bookmark:
		if !strings.Contains(e.Object.String(), `/initial-events-end":"true"`) {
			return ""
		}
		text = e.Type + " initial-events-end"
	case client.Error:
		return fmt.Sprintf("%s %d %v\nmessage: %s", e.Type, e.Code(), e.Object["reason"], n.text(fmt.Sprint(e.Object["message"])))
	}
	for _, path := range show {
		text += "\n" + n.line(client.Answer{Body: []byte(e.Object.String())}, path)
	}
	return text
}

// line formats the part of a response that one item of show selects.
func (n *normalizer) line(a client.Answer, path string) string {
	if text, ok := strings.CutPrefix(path, "line "); ok {
		found := slices.DeleteFunc(n.lines(a.Body), func(line string) bool { return !strings.Contains(line, text) })
		return strings.Join(found, "\n")
	}
	v, ok := n.find(a, path)
	if !ok {
		return path + ": absent"
	}
	if strings.HasPrefix(path, "header ") {
		return path + ": " + n.text(v.(string))
	}
	for _, kept := range n.kept {
		if compact(v) == kept[1] {
			return path + ": {" + kept[0] + "}"
		}
	}
	key := path[strings.LastIndex(path, ".")+1:]
	if list, ok := v.([]any); ok && key == "managedFields" {
		key = ""
		slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(managerOf(a), managerOf(b)) })
	}
	return path + ": " + indent(n.value(key, v), len(path)+2)
}

// managerOf returns the sort key of a managed fields entry, because the server orders entries by
// time.
func managerOf(entry any) string {
	e, _ := entry.(map[string]any)
	return fmt.Sprint(e["manager"], e["operation"], e["subresource"])
}

func (n *normalizer) find(a client.Answer, path string) (any, bool) {
	if name, ok := strings.CutPrefix(path, "header "); ok {
		values := a.Header.Values(name)
		return strings.Join(values, ", "), len(values) > 0
	}
	return find(first(decode(a)), strings.Split(path, "."))
}

func find(v any, path []string) (any, bool) {
	if len(path) == 0 {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		for i := len(path); i > 0; i-- {
			if next, ok := v[strings.Join(path[:i], ".")]; ok {
				return find(next, path[i:])
			}
		}
	case []any:
		if path[0] == "*" {
			all := []any{}
			for _, item := range v {
				one, _ := find(item, path[1:])
				all = append(all, one)
			}
			return all, true
		}
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(v) {
			return find(v[i], path[1:])
		}
	}
	return nil, false
}

func first(documents []any) any {
	if len(documents) == 0 {
		return nil
	}
	return documents[0]
}

// decode returns the documents in a body, or nil if it is neither JSON nor YAML.
func decode(a client.Answer) (documents []any) {
	text := a.Body
	if strings.HasPrefix(a.Header.Get("Content-Type"), "application/yaml") && !bytes.HasPrefix(text, []byte("{")) {
		text, _ = yaml.YAMLToJSON(text)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return documents
		} else if err != nil {
			return nil
		}
		documents = append(documents, v)
	}
}

// volatile lists fields whose values vary between runs. opaque lists fields with arbitrary map
// keys, which must not be mistaken for field names.
var (
	volatile = strings.Fields("uid resourceVersion managedFields continue time token clusterIP clusterIPs nodePort healthCheckNodePort")
	opaque   = strings.Fields("data stringData labels annotations matchLabels")
	instant  = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	uuid     = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)

	generateName   = regexp.MustCompile(`"?generateName"?: ?"?([^"\s]+)`)
	aboutVersions  = regexp.MustCompile(`(?i)resource ?version`)
	unquotedNumber = regexp.MustCompile(`[ (][1-9]\d*\b`)
	versionField   = regexp.MustCompile(`(resourceVersion"?: ?"?)\d+`)
)

// value masks the value of a field and all values within it.
func (n *normalizer) value(key string, v any) any {
	if slices.Contains(volatile, key) {
		return n.masked(key, v)
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, field := range v {
			if slices.Contains(opaque, key) {
				out[n.text(name)] = n.value("", field)
			} else {
				out[name] = n.value(name, field)
			}
		}
		if prefix, _ := v["generateName"].(string); prefix != "" && v["name"] != nil {
			out["name"] = prefix + "*"
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, n.value("", item))
		}
		return out
	case string:
		return n.text(v)
	}
	return v
}

// masked returns the replacement for the value of a volatile field: {NAME} for a kept value, the
// value itself if a request contained it, and * otherwise.
func (n *normalizer) masked(key string, v any) any {
	const longEnough = 5 // shorter values may match a request by chance
	if list, ok := v.([]any); ok && key != "managedFields" {
		out := []any{}
		for _, item := range list {
			out = append(out, n.masked(key, item))
		}
		return out
	}
	text := strings.Trim(compact(v), `"`)
	for _, kept := range n.kept {
		if text == kept[1] && key != "continue" && key != "time" {
			return "{" + kept[0] + "}"
		}
	}
	if key == "continue" || key == "time" { // equal values may be a coincidence
		return "*"
	}
	if text == "" || text == "null" || text == "None" || len(text) >= longEnough && strings.Contains(n.sent, text) {
		return v
	}
	return "*"
}

// text masks kept values, resource versions, generated names, times and UUIDs in a text.
func (n *normalizer) text(s string) string {
	const longEnough = 5 // shorter kept values may occur in a text by chance
	for _, kept := range n.kept {
		if len(kept[1]) >= longEnough {
			s = strings.ReplaceAll(s, kept[1], "{"+kept[0]+"}")
		}
	}
	if aboutVersions.MatchString(s) {
		s = unquotedNumber.ReplaceAllStringFunc(s, func(text string) string {
			return text[:1] + n.masked("resourceVersion", text[1:]).(string)
		})
	}
	for _, match := range generateName.FindAllStringSubmatch(n.sent, -1) {
		generated := regexp.MustCompile(`\b` + regexp.QuoteMeta(match[1]) + `[a-z0-9]{5}\b`)
		s = generated.ReplaceAllString(s, match[1]+"*")
	}
	for _, pattern := range []*regexp.Regexp{instant, uuid} {
		s = pattern.ReplaceAllStringFunc(s, func(value string) string {
			if strings.Contains(n.sent, value) {
				return value
			}
			return "*"
		})
	}
	return s
}

func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// indent formats JSON on one line, or with one member per line if that line would be too long. used
// is the width of the text before the JSON.
func indent(v any, used int) string {
	const width = 120
	text := compact(v)
	if used+len(text) <= width {
		return text
	}
	var members []string
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members = append(members, compact(name)+":"+indent(v[name], len(name)+4))
		}
	case []any:
		for _, item := range v {
			members = append(members, indent(item, 1))
		}
	}
	if len(members) == 0 {
		return text
	}
	inner := strings.ReplaceAll(strings.Join(members, ",\n"), "\n", "\n ")
	return text[:1] + "\n " + inner + "\n" + text[len(text)-1:]
}

// canonical reformats the JSON in a response, because line breaks and field order depend on names
// and thus on the naming profile.
func canonical(answer string) string {
	var entries []string
	for line := range strings.SplitSeq(answer, "\n") {
		if len(entries) > 0 && strings.HasPrefix(line, " ") || line == "}" || line == "]" {
			entries[len(entries)-1] += "\n" + line
		} else {
			entries = append(entries, line)
		}
	}
	for i, entry := range entries {
		label, text, hasLabel := strings.Cut(entry, ": ")
		if !hasLabel || strings.ContainsAny(label, "{[\"") {
			label, text = "", entry
		} else {
			label += ": "
		}
		if v := decode(client.Answer{Body: []byte(text)}); len(v) == 1 {
			entries[i] = label + indent(v[0], len(label))
		}
	}
	return strings.Join(entries, "\n")
}
