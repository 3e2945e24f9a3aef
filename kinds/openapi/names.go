package openapi

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// names translates the names in documents to the naming profile, because clients and generators
// depend on them. In the kubernetes profile, the definition of a Pod is io.k8s.api.core.v1.Pod and
// the extension for list types is x-kubernetes-list-type.
type names struct {
	naming *meta.Naming
	suffix string // suffix of vendor groups, with its dot
	prefix string // definition prefix: the reversed domain of vendor groups
}

func newNames(n *meta.Naming) names {
	domain := strings.TrimPrefix(n.Group("meta"), "meta.")
	return names{naming: n, suffix: "." + domain, prefix: reverseDomain(domain)}
}

func reverseDomain(domain string) string {
	labels := strings.Split(domain, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

func (n names) extension(name string) string { return n.naming.Translate("x-platform-" + name) }

func (n names) apimachinery(rest string) string { return n.prefix + ".apimachinery.pkg." + rest }

func (n names) message(m *schema.Message) string {
	family, _, _ := strings.Cut(m.Name, ".")
	switch family {
	case "meta":
		return n.apimachinery("apis." + m.Name)
	case "apiextensions":
		return n.prefix + ".apiextensions-apiserver.pkg.apis." + m.Name
	case "apiregistration":
		return n.prefix + "." + n.naming.Translate("platform-aggregator") + ".pkg.apis." + m.Name
	}
	return n.prefix + ".api." + m.Name
}

// kind derives the name of a custom kind's definition from its group, because custom messages have
// no name.
func (n names) kind(k *schema.Kind) string {
	if k.IsCustom() {
		return reverseDomain(k.Group) + "." + k.Version + "." + k.Kind
	}
	return n.message(k.Message())
}

func (n names) list(k *schema.Kind) string {
	return strings.TrimSuffix(n.kind(k), "."+k.Kind) + "." + k.ListKind()
}

// group returns a group as one word, such as "core" or "rbacAuthorization".
func (n names) group(group string) string {
	if group == "" {
		return "core"
	}
	words := strings.FieldsFunc(strings.TrimSuffix(group, n.suffix), func(r rune) bool { return r == '.' || r == '-' })
	for i := 1; i < len(words); i++ {
		words[i] = capitalize(words[i])
	}
	return strings.Join(words, "")
}

func (n names) tag(group, version string) string { return n.group(group) + "_" + version }

func (n names) operations(group, version string) string {
	return capitalize(n.group(group)) + capitalize(version)
}

// applyNaming translates the vendor names in a description from the platform profile. A dot or dash
// distinguishes them from the ordinary word.
func (n names) applyNaming(text string) string {
	if !strings.Contains(text, "platform.") && !strings.Contains(text, "platform-") {
		return text
	}
	words := strings.Split(text, " ")
	for i, w := range words {
		bare := strings.Trim(w, "`'\"(),;:.")
		if strings.Contains(bare, "platform.") || strings.HasPrefix(bare, "platform-") {
			words[i] = strings.Replace(w, bare, n.naming.Translate(bare), 1)
		}
	}
	return strings.Join(words, " ")
}

func capitalize(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func groupVersion(group, version string) string {
	if group == "" {
		return "api/" + version
	}
	return "apis/" + group + "/" + version
}
