package podsecurity

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// domain holds the labels of namespaces and the audit annotations.
const domain = "pod-security.platform.io/"

// labelKeys are the labels of a namespace that say which Policy counts there.
type labelKeys struct{ enforce, audit, warn modeKeys }

// modeKeys are the labels of one mode.
type modeKeys struct{ level, version string }

func newLabelKeys(naming *meta.Naming) labelKeys {
	mode := func(name string) modeKeys {
		return modeKeys{naming.Translate(domain + name), naming.Translate(domain + name + "-version")}
	}
	return labelKeys{mode("enforce"), mode("audit"), mode("warn")}
}

// labelSource finds the value of a label, and whether it is there, as meta.Labels.Get does.
type labelSource func(key string) (string, bool)

// labelsOf reads the labels of a decoded object.
func labelsOf(object tree.Tree) labelSource {
	labels := object.Object("metadata", "labels")
	return func(key string) (string, bool) {
		value, ok := labels[key].(string)
		return value, ok
	}
}

// policy is the Policy that labels ask for, above a default. There always is one: what cannot be read
// counts as restricted where it is enforced and as privileged elsewhere, and each fault is reported.
// Failing closed where it is enforced keeps a typing error from opening a namespace; restricted warnings on
// every Pod would be of no use.
func (k *labelKeys) policy(labels labelSource, defaults Policy) (Policy, []meta.Cause) {
	var faults schema.Faults
	p := defaults
	enforces := p.Enforce.read(k.enforce, labels, Restricted, &faults)
	p.Audit.read(k.audit, labels, Privileged, &faults)
	p.Warn.read(k.warn, labels, Privileged, &faults)

	// Whoever asks for enforcement is warned of what is refused, also where templates are written.
	if _, warns := labels(k.warn.level); !warns && enforces && p.Enforce.Level > p.Warn.Level {
		p.Warn.Level = p.Enforce.Level
		if _, versioned := labels(k.warn.version); !versioned {
			p.Warn.Version = p.Enforce.Version
		}
	}
	return p, faults.List
}

// read takes over what the labels of one mode say; ok tells whether there is a valid level.
func (lv *LevelVersion) read(k modeKeys, labels labelSource, fallback Level, faults *schema.Faults) (ok bool) {
	if text, found := labels(k.level); found {
		level, err := ParseLevel(text)
		if err != nil {
			level = fallback
			faults.Invalid(labelPath(k.level), text, err.Error())
		}
		lv.Level, ok = level, err == nil
	}
	if text, found := labels(k.version); found {
		version, err := ParseVersion(text)
		if err != nil {
			faults.Invalid(labelPath(k.version), text, err.Error())
		}
		lv.Version = version
	}
	return ok
}

func labelPath(key string) string { return tree.KeyPath("metadata.labels", key) }
