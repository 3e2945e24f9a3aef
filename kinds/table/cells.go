package table

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
)

func showNothing(b []byte, _ *row, _ string) []byte { return append(b, "null"...) }

func showAge(r *row, _ string) string {
	return Age(r.metadata.Field("creationTimestamp").Text(), r.now)
}

// showCreated shows the creation timestamp, for clients that compute ages themselves.
func showCreated(b []byte, r *row, _ string) []byte {
	v := r.metadata.Field("creationTimestamp")
	if !v.Exists() {
		return append(b, "null"...)
	}
	return append(b, v...)
}

func showSince(r *row, path string) string {
	return Age(r.json.At(path).Text(), r.now)
}

func showCount(b []byte, r *row, path string) []byte {
	return strconv.AppendInt(b, int64(r.json.At(path).Count()), 10)
}

func showDataCount(b []byte, r *row, _ string) []byte {
	return strconv.AppendInt(b, int64(r.json.Field("data").Count()+r.json.Field("binaryData").Count()), 10)
}

func showJoin(r *row, arg string) string {
	path, field, named := strings.Cut(arg, "/")
	if !named {
		field = "name"
	}
	return cmp.Or(strings.Join(texts(r.json.At(path), field), ","), none)
}

func showList(r *row, path string) string {
	return strings.Join(texts(r.json.At(path), "name"), ",")
}

func showIsTrue(b []byte, r *row, kind string) []byte {
	c := condition(r.json.At("status.conditions"), kind)
	return strconv.AppendBool(b, c != nil && c.Field("status").Text() == "True")
}

func texts(v jsontext.Value, field string) (out []string) {
	for w := range v.Items {
		if w[0] == '{' {
			w = w.Field(field)
		}
		out = append(out, w.Text())
	}
	return out
}

func showFirst(r *row, path string) string {
	for _, s := range texts(r.json.At(path), "name") {
		return cmp.Or(s, none)
	}
	return none
}

func showPairs(r *row, path string) string {
	return cmp.Or(strings.Join(pairs(r.json.At(path)), ","), none)
}

func pairs(v jsontext.Value) (out []string) {
	for key, w := range v.Fields {
		out = append(out, key.Text()+"="+w.Text())
	}
	slices.Sort(out)
	return out
}

func showParts(r *row, arg string) string {
	var parts []string
	for path := range strings.SplitSeq(arg, "/") {
		parts = append(parts, r.json.At(path).Text())
	}
	return strings.Join(parts, "/")
}

func showText(r *row, path string) string {
	return jsonpath.Text(r.json.At(path))
}

func showBool(r *row, path string) string {
	if r.json.At(path).IsTrue() {
		return "True"
	}
	return "False"
}

// showPhase shows Terminating for an object that is being deleted, because deletion usually leaves
// the phase unchanged.
func showPhase(r *row, path string) string {
	if r.object.Meta.Terminating {
		return "Terminating"
	}
	return r.json.At(path).Text()
}

func showUnion(r *row, path string) string {
	name := unset
	for _, member := range r.json.At(path).Keys() {
		name = strings.ToUpper(member[:1]) + member[1:]
	}
	return name
}

func (r *row) annotation(name string) string {
	return r.metadata.Field("annotations").Field(r.naming.Translate(name)).Text()
}

// joinAtMost joins at most limit strings of list and counts the rest, as in "a,b,c + 2 more...".
// all is the total number of strings, which may exceed len(list).
func joinAtMost(list []string, limit, all int, separator string) string {
	if len(list) <= limit && all <= limit {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:min(limit, len(list))], separator) + " + " + strconv.Itoa(all-limit) + " more..."
}
