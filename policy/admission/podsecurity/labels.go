package podsecurity

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const domain = "pod-security.platform.io/"

type labelKeys struct{ enforce, audit, warn modeKeys }

type modeKeys struct{ level, version string }

func newLabelKeys(naming *meta.Naming) labelKeys {
	mode := func(name string) modeKeys {
		return modeKeys{naming.Translate(domain + name), naming.Translate(domain + name + "-version")}
	}
	return labelKeys{mode("enforce"), mode("audit"), mode("warn")}
}

type labelSource func(key string) (string, bool)

func labelsOf(object tree.Tree) labelSource {
	labels := object.Labels()
	return func(key string) (string, bool) {
		value, ok := labels[key].(string)
		return value, ok
	}
}

// policy returns the defaults overridden by labels, and all faults. An invalid enforce level counts
// as restricted, so that a typo does not disable enforcement. An invalid audit or warn level counts
// as privileged.
func (k *labelKeys) policy(labels labelSource, defaults Policy) (Policy, []meta.Cause) {
	var faults schema.Faults
	p := defaults
	enforces := p.Enforce.read(k.enforce, labels, Restricted, &faults)
	p.Audit.read(k.audit, labels, Privileged, &faults)
	p.Warn.read(k.warn, labels, Privileged, &faults)

	// The enforce level also sets the default warn level, which applies to Pod templates too.
	if _, warns := labels(k.warn.level); !warns && enforces && p.Enforce.Level > p.Warn.Level {
		p.Warn.Level = p.Enforce.Level
		if _, versioned := labels(k.warn.version); !versioned {
			p.Warn.Version = p.Enforce.Version
		}
	}
	return p, faults.List
}

// read sets level and version from one mode's labels. ok is true if there is a valid level label.
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
