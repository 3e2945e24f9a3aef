package podsecurity

import "github.com/troupe-api/troupe/kinds/tree"

// Configuration is the PodSecurityConfiguration from the admission configuration file. The zero
// value restricts only namespaces with labels.
type Configuration struct {
	Defaults   Policy // for namespaces without labels
	Exemptions Exemptions
}

// Exemptions excludes requests from all policies. Usernames match the client that writes the Pod,
// so exempting a controller exempts the Pods of all its workloads.
type Exemptions struct{ Usernames, Namespaces, RuntimeClasses []string }

func (e Exemptions) any() bool { return len(e.Usernames)+len(e.Namespaces)+len(e.RuntimeClasses) > 0 }

// NewConfiguration converts a valid PodSecurity message to a Configuration. It returns the zero
// value for nil.
func NewConfiguration(t tree.Tree) Configuration {
	if t == nil {
		return Configuration{}
	}
	d, e := t.Object("defaults"), t.Object("exemptions")
	mode := func(name string) (lv LevelVersion) {
		lv.Level, _ = ParseLevel(d.String(name))
		lv.Version, _ = ParseVersion(d.String(name + "-version"))
		return lv
	}
	return Configuration{
		Policy{mode("enforce"), mode("audit"), mode("warn")},
		Exemptions{e.Strings("usernames"), e.Strings("namespaces"), e.Strings("runtimeClasses")},
	}
}
