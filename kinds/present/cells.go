package present

import (
	"slices"
	"strconv"
	"strings"
)

// The functions that fit any kind.

func showNothing(b []byte, _ *row, _ string) []byte { return append(b, "null"...) }

func showAge(b []byte, r *row, _ string) []byte {
	return appendAge(b, value(Metadata(r.object)).field("creationTimestamp").text(), r.now)
}

func showCreated(b []byte, r *row, _ string) []byte {
	v := value(Metadata(r.object)).field("creationTimestamp")
	if !v.exists() {
		return append(b, "null"...)
	}
	return append(b, v...)
}

func showSince(b []byte, r *row, path string) []byte {
	return appendAge(b, r.json.at(path).text(), r.now)
}

func showCount(b []byte, r *row, path string) []byte {
	return strconv.AppendInt(b, int64(r.json.at(path).count()), 10)
}

func showDataCount(b []byte, r *row, _ string) []byte {
	return strconv.AppendInt(b, int64(r.json.field("data").count()+r.json.field("binaryData").count()), 10)
}

func showJoin(b []byte, r *row, arg string) []byte {
	path, field, named := strings.Cut(arg, "/")
	if !named {
		field = "name"
	}
	return appendOr(b, strings.Join(r.json.at(path).texts(field), ","), none)
}

// texts are the texts of a list, or of one field of its objects.
func (v value) texts(field string) (out []string) {
	v.items(func(w value) bool {
		if w[0] == '{' {
			w = w.field(field)
		}
		out = append(out, w.text())
		return true
	})
	return out
}

func showFirst(b []byte, r *row, path string) []byte {
	for _, s := range r.json.at(path).texts("name") {
		return appendOr(b, s, none)
	}
	return appendText(b, none)
}

func showPairs(b []byte, r *row, path string) []byte {
	return appendOr(b, strings.Join(r.json.at(path).pairs(), ","), none)
}

// pairs are the fields of a map of texts, each as key=value, sorted.
func (v value) pairs() (out []string) {
	v.fields(func(key, w value) bool {
		out = append(out, key.text()+"="+w.text())
		return true
	})
	slices.Sort(out)
	return out
}

func showParts(b []byte, r *row, arg string) []byte {
	var parts []string
	for path := range strings.SplitSeq(arg, "/") {
		parts = append(parts, r.json.at(path).text())
	}
	return appendText(b, strings.Join(parts, "/"))
}

func showText(b []byte, r *row, path string) []byte { return appendText(b, r.json.at(path).plain()) }

// plain is a text without its quotes, or a number as it is written.
func (v value) plain() string {
	if len(v) > 0 && v[0] == '"' {
		return v.text()
	}
	return string(v)
}

func showBool(b []byte, r *row, path string) []byte {
	if r.json.at(path).isTrue() {
		return appendText(b, "True")
	}
	return appendText(b, "False")
}

func showPhase(b []byte, r *row, path string) []byte {
	if r.object.Meta.Terminating {
		return appendText(b, "Terminating")
	}
	return appendText(b, r.json.at(path).text())
}

// annotation is the annotation whose name is given in the platform's form.
func (r *row) annotation(name string) string {
	return value(Metadata(r.object)).field("annotations").field(r.naming.Translate(name)).text()
}

// appendOr writes s, or what stands for it when it is empty.
func appendOr(b []byte, s, empty string) []byte {
	if s == "" {
		s = empty
	}
	return appendText(b, s)
}

// joinAtMost joins the first texts and counts the others: "a,b,c + 2 more...". all tells how many
// there are, should the list be shorter than that.
func joinAtMost(list []string, limit, all int, separator string) string {
	if len(list) <= limit && all <= limit {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:min(limit, len(list))], separator) + " + " + strconv.Itoa(all-limit) + " more..."
}
