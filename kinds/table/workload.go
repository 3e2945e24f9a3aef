package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

func showReady(b []byte, r *row, _ string) []byte {
	b = append(b, '"')
	b = strconv.AppendInt(b, r.json.At("status.readyReplicas").Int(), 10)
	b = append(b, '/')
	b = strconv.AppendInt(b, r.json.At("spec.replicas").Int(), 10)
	return append(b, '"')
}

func templateContainers(r *row, template string) jsontext.Value {
	if template == "" {
		template = "spec.template"
	}
	return r.json.At(template).At("spec.containers")
}

func showContainers(b []byte, r *row, template string) []byte {
	return jsontext.AppendString(b, strings.Join(texts(templateContainers(r, template), "name"), ","))
}

func showImages(b []byte, r *row, template string) []byte {
	return jsontext.AppendString(b, strings.Join(texts(templateContainers(r, template), "image"), ","))
}

// showSelector shows a label selector in query syntax, such as "app=web,!old,tier in (a,b)".
func showSelector(b []byte, r *row, path string) []byte {
	if path == "" {
		path = "spec.selector"
	}
	return appendOr(b, selectorText(r.json.At(path)), none)
}

// selectorText sorts requirements by key, so that equal selectors look equal.
func selectorText(s jsontext.Value) string {
	labels, expressions := s.Field("matchLabels"), s.Field("matchExpressions")
	if !labels.Exists() && !expressions.Exists() {
		return strings.Join(pairs(s), ",")
	}
	parts := pairs(labels)
	expressions.Items(func(e jsontext.Value) bool {
		parts = append(parts, expression(e))
		return true
	})
	slices.SortFunc(parts, func(a, b string) int {
		return strings.Compare(strings.TrimPrefix(a, "!"), strings.TrimPrefix(b, "!"))
	})
	return strings.Join(parts, ",")
}

func expression(e jsontext.Value) string {
	key, values := e.Field("key").Text(), texts(e.Field("values"), "name")
	slices.Sort(values)
	set := " (" + strings.Join(values, ",") + ")"
	switch e.Field("operator").Text() {
	case "In":
		return key + " in" + set
	case "NotIn":
		return key + " notin" + set
	case "DoesNotExist":
		return "!" + key
	}
	return key
}

// showController shows the controlling owner, such as "deployment.apps/web".
func showController(b []byte, r *row, _ string) []byte {
	text := none
	r.metadata.Field("ownerReferences").Items(func(o jsontext.Value) bool {
		if !o.Field("controller").IsTrue() {
			return true
		}
		kind := o.Field("kind").Text()
		if group, _, grouped := strings.Cut(o.Field("apiVersion").Text(), "/"); grouped {
			kind += "." + group
		}
		text = strings.ToLower(kind) + "/" + o.Field("name").Text()
		return false
	})
	return jsontext.AppendString(b, text)
}
