package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A referenceComparison lists the differences between a response and its recording. Soft
// differences are differences in wording.
type referenceComparison struct {
	hard, soft []string
	code       int // status code of the response
}

func (v *referenceComparison) differ(path string, want, got any) {
	v.hard = append(v.hard, differenceReference(path, want, got))
}

func differenceReference(path string, want, got any) string {
	return fmt.Sprintf("%s:\n    want %s\n    got  %s", path, show(want), show(got))
}

// missing represents an absent map entry.
type missing struct{}

const longestShown = 600

func show(v any) string {
	if v == (missing{}) {
		return "nothing"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b[:min(len(b), longestShown)])
}

func compareReference(want, got referenceAnswer) (v referenceComparison) {
	if want.Code != got.Code {
		v.differ("code", want.Code, got.Code)
	}
	if want.ContentType != got.ContentType {
		v.differ("Content-Type", want.ContentType, got.ContentType)
	}
	if (want.Warning == "") != (got.Warning == "") {
		v.differ("Warning", want.Warning, got.Warning)
	}
	// HTTP requires an Allow header with status 405, but the reference omits it.
	if (want.Allow == "") != (got.Allow == "") && want.Code != 405 {
		v.differ("Allow", want.Allow, got.Allow)
	}
	v.code = got.Code
	v.value("", normalize(want.Body, false), normalize(got.Body, false), false)
	return v
}

// volatile contains the fields whose values always differ.
var volatile = map[string]bool{
	"uid": true, "resourceVersion": true, "creationTimestamp": true, "deletionTimestamp": true,
	"time": true, "lastTransitionTime": true, "lastPhaseTransitionTime": true, "expirationTimestamp": true, "continue": true, "token": true,
	"clusterIP": true, "clusterIPs": true, "nodePort": true, "podIP": true, "podIPs": true,
}

// unordered contains the lists whose order is irrelevant. Managed fields are sorted by time in
// whole seconds, and the reference collects causes from maps.
var unordered = map[string]bool{"managedFields": true, "verbs": true, "causes": true}

// sortedReference sorts a list by the field and reason of its items, if present, and then by JSON.
func sortedReference(v any) any {
	key := func(item any) string {
		field, _ := lookup(item, "field")
		reason, _ := lookup(item, "reason")
		return field + reason + show(item)
	}
	if list, ok := v.([]any); ok {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(key(a), key(b)) })
	}
	return v
}

// normalize replaces values that always differ. data reports whether v is a map with arbitrary
// keys.
func normalize(v any, data bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			switch {
			case !data && volatile[key] && value != "" && value != nil:
				out[key] = "*"
			case !data && unordered[key]:
				out[key] = sortedReference(normalize(value, false))
			default:
				out[key] = normalize(value, key == "data" || key == "labels" || key == "annotations")
			}
		}
		forgetAges(out)
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = normalize(v[i], false)
		}
		return out
	}
	return v
}

func forgetAges(table map[string]any) {
	columns, _ := table["columnDefinitions"].([]any)
	rows, _ := table["rows"].([]any)
	for i := range columns {
		name, _ := lookup(columns[i], "name")
		if typ, _ := lookup(columns[i], "type"); typ != "date" && name != "Age" && name != "Created At" {
			continue
		}
		for _, row := range rows {
			if cells, _ := row.(map[string]any)["cells"].([]any); i < len(cells) {
				cells[i] = "*"
			}
		}
	}
}

// value compares two values. status reports whether they are part of a Status.
func (v *referenceComparison) value(path string, want, got any, status bool) {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			v.object(path, want, got, status || want["kind"] == "Status")
			return
		}
	case []any:
		if got, ok := got.([]any); ok && len(got) == len(want) {
			for i := range want {
				v.value(path+"["+strconv.Itoa(i)+"]", want[i], got[i], status)
			}
			return
		}
	}
	switch {
	case reflect.DeepEqual(want, got), isProtobuf(want) && isProtobuf(got):
	case isMessage(path, status) && got != (missing{}) && want != (missing{}):
		v.soft = append(v.soft, differenceReference(path, want, got))
	default:
		v.differ(path, want, got)
	}
}

// isProtobuf reports whether a body is Protobuf, for which the recording contains only the length.
func isProtobuf(v any) bool {
	s, ok := v.(string)
	return ok && (strings.HasPrefix(s, "k8s\x00") || strings.HasPrefix(s, "<") && strings.HasSuffix(s, " bytes of protobuf>"))
}

func isMessage(path string, status bool) bool {
	return status && strings.HasSuffix(path, ".message") || strings.HasSuffix(path, ".description")
}

func (v *referenceComparison) object(path string, want, got map[string]any, status bool) {
	keys := map[string]bool{}
	for key := range want {
		keys[key] = true
	}
	for key := range got {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		v.value(path+"."+key, entry(want, key), entry(got, key), status)
	}
}

func entry(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return missing{}
}
