package podsecurity

// allowPrivilegeEscalation requires every container to set the field to false, because the default
// is true.
func allowPrivilegeEscalation(p *pod) (reason, detail string) {
	bad := p.containersThat(func(c container) bool {
		allowed, set := c.security["allowPrivilegeEscalation"].(bool)
		return allowed || !set
	})
	if len(bad) == 0 {
		return "", ""
	}
	return "allowPrivilegeEscalation != false", containersText(bad) + " must set securityContext.allowPrivilegeEscalation=false"
}

func privileged(p *pod) (reason, detail string) {
	bad := p.containersThat(func(c container) bool { return c.security.Bool("privileged") })
	if len(bad) == 0 {
		return "", ""
	}
	return "privileged", containersText(bad) + " must not set securityContext.privileged=true"
}

// windowsHostProcess forbids HostProcess containers, because they run as processes of the Windows
// host.
func windowsHostProcess(p *pod) (reason, detail string) {
	isHostProcess := func(c container) bool { return c.security.Object("windowsOptions").Bool("hostProcess") }
	setters := settersText(isHostProcess(container{security: p.security}), p.containersThat(isHostProcess))
	if setters == "" {
		return "", ""
	}
	return "hostProcess", setters + " must not set securityContext.windowsOptions.hostProcess=true"
}

// runAsNonRoot requires the field to be true for the Pod or every container. No container may
// override it with false.
func runAsNonRoot(p *pod) (reason, detail string) {
	const why = "runAsNonRoot != true"
	podDemands, podSays := p.security["runAsNonRoot"].(bool)
	var waiving, silent []string
	for _, c := range p.containers {
		demands, says := c.security["runAsNonRoot"].(bool)
		switch {
		case says && !demands:
			waiving = append(waiving, c.name)
		case !says && !podDemands:
			silent = append(silent, c.name)
		}
	}
	if setters := settersText(podSays && !podDemands, waiving); setters != "" {
		return why, setters + " must not set securityContext.runAsNonRoot=false"
	}
	if len(silent) > 0 {
		return why, "pod or " + containersText(silent) + " must set securityContext.runAsNonRoot=true"
	}
	return "", ""
}

// runAsUser forbids user 0. It catches Pods that set both runAsNonRoot and user 0, which would fail
// on the node.
func runAsUser(p *pod) (reason, detail string) {
	isRoot := func(c container) bool {
		uid, set := c.security.Int("runAsUser")
		return set && uid == 0
	}
	setters := settersText(isRoot(container{security: p.security}), p.containersThat(isRoot))
	if setters == "" {
		return "", ""
	}
	return "runAsUser=0", setters + " must not set runAsUser=0"
}
