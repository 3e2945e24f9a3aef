package podsecurity

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

func profileOf(security tree.Tree, field string) (string, bool) {
	profile := security.Object(field)
	return profile.String("type"), profile != nil
}

func profileAllowed(name string) bool { return name == "RuntimeDefault" || name == "Localhost" }

// forbiddenProfiles returns the forbidden profile types, and the places where they are set (see
// settersText).
func forbiddenProfiles(p *pod, field string) (setters string, types []string) {
	isForbidden := func(c container) bool {
		name, set := profileOf(c.security, field)
		if !set || profileAllowed(name) {
			return false
		}
		types = append(types, name)
		return true
	}
	setters = settersText(isForbidden(container{security: p.security}), p.containersThat(isForbidden))
	return setters, sortedSet(types)
}

// appArmorProfile allows the default and localhost profiles. It checks fields and annotations,
// because nodes read the annotation if the field is absent.
func appArmorProfile(p *pod) (reason, detail string) {
	setters, values := forbiddenProfiles(p, "appArmorProfile")
	var annotations []string
	for key, value := range p.annotations {
		if text, _ := value.(string); strings.HasPrefix(key, p.keys.appArmorPrefix) && !appArmorAnnotationAllowed(text) {
			annotations = append(annotations, fmt.Sprintf("%s=%q", key, text))
		}
	}
	if len(annotations) > 0 {
		values = append(values, sortedSet(annotations)...)
		if setters != "" {
			setters += " and "
		}
		setters += plural("annotation", "annotations", len(annotations))
	}
	if setters == "" {
		return "", ""
	}
	return plural("forbidden AppArmor profile", "forbidden AppArmor profiles", len(values)),
		setters + " must not set AppArmor profile type to " + quoted(values)
}

func appArmorAnnotationAllowed(value string) bool {
	return value == "" || value == "runtime/default" || strings.HasPrefix(value, "localhost/")
}

// seccompAnnotations checks the seccomp annotations of a Pod. It applies to policy versions that
// are older than the field seccompProfile.
func seccompAnnotations(p *pod) (reason, detail string) {
	keys := []string{p.keys.seccompPod}
	for _, c := range p.containers {
		keys = append(keys, p.keys.seccompPrefix+c.name)
	}
	var forbidden []string
	for _, key := range keys {
		if value, ok := p.annotations[key].(string); ok && !seccompAnnotationAllowed(value) {
			forbidden = append(forbidden, fmt.Sprintf("%s=%q", key, value))
		}
	}
	if len(forbidden) == 0 {
		return "", ""
	}
	forbidden = sortedSet(forbidden)
	return "seccompProfile", plural("forbidden annotation ", "forbidden annotations ", len(forbidden)) + strings.Join(forbidden, ", ")
}

func seccompAnnotationAllowed(value string) bool {
	return value == "runtime/default" || value == "docker/default" || strings.HasPrefix(value, "localhost/")
}

func seccompBaseline(p *pod) (reason, detail string) {
	setters, types := forbiddenProfiles(p, "seccompProfile")
	if setters == "" {
		return "", ""
	}
	return "seccompProfile", setters + " must not set securityContext.seccompProfile.type to " + quoted(types)
}

// seccompRestricted also requires a profile for the Pod or every container. Without one, many nodes
// expose all system calls.
func seccompRestricted(p *pod) (reason, detail string) {
	if reason, detail = seccompBaseline(p); reason != "" {
		return reason, detail
	}
	if _, set := profileOf(p.security, "seccompProfile"); set {
		return "", ""
	}
	silent := p.containersThat(func(c container) bool {
		_, set := profileOf(c.security, "seccompProfile")
		return !set
	})
	if len(silent) == 0 {
		return "", ""
	}
	return "seccompProfile", "pod or " + containersText(silent) +
		` must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
}
