package podsecurity

import (
	"slices"
	"strings"
)

func procMount(p *pod) (reason, detail string) {
	var types []string
	bad := p.containersThat(func(c container) bool {
		name, set := c.security["procMount"].(string)
		if !set || name == "Default" {
			return false
		}
		types = append(types, name)
		return true
	})
	if len(bad) == 0 {
		return "", ""
	}
	return "procMount", containersText(bad) + " must not set securityContext.procMount to " + quoted(sortedSet(types))
}

// seLinuxTypes lists the SELinux types allowed before v1.31, and seLinuxTypes31 those allowed since
// v1.31.
var (
	seLinuxTypes   = []string{"", "container_t", "container_init_t", "container_kvm_t"}
	seLinuxTypes31 = append(slices.Clone(seLinuxTypes), "container_engine_t")
)

// seLinuxOptions returns a check that allows only the given SELinux types. It forbids setting a
// user or role, because only the type isolates containers.
func seLinuxOptions(allowed []string) check {
	return func(p *pod) (reason, detail string) {
		var types, faults []string
		var user, role bool
		isForbidden := func(c container) bool {
			options := c.security.Object("seLinuxOptions")
			badType := !slices.Contains(allowed, options.String("type"))
			if badType {
				types = append(types, options.String("type"))
			}
			badUser, badRole := options.String("user") != "", options.String("role") != ""
			user, role = user || badUser, role || badRole
			return badType || badUser || badRole
		}
		setters := settersText(isForbidden(container{security: p.security}), p.containersThat(isForbidden))
		if setters == "" {
			return "", ""
		}
		if types = sortedSet(types); len(types) > 0 {
			faults = append(faults, plural("type ", "types ", len(types))+quoted(types))
		}
		if user {
			faults = append(faults, "user may not be set")
		}
		if role {
			faults = append(faults, "role may not be set")
		}
		return "seLinuxOptions", setters + " set forbidden securityContext.seLinuxOptions: " + strings.Join(faults, "; ")
	}
}

// sysctls0 lists the kernel parameters that are allowed in all versions, because they affect only
// the Pod. The number in the names of the other lists is a minor version. For example, sysctls27
// applies from v1.27 on.
var (
	sysctls0 = []string{
		"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
		"net.ipv4.ip_unprivileged_port_start",
	}
	sysctls27 = append(slices.Clone(sysctls0), "net.ipv4.ip_local_reserved_ports")
	sysctls29 = append(slices.Clone(sysctls27),
		"net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes")
	sysctls32 = append(slices.Clone(sysctls29), "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")
	sysctls37 = append(slices.Clone(sysctls32), "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat")
)

func sysctls(allowed []string) check {
	return func(p *pod) (reason, detail string) {
		var forbidden []string
		for _, s := range p.security.Objects("sysctls") {
			if name := s.String("name"); !slices.Contains(allowed, name) {
				forbidden = append(forbidden, name)
			}
		}
		if len(forbidden) == 0 {
			return "", ""
		}
		return "forbidden sysctls", strings.Join(forbidden, ", ")
	}
}
