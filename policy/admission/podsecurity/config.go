package podsecurity

import "github.com/troupe-api/troupe/kinds/tree"

// Configuration is the PodSecurityConfiguration from the admission configuration file. The zero
// value restricts only namespaces with labels.
type Configuration struct {
	Defaults   Policy // for namespaces without labels
	Exemptions Exemptions
}

// Exemptions excludes requests from all policies. Usernames apply to the client that writes the
// Pod. Exempting a controller would exempt the Pods of all its workloads.
type Exemptions struct{ Usernames, Namespaces, RuntimeClasses []string }

func (e Exemptions) any() bool { return len(e.Usernames)+len(e.Namespaces)+len(e.RuntimeClasses) > 0 }

// NewConfiguration returns the Configuration of a valid configuration of message PodSecurity, or
// the zero value for nil.
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
