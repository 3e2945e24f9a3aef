package present

import (
	"slices"
	"strconv"
	"strings"
)

func showReady(b []byte, r *row, _ string) []byte {
	b = append(b, '"')
	b = strconv.AppendInt(b, r.json.at("status.readyReplicas").number(), 10)
	b = append(b, '/')
	b = strconv.AppendInt(b, r.json.at("spec.replicas").number(), 10)
	return append(b, '"')
}

// templateContainers are those of a Pod template, by default spec.template.
func templateContainers(r *row, template string) value {
	if template == "" {
		template = "spec.template"
	}
	return r.json.at(template).at("spec.containers")
}

func showContainers(b []byte, r *row, template string) []byte {
	return appendText(b, strings.Join(templateContainers(r, template).texts("name"), ","))
}

func showImages(b []byte, r *row, template string) []byte {
	return appendText(b, strings.Join(templateContainers(r, template).texts("image"), ","))
}

// showSelector writes a map of labels or a structured selector, by default spec.selector,
// in the form of the labelSelector parameter.
func showSelector(b []byte, r *row, path string) []byte {
	if path == "" {
		path = "spec.selector"
	}
	return appendOr(b, selectorText(r.json.at(path)), none)
}

func selectorText(s value) string {
	labels, expressions := s.field("matchLabels"), s.field("matchExpressions")
	if !labels.exists() && !expressions.exists() {
		return strings.Join(s.pairs(), ",")
	}
	parts := labels.pairs()
	expressions.items(func(e value) bool {
		parts = append(parts, expression(e))
		return true
	})
	slices.SortFunc(parts, func(a, b string) int {
		return strings.Compare(strings.TrimPrefix(a, "!"), strings.TrimPrefix(b, "!"))
	})
	return strings.Join(parts, ",")
}

func expression(e value) string {
	key, values := e.field("key").text(), e.field("values").texts("name")
	slices.Sort(values)
	set := " (" + strings.Join(values, ",") + ")"
	switch e.field("operator").text() {
	case "In":
		return key + " in" + set
	case "NotIn":
		return key + " notin" + set
	case "DoesNotExist":
		return "!" + key
	}
	return key
}

// showController names the owner that controls the object: "deployment.apps/web".
func showController(b []byte, r *row, _ string) []byte {
	text := none
	value(Metadata(r.object)).field("ownerReferences").items(func(o value) bool {
		if !o.field("controller").isTrue() {
			return true
		}
		kind := o.field("kind").text()
		if group, _, grouped := strings.Cut(o.field("apiVersion").text(), "/"); grouped {
			kind += "." + group
		}
		text = strings.ToLower(kind) + "/" + o.field("name").text()
		return false
	})
	return appendText(b, text)
}
