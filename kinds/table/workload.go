package table

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

func showReady(r *row, _ string) string {
	return strconv.FormatInt(r.json.At("status.readyReplicas").Int(), 10) + "/" + strconv.FormatInt(r.json.At("spec.replicas").Int(), 10)
}

func templateContainers(r *row, template string) jsontext.Value {
	if template == "" {
		template = "spec.template"
	}
	return r.json.At(template).At("spec.containers")
}

func showContainers(r *row, template string) string {
	return strings.Join(texts(templateContainers(r, template), "name"), ",")
}

func showImages(r *row, template string) string {
	return strings.Join(texts(templateContainers(r, template), "image"), ",")
}

func showSelector(r *row, path string) string {
	if path == "" {
		path = "spec.selector"
	}
	return cmp.Or(selectorText(r.json.At(path)), none)
}

// selectorText formats a selector. It sorts requirements by key, so that equal selectors look
// equal.
func selectorText(s jsontext.Value) string {
	labels, expressions := s.Field("matchLabels"), s.Field("matchExpressions")
	if !labels.Exists() && !expressions.Exists() {
		return strings.Join(pairs(s), ",")
	}
	parts := pairs(labels)
	for e := range expressions.Items {
		parts = append(parts, expression(e))
	}
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
func showController(r *row, _ string) string {
	text := none
	for o := range r.metadata.Field("ownerReferences").Items {
		if !o.Field("controller").IsTrue() {
			continue
		}
		kind := o.Field("kind").Text()
		if group, _, grouped := strings.Cut(o.Field("apiVersion").Text(), "/"); grouped {
			kind += "." + group
		}
		text = strings.ToLower(kind) + "/" + o.Field("name").Text()
		break
	}
	return text
}
