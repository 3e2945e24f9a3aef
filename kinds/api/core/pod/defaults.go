package pod

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// defaultPodSpec sets the defaults of Pods and templates that depend on other fields. Defaults are
// stored, so a later server version with other defaults does not change existing Pods.
func defaultPodSpec(spec tree.Tree) {
	defaultServiceAccount(spec)
	for _, v := range spec.Objects("volumes") {
		if v != nil {
			defaultVolume(v)
		}
	}
	for _, list := range containerLists {
		for _, c := range spec.Objects(list) {
			if c != nil {
				defaultContainer(c)
			}
		}
	}
}

type podTemplateStrategy struct{ schema.DefaultStrategy }

func (podTemplateStrategy) Default(obj tree.Tree) { DefaultTemplate(obj.EnsureObject("template")) }

// DefaultTemplate sets the defaults of a Pod template. Other defaults, such as tolerations, are set
// only in new Pods.
func DefaultTemplate(template tree.Tree) { defaultPodSpec(template.EnsureObject("spec")) }

// defaultServiceAccount keeps serviceAccountName and the deprecated field serviceAccount, which
// older clients read, equal.
func defaultServiceAccount(spec tree.Tree) {
	name := cmp.Or(spec.String("serviceAccountName"), spec.String("serviceAccount"))
	if name != "" && (spec.String("serviceAccountName") != name || spec.String("serviceAccount") != name) {
		spec["serviceAccountName"], spec["serviceAccount"] = name, name
	}
}

func defaultContainer(c tree.Tree) {
	field.SetIfEmpty(c, "imagePullPolicy", pullPolicy(c.String("image")))
}

// pullPolicy returns Always for images without a tag or with the tag latest, because these may
// change. It returns IfNotPresent for other tags and for digests.
func pullPolicy(image string) string {
	if strings.Contains(image, "@") || !imageRE().MatchString(image) {
		return "IfNotPresent"
	}
	last := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, tagged := strings.Cut(last, ":")
	repository := strings.TrimSuffix(image, ":"+tag)
	if tagged && tag != "latest" || len(repository) > maxRepository {
		return "IfNotPresent"
	}
	return "Always"
}

// imageRE matches an image name with an optional tag. A name that does not match, for example
// because of capital letters, counts as a name without a tag. The expression is compiled on first
// use, which takes 2 ms.
var imageRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?` +
		`[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?$`)
})

// defaultProtocols applies only to Pods, because an additional field would change every
// template.
func defaultProtocols(spec tree.Tree) {
	for _, list := range containerLists {
		for _, c := range spec.Objects(list) {
			for _, handler := range []tree.Tree{c.Object("livenessProbe"), c.Object("readinessProbe"), c.Object("startupProbe"), c.Object("lifecycle", "postStart"), c.Object("lifecycle", "preStop")} {
				if get := handler.Object("httpGet"); get != nil {
					field.SetIfAbsent(get, "protocol", "HTTP1")
				}
			}
		}
	}
}

func defaultVolume(v tree.Tree) {
	if len(v) == 0 || len(v) == 1 && v["name"] != nil {
		v["emptyDir"] = tree.Tree{}
	}
	if image := v.Object("image"); image != nil {
		field.SetIfEmpty(image, "pullPolicy", pullPolicy(image.String("reference")))
	}
}

// maxRepository limits an image name without its tag, in bytes.
const maxRepository = 255
