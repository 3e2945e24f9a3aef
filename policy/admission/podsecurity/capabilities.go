package podsecurity

import (
	"slices"
	"strings"
)

// baselineCapabilities may be added at the baseline level, because container runtimes grant them by
// default.
var baselineCapabilities = []string{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
	"NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}

var restrictedCapabilities = []string{"NET_BIND_SERVICE"}

func capabilitiesBaseline(p *pod) (reason, detail string) {
	detail = addedCapabilities(p, baselineCapabilities)
	if detail == "" {
		return "", ""
	}
	return "non-default capabilities", detail
}

// capabilitiesRestricted requires dropping ALL and allows only adding NET_BIND_SERVICE. Dropping
// every capability by name is not enough, because later kernels may add capabilities. A later
// revision exempts Windows, which has no capabilities.
func capabilitiesRestricted(p *pod) (reason, detail string) {
	var details []string
	keeping := p.containersThat(func(c container) bool {
		return !slices.Contains(c.security.Object("capabilities").List("drop"), any("ALL"))
	})
	if len(keeping) > 0 {
		details = append(details, containersText(keeping)+` must set securityContext.capabilities.drop=["ALL"]`)
	}
	if added := addedCapabilities(p, restrictedCapabilities); added != "" {
		details = append(details, added)
	}
	if len(details) == 0 {
		return "", ""
	}
	return "unrestricted capabilities", strings.Join(details, "; ")
}

func addedCapabilities(p *pod, allowed []string) string {
	var forbidden []string
	bad := p.containersThat(func(c container) bool {
		before := len(forbidden)
		for _, item := range c.security.Object("capabilities").List("add") {
			if name, _ := item.(string); !slices.Contains(allowed, name) {
				forbidden = append(forbidden, name)
			}
		}
		return len(forbidden) > before
	})
	if len(bad) == 0 {
		return ""
	}
	return containersText(bad) + " must not include " + quoted(sortedSet(forbidden)) + " in securityContext.capabilities.add"
}
