package present

import (
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
)

// Cell functions for any kind.

func showNothing(b []byte, _ *row, _ string) []byte { return append(b, "null"...) }

// showAge shows how old the object is.
//
// Ages are texts such as "5m" and not times. So a table is right for the moment
// at which it is made.
func showAge(b []byte, r *row, _ string) []byte {
	return appendAge(b, r.metadata.Field("creationTimestamp").Text(), r.now)
}

// showCreated shows the time itself, for clients that count ages themselves.
func showCreated(b []byte, r *row, _ string) []byte {
	v := r.metadata.Field("creationTimestamp")
	if !v.Exists() {
		return append(b, "null"...)
	}
	return append(b, v...)
}

func showSince(b []byte, r *row, path string) []byte {
	return appendAge(b, r.json.At(path).Text(), r.now)
}

func showCount(b []byte, r *row, path string) []byte {
	return strconv.AppendInt(b, int64(r.json.At(path).Count()), 10)
}

// showDataCount counts the keys of a ConfigMap or Secret, which are in two maps.
func showDataCount(b []byte, r *row, _ string) []byte {
	return strconv.AppendInt(b, int64(r.json.Field("data").Count()+r.json.Field("binaryData").Count()), 10)
}

// showJoin joins the strings of a list, or one field of the objects in it.
func showJoin(b []byte, r *row, arg string) []byte {
	path, field, named := strings.Cut(arg, "/")
	if !named {
		field = "name"
	}
	return appendOr(b, strings.Join(texts(r.json.At(path), field), ","), none)
}

// texts are the strings of a list, or of one field of the objects in it. A value that is no list has none.
func texts(v jsontext.Value, field string) (out []string) {
	v.Items(func(w jsontext.Value) bool {
		if w[0] == '{' {
			w = w.Field(field)
		}
		out = append(out, w.Text())
		return true
	})
	return out
}

// showFirst shows the first string only: the others would be too many for a column.
func showFirst(b []byte, r *row, path string) []byte {
	for _, s := range texts(r.json.At(path), "name") {
		return appendOr(b, s, none)
	}
	return jsontext.AppendString(b, none)
}

func showPairs(b []byte, r *row, path string) []byte {
	return appendOr(b, strings.Join(pairs(r.json.At(path)), ","), none)
}

// pairs are the members of a map of strings, each as key=value, sorted. Equal maps so look equal, in
// whatever order they are stored.
func pairs(v jsontext.Value) (out []string) {
	v.Fields(func(key, w jsontext.Value) bool {
		out = append(out, key.Text()+"="+w.Text())
		return true
	})
	slices.Sort(out)
	return out
}

// showParts joins the strings at several paths with slashes, as in group/version/kind.
//
// An example of the argument: spec.group/spec.version/spec.kind.
func showParts(b []byte, r *row, arg string) []byte {
	var parts []string
	for path := range strings.SplitSeq(arg, "/") {
		parts = append(parts, r.json.At(path).Text())
	}
	return jsontext.AppendString(b, strings.Join(parts, "/"))
}

func showText(b []byte, r *row, path string) []byte {
	return jsontext.AppendString(b, jsonpath.Text(r.json.At(path)))
}

func showBool(b []byte, r *row, path string) []byte {
	if r.json.At(path).IsTrue() {
		return jsontext.AppendString(b, "True")
	}
	return jsontext.AppendString(b, "False")
}

// showPhase shows that an object is being deleted before anything else, since its phase mostly stays what
// it was.
func showPhase(b []byte, r *row, path string) []byte {
	if r.object.Meta.Terminating {
		return jsontext.AppendString(b, "Terminating")
	}
	return jsontext.AppendString(b, r.json.At(path).Text())
}

// annotation is the annotation with this name, which is given as in the platform profile.
func (r *row) annotation(name string) string {
	return r.metadata.Field("annotations").Field(r.naming.Translate(name)).Text()
}

// appendOr writes s, or empty if it is "".
func appendOr(b []byte, s, empty string) []byte {
	if s == "" {
		s = empty
	}
	return jsontext.AppendString(b, s)
}

// joinAtMost joins the first strings and counts the others: "a,b,c + 2 more...". all is their number,
// which may be larger than the length of the list.
//
// A table has a line per object, so what may be long is cut; its whole is in the object.
func joinAtMost(list []string, limit, all int, separator string) string {
	if len(list) <= limit && all <= limit {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:min(limit, len(list))], separator) + " + " + strconv.Itoa(all-limit) + " more..."
}
